// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import RainKit

/// The bytes on the connection. A request is the length of the endpoint's name (1 byte), the name, the length of the message (4 bytes,
/// big-endian) and the message. An answer is a status (1 byte), a length (4 bytes) and the message.
enum Frame {
    static let maximumRequestLength = 4096
    /// A longer answer does not come from a board.
    static let maximumAnswerLength = 1 << 16

    enum Status: UInt8 { case answer, refusal, noSuchEndpoint }

    struct Answer {
        var status: Status
        var bytes: [UInt8]
    }

    static func request(_ message: [UInt8], on endpoint: Endpoint) -> [UInt8] {
        let length = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: message.count >> $0) }
        return [UInt8(endpoint.name.count)] + endpoint.name + length + message
    }

    /// Removes a complete answer from the front of the received bytes; nil if it is not complete yet.
    static func answer(in received: inout [UInt8], from peer: String) throws(ByteStreamError) -> Answer? {
        guard received.count >= 5 else { return nil }
        let length = received[1..<5].reduce(0) { $0 << 8 | Int($1) }
        guard let status = Status(rawValue: received[0]), length <= maximumAnswerLength else {
            throw ByteStreamError(.lost, peer: peer, message: "The bytes are not an answer.")
        }
        guard received.count >= 5 + length else { return nil }
        defer { received.removeFirst(5 + length) }
        return Answer(status: status, bytes: Array(received[5..<(5 + length)]))
    }
}
