// SPDX-License-Identifier: Apache-2.0
import RainKit
import Synchronization

/// The events of `--events ndjson`, from a command's start to its end. Every line is an object with the same eight members, and the last
/// line has the command's outcome. Silent if no events were requested.
final class EventStream: Sendable {
    private struct State {
        var device: String
        /// The step of the last event.
        var step: OnboardingStep?
        var attempt = 1
        var node: NodeID?
    }

    private let run: String
    let isOn: Bool
    private let output: Output
    private let began = ContinuousClock.now
    private let state: Mutex<State>

    init(_ context: Context, _ events: Provision.Events?, _ device: DeviceOptions) {
        run = context.runID
        isOn = events != nil
        output = context.output
        state = Mutex(State(device: device.deviceName ?? device.port ?? device.deviceHost ?? ""))
        if isOn { Output.warnings.listen { [weak self] in self?.take($0) } }
    }

    /// Does the command's work. Its result or error becomes the last line. It is also printed as for other commands if standard output is
    /// not used for events.
    func ending(_ work: () async throws -> some CommandResult) async throws {
        do {
            let result = try await work()
            if isOn { finish("done", .ok, result) }
            if !isOn || output.isJSON { output.result(result) }
        } catch {
            let failure = CommandFailure(error)
            if isOn { finish("ended", failure.status, ErrorResult(failure).error) }
            throw failure
        }
    }

    /// Sets the `device` of the following lines.
    func name(_ device: String) { state.withLock { $0.device = device } }

    func take(_ event: OnboardingEvent) {
        guard isOn else { return }
        let words = EventText(event.state)
        state.withLock { state in
            (state.step, state.attempt) = (event.step, event.attempt)
            if let node = event.nodeID { state.node = node }
            write(words.state, words.code, after: event.elapsed, state, EventDetail(detail: words.detail))
        }
    }

    private func take(_ warning: Warning) {
        state.withLock { write("warning", .ok, after: began.duration(to: .now), $0, WarningDetail(warning)) }
    }

    private func finish(_ word: String, _ code: ExitStatus, _ ending: some Encodable) {
        state.withLock { write(word, code, after: began.duration(to: .now), $0, ending) }
    }

    private func write(
        _ word: String, _ code: ExitStatus, after elapsed: Duration, _ state: State, _ more: some Encodable
    ) {
        output.event(
            EventLine(
                time: Timestamp.text(Timestamp.now()), run: run, device: state.device, step: state.step?.rawValue,
                state: word, code: code.name, attempt: state.attempt,
                elapsedMilliseconds: Int64(elapsed / .milliseconds(1)), nodeID: state.node?.rawValue, more: more))
    }
}

/// One line of `--events ndjson`: the same eight members on every line, the node id once it is known, then further members.
struct EventLine<More: Encodable>: Encodable {
    let time: String
    let run: String
    let device: String
    /// Nil (`null`) before the first step.
    let step: String?
    let state: String
    let code: String
    let attempt: Int
    let elapsedMilliseconds: Int64
    let nodeID: String?
    let more: More

    private enum CodingKeys: String, CodingKey {
        case time = "ts"
        case run, device, step, state, code, attempt
        case elapsedMilliseconds = "elapsed_ms"
        case nodeID = "node_id"
    }

    func encode(to encoder: any Encoder) throws {
        try encodeOwn(to: encoder)
        try more.encode(to: encoder)
        // Results have some of these members too, and the line's own values take precedence. Encoding a member again replaces it in its
        // place.
        try encodeOwn(to: encoder)
    }

    private func encodeOwn(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(time, forKey: .time)
        try container.encode(run, forKey: .run)
        try container.encode(device, forKey: .device)
        try container.encode(step, forKey: .step)
        try container.encode(state, forKey: .state)
        try container.encode(code, forKey: .code)
        try container.encode(attempt, forKey: .attempt)
        try container.encode(elapsedMilliseconds, forKey: .elapsedMilliseconds)
        try container.encodeIfPresent(nodeID, forKey: .nodeID)
    }
}

/// The further members of a warning's event.
struct WarningDetail: Encodable {
    let reason: String
    let detail: String

    init(_ warning: Warning) { (reason, detail) = (warning.reason, warning.message) }
}

/// The further member of a step's event.
struct EventDetail: Encodable {
    let detail: String?
}

/// An onboarding event as `--events ndjson` names it.
struct EventText {
    let state: String
    let code: ExitStatus
    let detail: String?

    init(_ state: OnboardingEvent.State) {
        (self.state, code, detail) =
            switch state {
            case .started: ("started", .ok, nil)
            case .finished: ("finished", .ok, nil)
            case .deferred(let why): ("deferred", .temporary, why)
            case .progress(let progress): ("progress", .ok, Self.word(progress))
            case .failed(let error): Self.failed(CommandFailure(error))
            }
    }

    private static func failed(_ failure: CommandFailure) -> (String, ExitStatus, String?) {
        ("failed", failure.status, failure.message)
    }

    private static func word(_ progress: OnboardingProgress) -> String {
        switch progress {
        case .identified: "identified"
        case .heard: "heard"
        case .claimInitiated: "claim_initiated"
        case .certificateRequested: "certificate_requested"
        case .claimed: "claimed"
        case .customData: "custom_data_answered"
        case .wifi(.connecting): "connecting"
        case .wifi(.occupied): "occupied"
        case .wifi(.attemptFailed): "attempt_failed"
        case .wifi(.unreachable): "unreachable"
        case .connected: "connected"
        case .resumed: "resumed"
        case .abandoned: "abandoned"
        case .associationLeftOpen: "association_left_open"
        case .waitingForBoard: "waiting_for_board"
        case .waitingForCloud: "waiting_for_cloud"
        case .waitingForNode: "waiting_for_node"
        }
    }
}
