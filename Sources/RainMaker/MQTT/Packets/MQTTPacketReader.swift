// SPDX-License-Identifier: Apache-2.0

/// Reads a server's packets from any split of their bytes.
struct MQTTPacketReader {
    /// The largest packet that is accepted: AWS IoT's messages have 128 KiB at most.
    static let maximumBytes = 256 << 10

    private var pending: [UInt8] = []

    /// Takes bytes, and gives what they complete.
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

    /// - Returns: the first byte of a packet and what follows its length; nil while it is not whole.
    private func packet(_ bytes: ArraySlice<UInt8>) throws(MQTTError) -> (head: UInt8, body: ArraySlice<UInt8>)? {
        guard let head = bytes.first else { return nil }
        var length = 0
        for index in 1...4 {
            guard bytes.count > index else { return nil }
            let byte = bytes[bytes.startIndex + index]
            length |= Int(byte & 0x7F) << (7 * (index - 1))
            guard byte & 0x80 == 0 else { continue }
            guard length <= Self.maximumBytes else {
                throw MQTTError(.malformed, "an MQTT packet of more than \(Self.maximumBytes) bytes")
            }
            let start = bytes.startIndex + index + 1
            guard bytes.endIndex - start >= length else { return nil }
            return (head, bytes[start..<start + length])
        }
        throw MQTTError(.malformed, "an MQTT packet whose length does not end")
    }

    private static func decoded(_ head: UInt8, _ body: ArraySlice<UInt8>) throws(MQTTError) -> MQTTPacket {
        let bytes = Array(body)
        switch head {
        case 0x20 where bytes.count == 2: return .connectAcknowledgement(code: bytes[1])
        case 0x90 where bytes.count >= 3:
            return .subscribeAcknowledgement(id: UInt16(bytes[0]) << 8 | UInt16(bytes[1]), codes: Array(bytes[2...]))
        case 0xD0 where bytes.isEmpty: return .pingResponse
        case 0x30...0x3F: if let packet = publish(head, bytes) { return packet }
        default: break
        }
        throw MQTTError(.malformed, "an MQTT packet that a subscriber is not sent")
    }

    /// Section 3.3. Quality of service 2 is never asked for.
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
