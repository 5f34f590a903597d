// SPDX-License-Identifier: Apache-2.0
import RainDBus
import Testing

@testable import firmware_sim

/// As bluetoothd 5.66 does it, seen between two emulated controllers (`make test-bluez`).
@Suite("A simulated board that demands encryption")
struct RadioSecurityTests {
    private func radio(_ faults: String...) -> RadioHarness {
        var all = RadioFaults()
        for fault in ["encrypt"] + faults { _ = all.set(fault) }
        return RadioHarness(all)
    }

    private func register(_ radio: RadioHarness, _ sender: String, isDefault: Bool = true) {
        for member in isDefault ? ["RegisterAgent", "RequestDefaultAgent"] : ["RegisterAgent"] {
            let capability: [DBusValue] = member == "RegisterAgent" ? [.string("NoInputNoOutput")] : []
            radio.call("/org/bluez", "org.bluez.AgentManager1", member, [.objectPath("/a")] + capability, by: sender)
        }
    }

    @Test("is paired with within the first write, by the default agent's leave")
    func agrees() {
        let radio = radio()
        register(radio, ":1.2")
        register(radio, ":1.3", isDefault: false)
        radio.connect()
        _ = radio.takeLog()
        let write = radio.write([1])
        #expect(radio.takeLog() == ["ask :1.2 dev", "changed dev Paired=true", "reply WriteValue"])
        #expect(radio.isAnswered(write))
        radio.read()
        #expect(radio.takeLog().last == "reply ReadValue")
    }

    @Test("ends the link where nobody agrees, and never says that it is not paired", arguments: [false, true])
    func refuses(hasAgent: Bool) {
        let radio = radio()
        if hasAgent { register(radio, ":1.2") }
        radio.agentAgrees = false
        radio.connect()
        _ = radio.takeLog()
        let write = radio.write([1])
        #expect(radio.error(of: write) == "org.bluez.Error.Failed: Not connected")
        #expect(radio.takeLog().contains("down not encrypted"))
    }

    @Test("does not ask again before it was answered, nor of a link that has gone")
    func waits() {
        let radio = radio()
        register(radio, ":1.2")
        radio.agentAgrees = nil
        radio.connect()
        _ = radio.takeLog()
        let (write, read) = (radio.write([1]), radio.read())
        #expect(radio.takeLog() == ["ask :1.2 dev"])
        #expect(!radio.isAnswered(write) && !radio.isAnswered(read))
        radio.device("Disconnect")
        radio.advance(radio.radio.faults.disconnectDelay)
        radio.radio.agentAnswered(0, attempt: 1, agrees: true, now: radio.now)
        #expect(!radio.radio.devices[0].isPaired)
    }

    @Test("and lost its keys breaks each link until BlueZ forgets it")
    func staleBond() {
        let radio = radio("stale-bond")
        radio.agentAgrees = true
        register(radio, ":1.2")
        radio.discover()
        #expect(radio.radio.devices[0].isPaired)
        for _ in 0..<2 {
            radio.device("Connect")
            radio.advance(1000)
            #expect(radio.takeLog().contains("down no keys"))
        }
        radio.adapter("RemoveDevice", [.objectPath(RadioHarness.device)])
        radio.advance(2000)
        radio.device("Connect")
        radio.advance(1000)
        radio.write([1])
        #expect(radio.takeLog().suffix(2) == ["changed dev Paired=true", "reply WriteValue"])
    }
}
