// SPDX-License-Identifier: Apache-2.0
import Logging
import RainDBus
import TestSupport
import Testing

@testable import ProtocommTransports

@Suite("Bluetooth that goes away while somebody listens")
struct OutageTests {
    @Test("is waited out from its beginning, whatever its state meanwhile, and again the next time")
    func patience() {
        let began = ContinuousClock.now
        let off = BluetoothError(.poweredOff, message: "off")
        var outage = AdapterLoss()
        #expect(outage.left(of: .seconds(60), now: began) == .seconds(60))
        outage.note(off, now: began)
        #expect(outage.left(of: .seconds(60), now: began) == AdapterLoss.patience)
        #expect(outage.left(of: .seconds(1), now: began) == .seconds(1))
        outage.note(BluetoothError(.noBlueZ, message: "gone"), now: began + .seconds(2))
        #expect(outage.error?.code == .noBlueZ)
        #expect(outage.left(of: .seconds(60), now: began + .seconds(2)) == AdapterLoss.restartPatience - .seconds(2))
        #expect(outage.left(of: .seconds(60), now: began + .seconds(19)) == .zero)
        outage.note(nil, now: began + .seconds(3))
        #expect(outage.error == nil && outage.left(of: .seconds(60), now: began + .seconds(9)) == .seconds(60))
        outage.note(BluetoothError(.scanFailed, message: "busy"), now: began + .seconds(4))
        #expect(outage.left(of: .seconds(60), now: began + .seconds(50)) == .seconds(60))
        outage.note(off, now: began + .seconds(10))
        #expect(outage.left(of: .seconds(60), now: began + .seconds(11)) == AdapterLoss.patience - .seconds(1))
    }
}
