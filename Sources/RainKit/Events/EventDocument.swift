// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON
import Synchronization

/// An event of a run or a sign-in as one JSON object. `rainctl … --events ndjson` prints each on a line (`docs/schema/event.json`).
///
/// ```swift
/// let events = EventDocument.Writer(run: "r1", device: "lamp") { log.write($0) }
/// let node = try await kit.provision(board, network: home) { events.take($0) }
/// events.done(["node": node.description])
/// ```
///
/// Each event has the same eight members in this order: `ts`, `run`, `device`, `step` (`null` before the first step), `state`, `code`,
/// `attempt` and `elapsed_ms`. `node_id` follows once it is known, then the members of its state. `docs/exit-codes.md` lists the states.
/// A document has no secrets.
public struct EventDocument: Encodable, Sendable {
    /// The members that follow the common ones.
    package enum Details: Sendable {
        case detail(String?)
        case warning(reason: String, message: String)
        case session(userName: String, userID: String, attributes: [JSONValue.Member])
        case error(RainKitError.Document)
        case result(any Encodable & Sendable)
    }

    /// When the event happened: RFC 3339 in UTC, with milliseconds.
    public let time: String
    /// The id of the run.
    public let run: String
    /// The board's name, port or address; empty if there is none.
    public let device: String
    /// The step, such as `connect` or `sign_in`; nil before the first.
    public let step: String?
    /// What happened, such as `started`.
    public let state: String
    /// `ok`, or the code of the error.
    public let code: RainKitError.Code
    /// The number of the attempt with Wi-Fi credentials, from 1.
    public let attempt: Int
    /// The time since the run began.
    public let elapsed: Duration
    /// The board's node id, once it is known.
    public let nodeID: NodeID?
    private let details: Details

    package init(
        time: String, run: String, device: String, step: String?, state: String, code: RainKitError.Code = .ok,
        attempt: Int = 1, elapsed: Duration, nodeID: NodeID?, _ details: Details
    ) {
        (self.time, self.run, self.device, self.step, self.state) = (time, run, device, step, state)
        (self.code, self.attempt, self.elapsed, self.nodeID, self.details) = (code, attempt, elapsed, nodeID, details)
    }

    private enum CodingKeys: String, CodingKey {
        case time = "ts"
        case run, device, step, state, code, attempt
        case elapsed = "elapsed_ms"
        case nodeID = "node_id"
    }

    public func encode(to encoder: any Encoder) throws {
        try encodeOwn(to: encoder)
        try details.encode(to: encoder)
        // Results and errors have some of these members too, and the event's own values take precedence. Encoding a member again replaces
        // it in its place.
        try encodeOwn(to: encoder)
    }

    private func encodeOwn(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(time, forKey: .time)
        try container.encode(run, forKey: .run)
        try container.encode(device, forKey: .device)
        try container.encode(step, forKey: .step)
        try container.encode(state, forKey: .state)
        try container.encode(code.name, forKey: .code)
        try container.encode(attempt, forKey: .attempt)
        try container.encode(Int64(elapsed / .milliseconds(1)), forKey: .elapsed)
        try container.encodeIfPresent(nodeID?.rawValue, forKey: .nodeID)
    }
}

extension EventDocument.Details: Encodable {
    private enum CodingKeys: String, CodingKey {
        case detail, reason
        case userName = "user_name"
        case userID = "user_id"
        case attributes
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .detail(let text): try container.encodeIfPresent(text, forKey: .detail)
        case .warning(let reason, let message):
            try container.encode(reason, forKey: .reason)
            try container.encode(message, forKey: .detail)
        case .session(let userName, let userID, let attributes):
            try container.encode(userName, forKey: .userName)
            try container.encode(userID, forKey: .userID)
            // Absent if the provider reports nothing more.
            let more = attributes.isEmpty ? Optional.none : JSONValue.object(attributes)
            try container.encodeIfPresent(more, forKey: .attributes)
        case .error(let document): try document.encode(to: encoder)
        case .result(let result): try result.encode(to: encoder)
        }
    }
}

