// SPDX-License-Identifier: Apache-2.0
import RainKit

/// What the application behind an endpoint has answered.
struct SendResult: CommandResult {
    let endpoint: String
    /// Of what was sent.
    let bytes: Int?
    let answerHex: String
    /// The answer where it is text.
    let answer: String?

    private enum CodingKeys: String, CodingKey {
        case endpoint, bytes, answer
        case answerHex = "answer_hex"
    }

    /// The answer: as text where it is one, else its hex digits.
    var text: String { answer ?? answerHex }

    init(_ endpoint: String, sent: [UInt8]? = nil, answered: [UInt8]) {
        self.endpoint = endpoint
        bytes = sent?.count
        answerHex = answered.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        // As C strings are sent: ESP-IDF's example answers with the zero behind its text.
        let trimmed = answered.last == 0 ? answered.dropLast() : answered[...]
        let text = String(validating: trimmed, as: UTF8.self)
        answer = text.flatMap { $0.withoutControls == $0 ? $0 : nil }
    }
}
