import RainJSON
import RainKit
import Synchronization

/// What `--events ndjson` streams, from a command's start to its end: every line is an object with the same eight members, and the last
/// one says how it ended. Silent where no events were asked for.
final class EventStream: Sendable {
    private struct State {
        var device: String
        /// The last event that was told.
        var step: OnboardingStep?
        var attempt = 1
        var node: NodeID?
    }

    private let run: String
    let isOn: Bool
    /// Standard output has one owner: with `--json` that is the document.
    private let toStandardError: Bool
    private let began = ContinuousClock.now
    private let state: Mutex<State>

    init(_ context: Context, _ options: GlobalOptions, _ events: Provision.Events?, _ device: DeviceOptions) {
        run = context.runID
        isOn = events != nil
        toStandardError = options.json
        state = Mutex(State(device: device.deviceName ?? device.port ?? device.deviceHost ?? ""))
    }

    /// Does the command's work and tells what came of it: as the last line here, and as the command's result where standard output is not
    /// this stream's.
    func ending(_ output: Output, _ work: () async throws -> CommandResult) async throws {
        do {
            let result = try await work()
            if isOn { finish("done", .ok, result.members) }
            if !isOn || toStandardError { output.result(result.members, text: result.text) }
        } catch {
            let failure = CommandFailure(error)
            if isOn { finish("ended", failure.status, failure.members) }
            throw failure
        }
    }

    /// What the lines call the board from now on.
    func name(_ device: String) { state.withLock { $0.device = device } }

    func take(_ event: OnboardingEvent) {
        guard isOn else { return }
        let told = EventWords(event.state)
        state.withLock { state in
            (state.step, state.attempt) = (event.step, event.attempt)
            if let node = event.nodeID { state.node = node }
            write(
                told.state, told.code, after: event.elapsed, state,
                told.detail.map { [.init("detail", .string($0))] } ?? [])
        }
    }

    private func finish(_ word: String, _ code: ExitStatus, _ members: [JSONValue.Member]) {
        state.withLock { write(word, code, after: began.duration(to: .now), $0, members) }
    }

    private func write(
        _ word: String, _ code: ExitStatus, after elapsed: Duration, _ state: State, _ more: [JSONValue.Member]
    ) {
        var members: [JSONValue.Member] = [
            .init("ts", .string(Timestamp.text(Timestamp.now()))), .init("run", .string(run)),
            .init("device", .string(state.device)),
            .init("step", state.step.map { .string($0.rawValue) } ?? .null), .init("state", .string(word)),
            .init("code", .string(code.name)), .init("attempt", .integer(Int64(state.attempt))),
            .init("elapsed_ms", .integer(Int64(elapsed / .milliseconds(1)))),
        ]
        if let node = state.node { members.append(.init("node_id", .string(node.rawValue))) }
        for member in more where !members.contains(where: { $0.name == member.name }) { members.append(member) }
        let line = String(decoding: JSONValue.object(members).serialized(), as: UTF8.self) + "\n"
        toStandardError ? StandardStreams.err(line) : StandardStreams.out(line)
    }
}

/// What a command has to tell when it is done: the members of its document, and the same as text.
struct CommandResult {
    var members: [JSONValue.Member]
    var text: String
}
