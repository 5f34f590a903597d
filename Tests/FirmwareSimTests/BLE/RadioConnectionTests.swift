// SPDX-License-Identifier: Apache-2.0
import RainDBus
import Testing

@testable import firmware_sim

@Suite("The simulated radio: connections")
struct RadioConnectionTests {
    @Test("Connect: Connected, the reply, the attributes parents first, and only then ServicesResolved")
    func order() {
        let radio = RadioHarness()
        radio.discover()
        radio.adapter("StopDiscovery")
        _ = radio.takeLog()
        radio.device("Connect")
        #expect(radio.takeLog() == [])
        radio.advance(200)
        #expect(radio.takeLog() == ["up", "changed dev Connected=true", "reply Connect"])
        radio.advance(300)
        let log = radio.takeLog()
        #expect(
            log.prefix(4) == [
                "added dev/service000c", "added dev/service000c/char000d", "added dev/service000c/char000d/desc000f",
                "added dev/service000c/char0010",
            ])
        #expect(log.count == 1 + 2 * 6 + 1)
        #expect(log.last == "changed dev ServicesResolved=true UUIDs=1")
    }

    @Test(
        "Disconnect: ServicesResolved, the reply, Connected; the attributes stay, and work again after the next Connect"
    )
    func disconnect() {
        let radio = RadioHarness()
        radio.connect()
        radio.adapter("StopDiscovery")
        _ = radio.takeLog()
        radio.device("Disconnect")
        #expect(radio.takeLog() == ["changed dev ServicesResolved=false"])
        radio.advance(1999)
        #expect(radio.takeLog() == [])
        radio.advance(1)
        #expect(radio.takeLog() == ["reply Disconnect", "changed dev Connected=false", "down disconnected"])
        #expect(radio.error(of: radio.read()) == "org.bluez.Error.Failed: Not connected")
        _ = radio.takeLog()
        radio.device("Connect")
        radio.advance(200)
        radio.advance(300)
        #expect(
            radio.takeLog() == [
                "up", "changed dev Connected=true", "reply Connect", "changed dev ServicesResolved=true UUIDs=1",
            ])
        #expect(radio.value(of: radio.read()) == .bytes([]))
    }

    @Test("Connect on a connected device, and Disconnect on one that is not, succeed at once")
    func twice() {
        let radio = RadioHarness()
        radio.connect()
        _ = radio.takeLog()
        radio.device("Connect", by: ":1.2")
        #expect(radio.takeLog() == ["reply Connect"])
        let other = RadioHarness()
        other.discover()
        _ = other.takeLog()
        other.device("Disconnect")
        #expect(other.takeLog() == ["reply Disconnect"])
    }

    @Test("a second Connect while one is under way is aborted, and the first goes on")
    func concurrent() {
        let radio = RadioHarness()
        radio.discover()
        let first = radio.device("Connect")
        let second = radio.device("Connect", by: ":1.2")
        #expect(radio.error(of: second) == "org.bluez.Error.Failed: le-connection-abort-by-local")
        radio.advance(200)
        #expect(radio.error(of: first) == nil && radio.isAnswered(first))
    }

    @Test("Disconnect ends a Connect that is under way")
    func cancelled() {
        let radio = RadioHarness()
        radio.discover()
        let connect = radio.device("Connect")
        let disconnect = radio.device("Disconnect")
        #expect(radio.error(of: connect) == "org.bluez.Error.Failed: le-connection-abort-by-local")
        #expect(radio.isAnswered(disconnect))
        radio.advance(1000)
        #expect(!radio.log.contains("up"))
    }

    @Test("an aborted Connect toggles Connected before it fails; a quiet one does not", arguments: [false, true])
    func aborted(isQuiet: Bool) {
        var faults = RadioFaults()
        if isQuiet { faults.quietAbort = 1 } else { faults.abort = 1 }
        let radio = RadioHarness(faults)
        radio.discover()
        radio.adapter("StopDiscovery")
        _ = radio.takeLog()
        radio.device("Connect")
        radio.advance(200)
        let toggle = isQuiet ? [] : ["changed dev Connected=true", "changed dev Connected=false"]
        #expect(
            radio.takeLog() == ["fault abort"] + toggle + ["error Connect le-connection-abort-by-local"])
        #expect(radio.radio.devices[0].isTemporary)
    }

    @Test("the fractions of faults are kept", arguments: [0.05, 0.35, 0.9])
    func fractions(fraction: Double) {
        var faults = RadioFaults()
        faults.abort = fraction
        faults.stale = fraction
        let radio = RadioHarness(faults, boards: 200, seed: 7)
        #expect(abs(Double(radio.radio.devices.count { $0.vanishesOnce }) / 200 - fraction) < 0.12)
        radio.radio.devices.indices.forEach { radio.radio.devices[$0].vanishesOnce = false }
        radio.discover()
        for device in radio.radio.devices { radio.device("Connect", device.path) }
        radio.advance(200)
        let aborted = radio.log.count { $0 == "fault abort" }
        #expect(abs(Double(aborted) / 200 - fraction) < 0.12)
    }

    @Test("a stale device vanishes once at Connect, and its next advertisement brings it back")
    func stale() {
        var faults = RadioFaults()
        faults.stale = 1
        let radio = RadioHarness(faults)
        radio.discover()
        _ = radio.takeLog()
        let first = radio.device("Connect")
        #expect(radio.error(of: first)?.hasPrefix("org.freedesktop.DBus.Error.UnknownObject") == true)
        #expect(radio.takeLog().prefix(2) == ["fault stale", "removed dev"])
        radio.advance(1500)
        #expect(radio.takeLog().first == "added dev")
        let second = radio.device("Connect")
        radio.advance(200)
        #expect(radio.error(of: second) == nil && radio.isAnswered(second))
    }

    @Test("RemoveDevice takes the attributes first, then the device; unknown paths do not exist")
    func removeDevice() {
        let radio = RadioHarness()
        radio.connect()
        radio.adapter("StopDiscovery")
        _ = radio.takeLog()
        radio.adapter("RemoveDevice", [.objectPath(RadioHarness.device)])
        let log = radio.takeLog()
        #expect(
            log.prefix(4) == [
                "changed dev ServicesResolved=false", "changed dev Connected=false", "down removed",
                "removed dev/service000c/char001c/desc001e",
            ])
        #expect(log.suffix(3) == ["removed dev/service000c", "removed dev", "reply RemoveDevice"])
        let again = radio.adapter("RemoveDevice", [.objectPath(RadioHarness.device)])
        #expect(radio.error(of: again) == "org.bluez.Error.DoesNotExist: Does Not Exist")
    }

    @Test("a stale cache shows another firmware's endpoints until the device is removed")
    func staleCache() {
        var faults = RadioFaults()
        faults.cache = 1
        let radio = RadioHarness(faults)
        radio.connect()
        #expect(radio.radio.devices[0].exported.count == 5)
        #expect(!radio.log.contains("added dev/service000c/char001c"))
        radio.adapter("RemoveDevice", [.objectPath(RadioHarness.device)])
        _ = radio.takeLog()
        radio.advance(1500)
        radio.device("Connect")
        radio.advance(200)
        radio.advance(300)
        #expect(radio.takeLog().contains("added dev/service000c/char001c"))
    }

    @Test("after resolution a device may list its generic services, too")
    func genericServices() {
        var faults = RadioFaults()
        faults.listsGenericServices = true
        let radio = RadioHarness(faults)
        radio.connect()
        #expect(radio.log.last == "changed dev ServicesResolved=true UUIDs=3")
    }

    @Test("a board that ceases to serve drops its link, and is not to be found any more")
    func serviceStopped() {
        let radio = RadioHarness()
        radio.connect()
        _ = radio.takeLog()
        radio.setServing(0, false)
        #expect(
            radio.takeLog() == [
                "changed dev ServicesResolved=false", "changed dev Connected=false", "down service stopped",
            ])
        radio.advance(5000)
        #expect(radio.takeLog() == [])
        let connect = radio.device("Connect")
        radio.advance(200)
        #expect(radio.error(of: connect) == "org.bluez.Error.Failed: le-connection-abort-by-local")
    }

    @Test("an adapter that is off answers with the text that clients look for, and can be switched on")
    func adapterOff() {
        var faults = RadioFaults()
        faults.adapter = .off
        let radio = RadioHarness(faults)
        let start = radio.adapter("StartDiscovery")
        #expect(radio.error(of: start) == "org.bluez.Error.NotReady: Resource Not Ready")
        let on = radio.call(
            "/org/bluez/hci0", "org.freedesktop.DBus.Properties", "Set",
            [.string("org.bluez.Adapter1"), .string("Powered"), .variant(.bool(true))])
        #expect(radio.isAnswered(on) && radio.log.contains("changed hci0 Powered=true"))
        radio.discover()
        #expect(radio.log.contains("added dev"))
    }

    @Test("an adapter that the radio switch holds stays off")
    func adapterBlocked() {
        var faults = RadioFaults()
        faults.adapter = .rfkill
        let radio = RadioHarness(faults)
        let on = radio.call(
            "/org/bluez/hci0", "org.freedesktop.DBus.Properties", "Set",
            [.string("org.bluez.Adapter1"), .string("Powered"), .variant(.bool(true))])
        #expect(radio.error(of: on) == "org.bluez.Error.Blocked: Blocked through rfkill")
    }

    @Test("without an adapter the daemon is there, and nothing below it")
    func noAdapter() {
        var faults = RadioFaults()
        faults.adapter = .absent
        let radio = RadioHarness(faults)
        let objects = radio.call("/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
        #expect(radio.value(of: objects)?.entries?.map { $0.key.text } == ["/org/bluez"])
        let start = radio.adapter("StartDiscovery")
        #expect(radio.error(of: start)?.hasPrefix("org.freedesktop.DBus.Error.UnknownObject") == true)
    }

    @Test("switching the adapter off ends links and discovery")
    func switchedOff() {
        let radio = RadioHarness()
        radio.connect()
        _ = radio.takeLog()
        radio.call(
            "/org/bluez/hci0", "org.freedesktop.DBus.Properties", "Set",
            [.string("org.bluez.Adapter1"), .string("Powered"), .variant(.bool(false))])
        let log = radio.takeLog()
        #expect(log.contains("down adapter off") && log.contains("changed hci0 Discovering=false"))
        #expect(log.suffix(2) == ["changed hci0 Powered=false", "reply Set"])
    }
}
