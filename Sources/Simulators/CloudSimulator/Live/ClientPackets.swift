// SPDX-License-Identifier: Apache-2.0

/// Reads the MQTT packets of a client that listens (MQTT 3.1.1).
struct ClientPackets {
    enum Packet: Equatable {
        case connect(keepAlive: Int)
        case subscribe(id: [UInt8], topics: [String])
        case ping, disconnect, acknowledgement
    }

    private static let maximumBytes = 16 << 10
    private var pending: [UInt8] = []

    mutating func append(_ bytes: [UInt8]) { pending += bytes }

    /// Nil while there is no whole packet. Throws for one that a listener does not send.
    mutating func next() throws(ClientFrames.Violation) -> Packet? {
        guard let head = pending.first else { return nil }
        var (length, used) = (0, 1)
        repeat {
            guard used <= 4 else { throw ClientFrames.Violation() }
            guard pending.count > used else { return nil }
            length |= Int(pending[used] & 0x7F) << (7 * (used - 1))
            used += 1
        } while pending[used - 1] & 0x80 != 0
        guard length <= Self.maximumBytes else { throw ClientFrames.Violation() }
        guard pending.count >= used + length else { return nil }
        let body = Array(pending[used..<used + length])
        pending.removeFirst(used + length)
        let packet: Packet? =
            switch head {
            case 0x10: Self.connect(body)
            case 0x82: Self.subscribe(body)
            case 0x40: .acknowledgement
            case 0xC0: .ping
            case 0xE0: .disconnect
            default: nil
            }
        guard let packet else { throw ClientFrames.Violation() }
        return packet
    }

    private static func connect(_ body: [UInt8]) -> Packet? {
        guard body.count >= 12, body[..<7] == [0, 4, 0x4D, 0x51, 0x54, 0x54, 4] else { return nil }
        return .connect(keepAlive: Int(body[8]) << 8 | Int(body[9]))
    }

    private static func subscribe(_ body: [UInt8]) -> Packet? {
        guard body.count > 2 else { return nil }
        var rest = body[2...]
        var topics: [String] = []
        while !rest.isEmpty {
            guard rest.count >= 2 else { return nil }
            let length = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
            rest = rest.dropFirst(2)
            guard rest.count > length else { return nil }
            topics.append(String(decoding: rest.prefix(length), as: UTF8.self))
            rest = rest.dropFirst(length + 1)
        }
        return topics.isEmpty ? nil : .subscribe(id: Array(body[..<2]), topics: topics)
    }

    static func connected() -> [UInt8] { [0x20, 2, 0, 0] }
    static func subscribed(_ id: [UInt8], count: Int) -> [UInt8] {
        [0x90, UInt8(2 + count)] + id + [UInt8](repeating: 0, count: count)
    }
    static let pong: [UInt8] = [0xD0, 0]

    static func publish(_ topic: String, _ payload: [UInt8]) -> [UInt8] {
        let name = Array(topic.utf8)
        let body = [UInt8(name.count >> 8), UInt8(name.count & 0xFF)] + name + payload
        var (bytes, rest): ([UInt8], Int) = ([0x30], body.count)
        repeat {
            bytes.append(UInt8(rest & 0x7F) | (rest > 0x7F ? 0x80 : 0))
            rest >>= 7
        } while rest > 0
        return bytes + body
    }
}
