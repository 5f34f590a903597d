// SPDX-License-Identifier: Apache-2.0

/// The packets that a client receives, and builders for those that it sends (MQTT 3.1.1, OASIS standard of 2014-10-29).
enum MQTTPacket: Equatable {
    case connectAcknowledgement(code: UInt8)
    /// One code for each topic, in the order of the topics. The code 0x80 is a refusal.
    case subscribeAcknowledgement(id: UInt16, codes: [UInt8])
    /// - Parameter id: nil if no acknowledgement is needed.
    case publish(topic: String, payload: [UInt8], id: UInt16?)
    /// The server has taken a message of this client.
    case publishAcknowledged(id: UInt16)
    case pingResponse

    /// Builds a CONNECT packet (section 3.1) with a clean session, and without user name and password.
    static func connect(clientID: String, keepAlive: UInt16) -> [UInt8] {
        packet(0x10, text("MQTT") + [4, 0x02] + number(keepAlive) + text(clientID))
    }

    /// Builds a SUBSCRIBE packet (section 3.8).
    static func subscribe(id: UInt16, topics: [String]) -> [UInt8] {
        packet(0x82, number(id) + topics.flatMap { text($0) + [0] })
    }

    /// Builds a PUBLISH packet (section 3.3) with quality of service 1: the server acknowledges it.
    static func publish(_ message: MQTTMessage, id: UInt16) -> [UInt8] {
        packet(0x32, text(message.topic) + number(id) + message.payload)
    }

    /// Builds a PUBACK packet (section 3.4).
    static func publishAcknowledgement(id: UInt16) -> [UInt8] { packet(0x40, number(id)) }
    /// A PINGREQ packet (section 3.12).
    static let pingRequest: [UInt8] = [0xC0, 0]
    /// A DISCONNECT packet (section 3.14).
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
    /// Encodes a text, cut at 65,535 bytes. Our topics and ids are much shorter.
    private static func text(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8.prefix(0xFFFF))
        return number(UInt16(bytes.count)) + bytes
    }
}

/// Reads a server's packets from any split of their bytes.
struct MQTTPacketReader {
    /// The largest packet that is accepted: AWS IoT's messages have at most 128 KiB.
    private static let maximumBytes = 256 << 10

    private var pending: [UInt8] = []

    /// Takes bytes, and returns the packets that they complete.
    mutating func receive(_ bytes: [UInt8]) throws(MQTTError) -> [MQTTPacket] {
        pending += bytes
        var packets: [MQTTPacket] = []
        var position = 0
        while let (head, body) = try packet(pending[position...]) {
            position = body.endIndex
            packets.append(try Self.decoded(head, body))
        }
        pending.removeFirst(position)
        return packets
    }

    /// - Returns: the first byte of a packet and the bytes after its length; nil while the packet is incomplete.
    private func packet(_ bytes: ArraySlice<UInt8>) throws(MQTTError) -> (head: UInt8, body: ArraySlice<UInt8>)? {
        guard let head = bytes.first else { return nil }
        var length = 0
        for index in 1...4 {
            guard bytes.count > index else { return nil }
            let byte = bytes[bytes.startIndex + index]
            length |= Int(byte & 0x7F) << (7 * (index - 1))
            guard byte & 0x80 == 0 else { continue }
            guard length <= Self.maximumBytes else {
                throw MQTTError(.malformed, "the server sent an MQTT packet of more than \(Self.maximumBytes) bytes")
            }
            let start = bytes.startIndex + index + 1
            guard bytes.endIndex - start >= length else { return nil }
            return (head, bytes[start..<start + length])
        }
        throw MQTTError(.malformed, "the server sent an MQTT packet with an invalid length")
    }

    private static func decoded(_ head: UInt8, _ body: ArraySlice<UInt8>) throws(MQTTError) -> MQTTPacket {
        let bytes = Array(body)
        switch head {
        case 0x20 where bytes.count == 2: return .connectAcknowledgement(code: bytes[1])
        case 0x90 where bytes.count >= 3:
            return .subscribeAcknowledgement(id: UInt16(bytes[0]) << 8 | UInt16(bytes[1]), codes: Array(bytes[2...]))
        case 0xD0 where bytes.isEmpty: return .pingResponse
        case 0x40 where bytes.count == 2: return .publishAcknowledged(id: UInt16(bytes[0]) << 8 | UInt16(bytes[1]))
        case 0x30...0x3F: if let packet = publish(head, bytes) { return packet }
        default: break
        }
        throw MQTTError(.malformed, "the server sent an MQTT packet of an unexpected type")
    }

    /// Reads a PUBLISH packet (section 3.3). This client never requests quality of service 2.
    private static func publish(_ head: UInt8, _ bytes: [UInt8]) -> MQTTPacket? {
        let quality = head >> 1 & 3
        guard bytes.count >= 2, quality < 2 else { return nil }
        let topicEnd = 2 + (Int(bytes[0]) << 8 | Int(bytes[1]))
        let payloadStart = topicEnd + (quality == 0 ? 0 : 2)
        guard bytes.count >= payloadStart else { return nil }
        return .publish(
            topic: String(decoding: bytes[2..<topicEnd], as: UTF8.self), payload: Array(bytes[payloadStart...]),
            id: quality == 0 ? nil : UInt16(bytes[topicEnd]) << 8 | UInt16(bytes[topicEnd + 1]))
    }
}
