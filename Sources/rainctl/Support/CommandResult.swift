// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainKit

/// The output of a finished command: the members of its JSON document, and the same as text.
///
/// Members are in the order in which the type's `CodingKeys` name them; one that is nil is absent. Scripts depend on names, order and
/// types: a result only ever gains members, at its end.
protocol CommandResult: Encodable, Sendable {
    /// The text without a line end; empty if there is nothing to print.
    var text: String { get }
}

/// A finished action: the members of its document, and a sentence.
struct ActionResult: CommandResult {
    private var members = NamedMembers()
    private(set) var text: String

    init(_ text: String) { self.text = text }

    func with(_ name: String, _ value: some Encodable & Sendable) -> Self {
        var result = self
        result.members.add(name, value)
        return result
    }

    func encode(to encoder: any Encoder) throws { try members.encode(to: encoder) }
}

/// The output of every failed command.
struct ErrorResult: CommandResult {
    let error: Cause
    /// The part that was done before the failure, as more members of the document.
    private let result: (any Encodable & Sendable)?

    init(_ failure: CommandFailure) {
        error = Cause(failure)
        result = failure.result
    }

    private enum CodingKeys: CodingKey { case error }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(error, forKey: .error)
        try result?.encode(to: encoder)
    }

    var text: String { "error: \(error.message)" }

    /// The cause of a failure; also the end of a stream of events.
    struct Cause: Encodable, Sendable {
        let code: String
        let exit: Int32
        let reason: String
        let message: String
        let step: String?
        let retryAfter: Int64?

        private enum CodingKeys: String, CodingKey {
            case code, exit, reason, message, step
            case retryAfter = "retry_after"
        }

        init(_ failure: CommandFailure) {
            code = failure.status.name
            exit = failure.status.rawValue
            reason = failure.reason
            message = failure.message.withoutControls
            step = failure.step
            retryAfter = failure.retryAfter?.wholeSeconds
        }
    }
}
