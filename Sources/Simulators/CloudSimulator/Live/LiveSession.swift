// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainIO
import Synchronization

/// One user's connection that listens to nodes. As AWS IoT, it ends the connection where something is not allowed.
final class LiveSession: Sendable {
    private let connection: Int32
    /// The nodes that the role is for.
    private let nodes: Set<String>
    private let topics = Mutex<Set<String>>([])
    /// Two threads send: the one that reads, and the broker's.
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

    func publish(_ topic: String, _ payload: [UInt8]) {
        guard topics.withLock({ $0.contains(topic) }) else { return }
        send(frame: 2, ClientPackets.publish(topic, payload))
    }

    /// Whether the connection goes on.
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
                // A client that takes nothing for as long as the listener lets a response take is gone.
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

/// Those who listen.
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
