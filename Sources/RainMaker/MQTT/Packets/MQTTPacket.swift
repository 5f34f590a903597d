// SPDX-License-Identifier: Apache-2.0

/// What a subscriber sends, and what it is sent (MQTT 3.1.1, OASIS standard of 2014-10-29).
enum MQTTPacket: Equatable {
    case connectAcknowledgement(code: UInt8)
    /// A code for each topic, in their order; 0x80 is a refusal.
    case subscribeAcknowledgement(id: UInt16, codes: [UInt8])
    /// - Parameter id: nil where no acknowledgement is wanted.
    case publish(topic: String, payload: [UInt8], id: UInt16?)
    case pingResponse

    /// Section 3.1, with a clean session and neither user name nor password.
    static func connect(clientID: String, keepAlive: UInt16) -> [UInt8] {
        packet(0x10, text("MQTT") + [4, 0x02] + number(keepAlive) + text(clientID))
    }

    /// Section 3.8.
    static func subscribe(id: UInt16, topics: [String]) -> [UInt8] {
        packet(0x82, number(id) + topics.flatMap { text($0) + [0] })
    }

    /// Section 3.4.
    static func publishAcknowledgement(id: UInt16) -> [UInt8] { packet(0x40, number(id)) }
    /// Section 3.12.
    static let pingRequest: [UInt8] = [0xC0, 0]
    /// Section 3.14.
    static let disconnect: [UInt8] = [0xE0, 0]

    private static func packet(_ head: UInt8, _ body: [UInt8]) -> [UInt8] {
        var bytes = [head]
        var rest = body.count
        repeat {
            bytes.append(UInt8(rest & 0x7F) | (rest > 0x7F ? 0x80 : 0))
            rest >>= 7
        } while rest > 0
        return bytes + body
    }

    private static func number(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }
    /// Cut at 65,535 bytes, which no topic or id of ours comes near.
    private static func text(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8.prefix(0xFFFF))
        return number(UInt16(bytes.count)) + bytes
    }
}
