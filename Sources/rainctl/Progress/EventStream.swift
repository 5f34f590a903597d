// SPDX-License-Identifier: Apache-2.0
import RainKit
import Synchronization

/// The events of `--events ndjson`, from a command's start to its end: every line is an object with the same eight members, and the last
/// one says how the command ended. Silent where no events were asked for.
final class EventStream: Sendable {
    private struct State {
        var device: String
        /// Of the last event.
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

    /// Does the command's work. Its result or error becomes the last line, and is printed as for other commands where standard output is
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

    /// The `device` of the lines from now on.
    func name(_ device: String) { state.withLock { $0.device = device } }

    func take(_ event: OnboardingEvent) {
        guard isOn else { return }
        let words = EventWords(event.state)
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
