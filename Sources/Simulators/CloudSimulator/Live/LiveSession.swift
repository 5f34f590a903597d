// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainIO
import Synchronization

/// The rights of a user's connection.
struct LiveRights: Sendable {
    var mayConnect: @Sendable (_ clientID: String) -> Bool
    var maySubscribe: @Sendable (_ filter: String) -> Bool
    /// Takes a message of the user. Returns false if it is not allowed.
    var publish: @Sendable (_ topic: String, _ payload: [UInt8]) -> Bool

    init(
        mayConnect: @escaping @Sendable (_ clientID: String) -> Bool = { _ in true },
        publish: @escaping @Sendable (_ topic: String, _ payload: [UInt8]) -> Bool = { _, _ in false },
        maySubscribe: @escaping @Sendable (_ filter: String) -> Bool
    ) {
        (self.mayConnect, self.maySubscribe, self.publish) = (mayConnect, maySubscribe, publish)
    }
}

/// One user's connection to the broker. Like AWS IoT, it ends the connection if a request is not allowed, or has more than eight topics.
final class LiveSession: Sendable {
    private let connection: Int32
    private let rights: LiveRights
    private let topics = Mutex<Set<String>>([])
    /// Two threads send: the reading one, and the broker's.
    private let turn = Mutex(())

    private static let patience: Int32 = 60_000
    /// Limits of AWS IoT.
    private static let topicsPerRequest = 8
    private static let maximumTopics = 50

    init(_ connection: Int32, _ rights: LiveRights) { (self.connection, self.rights) = (connection, rights) }

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
        guard topics.withLock({ $0.contains { Self.matches($0, topic) } }) else { return }
        send(frame: 2, ClientPackets.publish(topic, payload))
    }

    /// Whether a topic matches a filter, in which `+` stands for one level (MQTT 3.1.1, 4.7.1). `#` is never allowed here.
    private static func matches(_ filter: String, _ topic: String) -> Bool {
        let (filter, topic) = (
            filter.split(separator: "/", omittingEmptySubsequences: false),
            topic.split(separator: "/", omittingEmptySubsequences: false)
        )
        return filter.count == topic.count && zip(filter, topic).allSatisfy { $0 == "+" || $0 == $1 }
    }

    /// Returns whether the connection stays open.
    private func answer(_ packet: ClientPackets.Packet, silence: inout Int32) throws(ClientFrames.Violation) -> Bool {
        switch packet {
        case .connect(let keepAlive, let clientID):
            guard rights.mayConnect(clientID) else { return false }
            if keepAlive > 0 { silence = Int32(clamping: keepAlive * 1500) }
            send(frame: 2, ClientPackets.connected())
        case .subscribe(let id, let wanted):
            guard wanted.count <= Self.topicsPerRequest, wanted.allSatisfy(rights.maySubscribe) else { return false }
            let isAccepted = topics.withLock { topics in
                let all = topics.union(wanted)
                guard all.count <= Self.maximumTopics else { return false }
                topics = all
                return true
            }
            send(frame: 2, ClientPackets.subscribed(id, code: isAccepted ? 0 : 0x80, count: wanted.count))
        case .publish(let topic, let payload, let id):
            guard rights.publish(topic, payload) else { return false }
            if let id { send(frame: 2, ClientPackets.published(id)) }
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

/// Reads the MQTT packets of a client that subscribes and publishes (MQTT 3.1.1).
struct ClientPackets {
    enum Packet: Equatable {
        case connect(keepAlive: Int, clientID: String)
        /// - Parameter id: nil if no acknowledgement is wanted.
        case publish(topic: String, payload: [UInt8], id: [UInt8]?)
        case subscribe(id: [UInt8], topics: [String])
        case ping, disconnect, acknowledgement
    }

    /// AWS IoT's messages have at most 128 KiB.
    private static let maximumBytes = 130 << 10
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
            case 0x30, 0x32: Self.publish(body, isAcknowledged: head == 0x32)
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
        let length = Int(body[10]) << 8 | Int(body[11])
        guard body.count >= 12 + length else { return nil }
        return .connect(
            keepAlive: Int(body[8]) << 8 | Int(body[9]),
            clientID: String(decoding: body[12..<12 + length], as: UTF8.self))
    }

    private static func publish(_ body: [UInt8], isAcknowledged: Bool) -> Packet? {
        guard body.count >= 2 else { return nil }
        let end = 2 + (Int(body[0]) << 8 | Int(body[1]))
        let start = end + (isAcknowledged ? 2 : 0)
        guard body.count >= start else { return nil }
        return .publish(
            topic: String(decoding: body[2..<end], as: UTF8.self), payload: Array(body[start...]),
            id: isAcknowledged ? Array(body[end..<start]) : nil)
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
    fileprivate static func subscribed(_ id: [UInt8], code: UInt8, count: Int) -> [UInt8] {
        [0x90, UInt8(2 + count)] + id + [UInt8](repeating: code, count: count)
    }
    fileprivate static func published(_ id: [UInt8]) -> [UInt8] { [0x40, 2] + id }
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
