// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCryptoOpenSSL
import RainIO
import RainKitTesting
import Synchronization
import Testing

@testable import RainMaker

/// A broker that nobody reaches.
private struct NoBroker: StreamOpener {
    func open(_ url: String, within limit: Duration) async throws(ByteStreamError) -> ByteStream {
        throw ByteStreamError(.unreachable, peer: url, message: "no broker")
    }
}

@Suite("A live connection that is lost")
struct LiveOutageTests {
    @Test("reports one interruption, however many attempts fail")
    func once() async throws {
        let pauses = Mutex(0)
        let interruptions = Mutex<[String]>([])
        let tools = LiveTools(
            opener: NoBroker(), hashes: OpenSSLHashes.self, sha1: OpenSSLHashes.sha1,
            randomBytes: { [UInt8](repeating: 7, count: $0) }, clock: ManualWallClock(),
            sleep: { _ in
                let count = pauses.withLock { pauses in
                    pauses += 1
                    return pauses
                }
                if count == 10 { throw CancellationError() }
            })
        let attempts = Mutex(0)
        let connection = LiveConnection(nodes: [NodeID("n1")], tools: tools, report: { _ in nil }) {
            _ throws(AccountError) in
            let attempt = attempts.withLock { attempts in
                attempts += 1
                return attempts
            }
            throw AccountError(.network, message: "attempt \(attempt)")
        }
        let end = await connection.run { event in
            if case .interrupted(_, let reason) = event { interruptions.withLock { $0.append(reason) } }
        }
        #expect(end.code == .cancelled)
        #expect(attempts.withLock(\.self) == 10)
        #expect(interruptions.withLock(\.self) == ["attempt 1"])
    }
}

@Suite("The wait before a live connection is made again")
struct LiveReconnectionTests {
    @Test("becomes longer each time if the broker accepts the subscription and closes", arguments: [0.0, 0.1, 1, 29.9])
    func accepted(seconds: Double) {
        var pause = LiveReconnection()
        let pauses = (1...9).map { _ in pause.next(afterListening: .seconds(seconds)) }
        #expect(pauses == [0.5, 1, 2, 4, 8, 16, 30, 30, 30].map { .seconds($0) })
        // In thirty seconds such a broker gets six connections, not sixty.
        var (time, connections) = (Duration.zero, 0)
        for wait in pauses where time < .seconds(30) { (time, connections) = (time + wait, connections + 1) }
        #expect(connections <= 6)
    }

    @Test("is the shortest again after a long connection", arguments: [30.0, 31, 3600])
    func stable(seconds: Double) {
        var pause = LiveReconnection()
        for _ in 1...9 { _ = pause.next(afterListening: .zero) }
        #expect(pause.next(afterListening: .seconds(seconds)) == LiveReconnection.shortest)
        #expect(pause.next(afterListening: .zero) == .seconds(1))
    }

    @Test("is at least as long as the cloud asks")
    func retryAfter() {
        var pause = LiveReconnection()
        #expect(pause.next(afterListening: .zero, retryAfter: .seconds(60)) == .seconds(60))
        #expect(pause.next(afterListening: .zero, retryAfter: .milliseconds(1)) == .seconds(1))
    }
}
