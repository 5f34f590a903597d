// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainKit

/// The output of a finished command: the members of its JSON document, and the same as text.
///
/// Members are the type's properties, in their order and with their names in snake case. One that is nil is absent, and `@TextOnly`
/// properties are no members. Scripts depend on names, order and types: a result only ever gains members, at its end.
///
/// The documents of calls of the library are types of RainKit (`RainKit/Documents`). They get their text in an extension.
protocol CommandResult: Encodable, Sendable {
    /// The text without a line end; empty if there is nothing to print.
    var text: String { get }
    /// The indices of the lines that confirm a change. A terminal shows them with a tick.
    var confirmedLines: [Int] { get }
    /// Whether the text is sentences. A terminal gets them wrapped between words. Documents, lists and values stay as they are.
    var isProse: Bool { get }
}

extension CommandResult {
    var confirmedLines: [Int] { [] }
    var isProse: Bool { !confirmedLines.isEmpty }
}

/// A result that confirms one change, in its first line.
protocol ConfirmingResult: CommandResult {}

extension ConfirmingResult {
    var confirmedLines: [Int] { [0] }
}

extension ActionResult: CommandResult {
    var isProse: Bool { true }
    var confirmedLines: [Int] { isChange ? [0] : [] }
}

/// The output of every failed command.
struct ErrorResult: CommandResult {
    private let error: RainKitError.Document
    /// The part that was done before the failure, as more members of the document.
    private let result: (any Encodable & Sendable)?

    init(_ failure: CommandFailure) {
        error = RainKitError.Document(failure)
        result = failure.result
    }

    private enum CodingKeys: CodingKey { case error }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(error, forKey: .error)
        try result?.encode(to: encoder)
    }

    var text: String { "error: \(error.message.withoutControls)" }
}

extension RainKitError.Document {
    init(_ failure: CommandFailure) {
        self.init(
            code: failure.status, reason: failure.reason, message: failure.message, step: failure.step,
            retryAfter: failure.retryAfter)
    }
}
