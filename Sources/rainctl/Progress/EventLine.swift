import Glibc
import JSON
import RainKit

/// One line of `--events ndjson`.
struct EventLine {
    /// The same for every line of one run.
    var run: String
    var device: String

    func text(_ event: OnboardingEvent, at time: timespec) -> String? {
        let (state, code, detail): (String, ExitStatus, String?) =
            switch event.state {
            case .started: ("started", .ok, nil)
            case .finished: ("finished", .ok, nil)
            case .deferred(let why): ("deferred", .temporary, why)
            case .progress(let progress): ("progress", .ok, Self.word(progress))
            case .failed(let error): Self.failed(CommandFailure(error))
            }
        var members: [JSONValue.Member] = [
            .init("ts", .string(Timestamp.text(time))), .init("run", .string(run)), .init("device", .string(device)),
            .init("step", .string(event.step.rawValue)), .init("state", .string(state)),
            .init("code", .string(code.name)), .init("attempt", .integer(Int64(event.attempt))),
            .init("elapsed_ms", .integer(Int64(event.elapsed / .milliseconds(1)))),
        ]
        if let node = event.nodeID { members.append(.init("node_id", .string(node.rawValue))) }
        if let detail { members.append(.init("detail", .string(detail))) }
        return String(decoding: JSONValue.object(members).serialized(), as: UTF8.self) + "\n"
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
        case .wifi(.connecting): "connecting"
        case .wifi(.attemptFailed): "attempt_failed"
        case .wifi(.unreachable): "unreachable"
        case .connected: "connected"
        case .resumed: "resumed"
        case .abandoned: "abandoned"
        case .waitingForBoard: "waiting_for_board"
        case .waitingForCloud: "waiting_for_cloud"
        }
    }
}

/// RFC 3339 in UTC with milliseconds.
enum Timestamp {
    static func now() -> timespec {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return time
    }

    static func text(_ time: timespec) -> String {
        var seconds = time.tv_sec
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func padded(_ value: some BinaryInteger, _ width: Int) -> String {
            let digits = String(value)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let date = "\(parts.tm_year + 1900)-\(padded(parts.tm_mon + 1, 2))-\(padded(parts.tm_mday, 2))"
        let clock = "\(padded(parts.tm_hour, 2)):\(padded(parts.tm_min, 2)):\(padded(parts.tm_sec, 2))"
        return "\(date)T\(clock).\(padded(time.tv_nsec / 1_000_000, 3))Z"
    }
}
