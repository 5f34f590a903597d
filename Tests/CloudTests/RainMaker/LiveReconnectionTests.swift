// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RainMaker

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