extension EventDocument {
    /// Makes the documents of one run or sign-in, and passes each to a closure, one at a time. The closure must not call the writer.
    public final class Writer: Sendable {
        private struct State {
            var device: String
            var step: String?
            var attempt = 1
            var node: NodeID?
        }

        private let run: String
        private let state: Mutex<State>
        private let describe: @Sendable (any Error) -> RainKitError.Document
        private let now: @Sendable () -> (time: String, elapsed: Duration)
        private let write: @Sendable (EventDocument) -> Void

        /// - Parameters:
        ///   - run: the id of the run, the same in all of its documents.
        ///   - device: the board's name, port or address; empty if it is not known yet.
        ///   - step: the step of events that are not of a run, such as `sign_in`.
        ///   - describe: returns the document of an error, if a program adds advice of its own to messages.
        ///   - write: receives each document, one at a time.
        public convenience init(
            run: String, device: String = "", step: String? = nil,
            describing describe: (@Sendable (any Error) -> RainKitError.Document)? = nil,
            _ write: @escaping @Sendable (EventDocument) -> Void
        ) {
            let began = ContinuousClock.now
            self.init(
                run: run, device: device, step: step, describing: describe,
                now: { (Timestamp.now, began.duration(to: .now)) }, write)
        }

        init(
            run: String, device: String, step: String?,
            describing describe: (@Sendable (any Error) -> RainKitError.Document)? = nil,
            now: @escaping @Sendable () -> (time: String, elapsed: Duration),
            _ write: @escaping @Sendable (EventDocument) -> Void
        ) {
            self.run = run
            state = Mutex(State(device: device, step: step))
            self.describe = describe ?? { RainKitError.Document(RainKitError(wrapping: $0)) }
            self.now = now
            self.write = write
        }

        /// Sets the `device` of the following documents.
        public func name(_ device: String) { state.withLock { $0.device = device } }

        /// Writes an event of a run.
        public func take(_ event: OnboardingEvent) {
            let (word, code, detail) = words(event.state)
            state.withLock { state in
                (state.step, state.attempt) = (event.step.rawValue, event.attempt)
                if let node = event.nodeID { state.node = node }
                write(word, code, .detail(detail), state, elapsed: event.elapsed)
            }
        }

        /// Writes an event of a session during a sign-in. Omits a failed sign-in, which is written with `failed`.
        public func take(_ event: AccountEvent) {
            switch event {
            case .loaded(let status): write("credentials_loaded", details: .session(status))
            case .saved(let status): write("credentials_saved", details: .session(status))
            case .signedIn(let status): write("signed_in", details: .session(status))
            case .signInFailed: break
            case .refreshed: write("refreshed")
            case .expired, .signedOut: write("signed_out")
            }
        }

        /// Writes a state that has no more members, such as `page_shown`.
        public func note(_ word: String) { write(word) }

        /// Writes an error after which the run continues, or which ``ended(_:)`` reports later.
        /// - Parameter detail: the text; nil for the message of the error's document.
        public func failed(_ error: any Error, as word: String, detail: String? = nil) {
            let document = describe(error)
            write(word, document.code, details: .detail(detail ?? document.message))
        }

        /// Writes a problem despite which the run continues.
        /// - Parameter reason: for programs, in snake case.
        public func warning(reason: String, message: String) {
            write("warning", details: .warning(reason: reason, message: message))
        }

        /// Writes the last document of a run that succeeded, with the members of its result.
        /// - Parameter result: encodes members, as a structure or a dictionary does.
        public func done(_ result: any Encodable & Sendable) { write("done", details: .result(result)) }

        /// Writes the last document of a run that failed.
        public func ended(_ error: any Error) {
            let document = describe(error)
            write("ended", document.code, details: .error(document))
        }

        private func write(_ word: String, _ code: RainKitError.Code = .ok, details: Details = .detail(nil)) {
            state.withLock { write(word, code, details, $0, elapsed: nil) }
        }

