// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainIO
import Synchronization

/// One user's connection that subscribes to nodes. Like AWS IoT, it ends the connection if a request is not allowed.
final class LiveSession: Sendable {
    private let connection: Int32
    /// The nodes of the role.
    private let nodes: Set<String>
    private let topics = Mutex<Set<String>>([])
    /// Two threads send: the reading one, and the broker's.
    private let turn = Mutex(())

    private static let patience: Int32 = 60_000

    init(_ connection: Int32, nodes: Set<String>) { (self.connection, self.nodes) = (connection, nodes) }

    /// Serves the client until either side ends it.
    func run() {
        var (frames, packets) = (ClientFrames(), ClientPackets())
        var silence = Self.patience
        while let bytes = receive(within: silence) {
            frames.append(bytes)
            do throws(ClientFrames.Violation) {
                while let frame = try frames.next() {
                    switch frame {
                    case .ping(let payload): send(frame: 10, payload)
                    case .close: return send(frame: 8, [])
                    case .data(let payload):
                        packets.append(payload)
                        while let packet = try packets.next() {
                            guard try answer(packet, silence: &silence) else { return }
                        }
                    }
                }
            } catch {
                return
            }
        }
    }

    fileprivate func publish(_ topic: String, _ payload: [UInt8]) {
        guard topics.withLock({ $0.contains(topic) }) else { return }
        send(frame: 2, ClientPackets.publish(topic, payload))
    }

    /// Returns whether the connection stays open.
    private func answer(_ packet: ClientPackets.Packet, silence: inout Int32) throws(ClientFrames.Violation) -> Bool {
        switch packet {
        case .connect(let keepAlive):
            if keepAlive > 0 { silence = Int32(clamping: keepAlive * 1500) }
            send(frame: 2, ClientPackets.connected())
        case .subscribe(let id, let wanted):
            let allowed = wanted.allSatisfy { topic in nodes.contains { topic == "node/\($0)/params/local" } }
            guard allowed else { return false }
            topics.withLock { $0.formUnion(wanted) }
            send(frame: 2, ClientPackets.subscribed(id, count: wanted.count))
        case .ping: send(frame: 2, ClientPackets.pong)
        case .disconnect: return false
        case .acknowledgement: break
        }
        return true
    }

    private func send(frame opcode: UInt8, _ payload: [UInt8]) {
        let bytes = ClientFrames.encoded(opcode, payload)
        turn.withLock { _ in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                // A client that reads nothing for as long as the listener allows for a response is gone.
                guard count > 0 else { return _ = shutdown(connection, Int32(SHUT_RDWR)) }
                rest = rest.dropFirst(count)
            }
        }
    }

    private func receive(within milliseconds: Int32) -> [UInt8]? {
        guard pollDescriptor(connection, for: .readable, until: .after(milliseconds: Int64(milliseconds))) else {
            return nil
        }
        let bytes = [UInt8](unsafeUninitializedCapacity: 16 << 10) { buffer, count in
            count = max(0, recv(connection, buffer.baseAddress, buffer.count, 0))
        }
        return bytes.isEmpty ? nil : bytes
    }
}

/// The open live connections.
final class LiveSessions: Sendable {
    private let sessions = Mutex<[ObjectIdentifier: LiveSession]>([:])

    func run(_ session: LiveSession) {
        sessions.withLock { $0[ObjectIdentifier(session)] = session }
        session.run()
        sessions.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(session)) }
    }

    func publish(_ topic: String, _ payload: [UInt8]) {
        for session in sessions.withLock({ Array($0.values) }) { session.publish(topic, payload) }
    }
}

/// Reads a client's WebSocket frames (RFC 6455, 5.2), which are masked.
struct ClientFrames {
    enum Frame: Equatable { case data([UInt8]), ping([UInt8]), close }
    /// A client's violation of the protocol, which ends its connection.
    struct Violation: Error {}

    private static let maximumPayload = 256 << 10
    private var pending: [UInt8] = []

    mutating func append(_ bytes: [UInt8]) { pending += bytes }

    /// Returns nil if there is no whole frame. A pong is skipped.
    mutating func next() throws(Violation) -> Frame? {
        while true {
            guard pending.count >= 2 else { return nil }
            let (opcode, short) = (pending[0] & 0x0F, pending[1] & 0x7F)
            guard pending[0] & 0x70 == 0, pending[1] & 0x80 != 0 else { throw Violation() }
            let lengthBytes = short == 126 ? 2 : short == 127 ? 8 : 0
            let head = 2 + lengthBytes + 4
            guard pending.count >= head else { return nil }
            let length =
                lengthBytes == 0 ? UInt64(short) : pending[2..<2 + lengthBytes].reduce(0) { $0 << 8 | UInt64($1) }
            guard length <= UInt64(Self.maximumPayload) else { throw Violation() }
            let size = Int(length)
            guard pending.count >= head + size else { return nil }
            let mask = Array(pending[head - 4..<head])
            let payload = pending[head..<head + size].enumerated().map { $1 ^ mask[$0 & 3] }
            pending.removeFirst(head + size)
            switch opcode {
            case 0, 2: return .data(payload)
            case 8: return .close
            case 9: return .ping(payload)
            case 10: continue
            default: throw Violation()
            }
        }
    }

    /// Returns a server's frame, which is not masked.
    fileprivate static func encoded(_ opcode: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let head: [UInt8] =
            switch payload.count {
            case ...125: [UInt8(payload.count)]
            case ...0xFFFF: [126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
            default: [127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
            }
        return [0x80 | opcode] + head + payload
    }
}

/// Reads the MQTT packets of a client that subscribes (MQTT 3.1.1).
struct ClientPackets {
    enum Packet: Equatable {
        case connect(keepAlive: Int)
        case subscribe(id: [UInt8], topics: [String])
        case ping, disconnect, acknowledgement
    }

    private static let maximumBytes = 16 << 10
    private var pending: [UInt8] = []

    mutating func append(_ bytes: [UInt8]) { pending += bytes }

    /// Returns nil if there is no whole packet. Throws for a packet that such a client does not send.
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

    fileprivate static func connected() -> [UInt8] { [0x20, 2, 0, 0] }
    fileprivate static func subscribed(_ id: [UInt8], count: Int) -> [UInt8] {
        [0x90, UInt8(2 + count)] + id + [UInt8](repeating: 0, count: count)
    }
    fileprivate static let pong: [UInt8] = [0xD0, 0]

    fileprivate static func publish(_ topic: String, _ payload: [UInt8]) -> [UInt8] {
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
