// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RainMaker

@Suite("Whether the broker is still there")
struct LivenessTests {
    @Test("a broker that sends messages all the time is pinged too, because it counts only the client's packets")
    func busy() {
        let liveness = Liveness()
        liveness.subscribed()
        for _ in 0..<10 {
            #expect(liveness.next() == .ping)
            liveness.heard()
            liveness.heard()
        }
    }

    @Test("it is given up if nothing arrives after a ping, or if it does not subscribe in time")
    func silent() {
        let liveness = Liveness()
        liveness.heard()
        #expect(liveness.next() == .giveUp)
        liveness.subscribed()
        #expect(liveness.next() == .ping)
        #expect(liveness.next() == .giveUp)
    }
}