        private func write(
            _ word: String, _ code: RainKitError.Code, _ details: Details, _ state: State, elapsed: Duration?
        ) {
            let now = now()
            write(
                EventDocument(
                    time: now.time, run: run, device: state.device, step: state.step, state: word, code: code,
                    attempt: state.attempt, elapsed: elapsed ?? now.elapsed, nodeID: state.node, details))
        }

        private func words(_ state: OnboardingEvent.State) -> (state: String, RainKitError.Code, detail: String?) {
            switch state {
            case .started: return ("started", .ok, nil)
            case .finished: return ("finished", .ok, nil)
            case .deferred(let why): return ("deferred", .temporary, why)
            case .progress(let progress): return ("progress", .ok, progress.name)
            case .failed(let error):
                let document = describe(error)
                return ("failed", document.code, document.message)
            }
        }
    }
}

extension EventDocument.Details {
    package static func session(_ status: SessionStatus) -> Self {
        .session(userName: status.userName, userID: status.userID.rawValue, attributes: status.attributes)
    }
}

extension OnboardingProgress {
    /// The name in documents.
    fileprivate var name: String {
        switch self {
        case .identified: "identified"
        case .heard: "heard"
        case .cannotListNetworks: "cannot_list_networks"
        case .claimInitiated: "claim_initiated"
        case .certificateRequested: "certificate_requested"
        case .claimed: "claimed"
        case .customData: "custom_data_answered"
        case .wifi(.connecting): "connecting"
        case .wifi(.occupied): "occupied"
        case .wifi(.attemptFailed): "attempt_failed"
        case .wifi(.unreachable): "unreachable"
        case .connected: "connected"
        case .alreadyOnline: "already_online"
        case .resumed: "resumed"
        case .abandoned: "abandoned"
        case .associationLeftOpen: "association_left_open"
        case .waitingForBoard: "waiting_for_board"
        case .waitingForCloud: "waiting_for_cloud"
        case .waitingForNode: "waiting_for_node"
        }
    }
}

extension RainKitError {
    /// An error as a JSON object: `code`, `exit`, `reason` and `message`, then `step` and `retry_after` (whole seconds) if they are known.
    ///
    /// `rainctl --json` has it as `error` (`docs/schema/error.json`), and the last event of a run that failed has its members.
    public struct Document: Encodable, Sendable {
        /// The code. `code` is its name, and `exit` is its number.
        public var code: Code
        /// The cause, more exact than the code, in snake case.
        public var reason: String
        /// What happened, and what to try.
        public var message: String
        /// The step of a run, such as `connect`.
        public var step: String?
        /// How long the server asked its clients to wait before the next request.
        public var retryAfter: Duration?

        public init(code: Code, reason: String, message: String, step: String? = nil, retryAfter: Duration? = nil) {
            (self.code, self.reason, self.message) = (code, reason, message)
            (self.step, self.retryAfter) = (step, retryAfter)
        }

        /// The document of an error, whose message includes the ``RainKitError/advice``.
        public init(_ error: RainKitError) {
            let sentences = [error.message, error.advice].filter { !$0.isEmpty }
            self.init(
                code: error.code, reason: error.reason, message: sentences.joined(separator: " "),
                step: error.step?.rawValue, retryAfter: error.retryAfter)
        }

        private enum CodingKeys: String, CodingKey {
            case code, exit, reason, message, step
            case retryAfter = "retry_after"
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(code.name, forKey: .code)
            try container.encode(code.rawValue, forKey: .exit)
            try container.encode(reason, forKey: .reason)
            try container.encode(message.withoutControls, forKey: .message)
            try container.encodeIfPresent(step, forKey: .step)
            try container.encodeIfPresent(retryAfter?.wholeSeconds, forKey: .retryAfter)
        }
    }
}

extension Duration {
    /// Rounded up, because a request must not come before the time is over.
    package var wholeSeconds: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}
