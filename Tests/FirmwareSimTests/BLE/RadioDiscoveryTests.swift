// SPDX-License-Identifier: Apache-2.0
import RainDBus
import Testing

@testable import firmware_sim

@Suite("The simulated radio: discovery")
struct RadioDiscoveryTests {
    @Test("a board that advertises is added once, then told of by its RSSI, which changes each time")
    func sightings() {
        let radio = RadioHarness()
        let start = radio.adapter("StartDiscovery")
        #expect(radio.takeLog() == ["changed hci0 Discovering=true", "reply StartDiscovery"])
        #expect(radio.isAnswered(start))
        radio.advance(300)
        #expect(radio.takeLog() == ["added dev"])
        var levels: [Int] = []
        for _ in 0..<50 {
            radio.advance(1100)
            guard let level = radio.radio.devices[0].rssi else { continue }
            levels.append(Int(level))
        }
        let log = radio.takeLog()
        #expect(log.allSatisfy { $0 == "changed dev RSSI=n" } && (45...65).contains(log.count), "\(log.count)")
        #expect(Set(levels).count > 3)
        let signals = radio.effects.compactMap { effect -> Int? in
            guard case .signal(_, _, "PropertiesChanged", let arguments) = effect else { return nil }
            return arguments[1]["RSSI"]?.integer
        }
        #expect(zip(signals, signals.dropFirst()).allSatisfy { $0 != $1 })
    }

    @Test("the first sighting has everything a client needs, in the types that it expects")
    func added() throws {
        let radio = RadioHarness()
        radio.discover()
        let signal = radio.effects.compactMap { effect -> [DBusValue]? in
            guard case .signal("/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded", let values) = effect
            else { return nil }
            return values
        }.first
        let values = try #require(signal)
        #expect(values[0] == .objectPath(RadioHarness.device) && values[1].signature == "a{sa{sv}}")
        let device = try #require(values[1]["org.bluez.Device1"])
        #expect(device["Address"] == .string("7C:DF:A1:00:00:01") && device["Alias"] == .string("PROV_0"))
        #expect(device["Adapter"] == .objectPath("/org/bluez/hci0"))
        #expect(device["Connected"] == .bool(false) && device["ServicesResolved"] == .bool(false))
        #expect(device["UUIDs"] == .strings([GATTApplication.rainMakerService]))
        guard case .int16? = device["RSSI"] else { return #expect(device["RSSI"]?.signature == "n") }
    }

    @Test("sessions are counted by sender; Discovering changes with the first and the last")
    func sessions() {
        let radio = RadioHarness()
        radio.adapter("StartDiscovery", by: ":1.1")
        radio.adapter("StartDiscovery", by: ":1.2")
        let twice = radio.adapter("StartDiscovery", by: ":1.1")
        #expect(radio.error(of: twice) == "org.bluez.Error.InProgress: Operation already in progress")
        #expect(radio.takeLog().filter { $0.contains("Discovering") } == ["changed hci0 Discovering=true"])
        radio.advance(300)
        _ = radio.takeLog()
        radio.adapter("StopDiscovery", by: ":1.1")
        #expect(radio.takeLog() == ["reply StopDiscovery"])
        radio.adapter("StopDiscovery", by: ":1.2")
        #expect(
            radio.takeLog() == ["changed dev RSSI=gone", "changed hci0 Discovering=false", "reply StopDiscovery"])
        let without = radio.adapter("StopDiscovery", by: ":1.2")
        #expect(radio.error(of: without) == "org.bluez.Error.Failed: No discovery started")
    }

    @Test("a scanner that leaves the bus ends its session")
    func vanishedScanner() {
        let radio = RadioHarness()
        radio.adapter("StartDiscovery", by: ":1.7")
        radio.advance(300)
        _ = radio.takeLog()
        radio.senderVanishes(":1.7")
        #expect(radio.takeLog() == ["changed dev RSSI=gone", "changed hci0 Discovering=false"])
    }

    @Test("each scan yields a signal for a device that is in the tree already")
    func secondScan() {
        let radio = RadioHarness()
        radio.discover()
        radio.adapter("StopDiscovery")
        _ = radio.takeLog()
        radio.adapter("StartDiscovery")
        radio.advance(300)
        #expect(radio.takeLog().contains("changed dev RSSI=n"))
    }

    @Test("a device that nobody connected to is forgotten when it was not seen for so long")
    func forgotten() {
        var faults = RadioFaults()
        faults.forgetDelay = 2000
        let radio = RadioHarness(faults)
        radio.discover()
        radio.advance(5000)
        #expect(!radio.takeLog().contains("removed dev"), "it is still seen")
        radio.adapter("StopDiscovery")
        radio.advance(900)
        #expect(!radio.takeLog().contains("removed dev"))
        radio.advance(1200)
        #expect(radio.takeLog() == ["removed dev"])
        let connect = radio.device("Connect")
        #expect(radio.error(of: connect)?.hasPrefix("org.freedesktop.DBus.Error.UnknownObject") == true)
        radio.adapter("StartDiscovery")
        radio.advance(300)
        #expect(radio.takeLog().contains("added dev"))
    }

    @Test("a device that was connected to stays, and a connected one does not advertise")
    func connectedStays() {
        var faults = RadioFaults()
        faults.forgetDelay = 1000
        let radio = RadioHarness(faults)
        radio.connect()
        _ = radio.takeLog()
        radio.advance(5000)
        #expect(radio.takeLog() == [])
        radio.device("Disconnect")
        radio.advance(2000)
        radio.adapter("StopDiscovery")
        radio.advance(60_000)
        #expect(!radio.log.contains { $0.hasPrefix("removed") })
    }

    @Test("a board without a scan response has no name")
    func nameless() {
        var faults = RadioFaults()
        faults.hidesName = true
        let radio = RadioHarness(faults)
        radio.discover()
        let all = radio.call(
            RadioHarness.device, "org.freedesktop.DBus.Properties", "GetAll", [.string("org.bluez.Device1")])
        #expect(radio.value(of: all)?["Alias"] == .string("7C-DF-A1-00-00-01"))
        #expect(radio.value(of: all)?["Name"] == nil)
    }

    @Test(
        "filters decide who is reported",
        arguments: [
            ([("UUIDs", .strings(["021a9004-0382-4aea-bff4-6b3f1c5adfb4"]))], true),
            ([("UUIDs", .strings(["021A9004-0382-4AEA-BFF4-6B3F1C5ADFB4"])), ("Transport", .string("le"))], true),
            ([("UUIDs", .strings(["180f"]))], false), ([("Pattern", .string("PROV_"))], true),
            ([("Pattern", .string("7C:DF"))], true), ([("Pattern", .string("Other"))], false),
            ([("RSSI", .int16(-20))], false), ([("RSSI", .int16(-100))], true),
            ([("Transport", .string("bredr"))], false), ([("DuplicateData", .bool(false))], true), ([], true),
        ] as [([(String, DBusValue)], Bool)])
    func filters(filter: [(String, DBusValue)], isSeen: Bool) {
        let radio = RadioHarness()
        #expect(radio.isAnswered(radio.adapter("SetDiscoveryFilter", [.properties(filter)])))
        radio.discover()
        #expect(radio.log.contains("added dev") == isSeen)
    }

    @Test(
        "a filter that BlueZ would not take is refused",
        arguments: [
            [("UUIDs", .string("x"))], [("Transport", .string("wifi"))], [("RSSI", .int32(-50))],
            [("RSSI", .int16(-50)), ("Pathloss", .uint16(3))], [("Unknown", .bool(true))],
        ] as [[(String, DBusValue)]])
    func badFilters(filter: [(String, DBusValue)]) {
        let radio = RadioHarness()
        let call = radio.adapter("SetDiscoveryFilter", [.properties(filter)])
        #expect(radio.error(of: call) == "org.bluez.Error.InvalidArguments: Invalid arguments in method call")
    }

    @Test("who has no filter hears of everything, whatever others filter")
    func unfilteredSession() {
        let radio = RadioHarness()
        radio.adapter("SetDiscoveryFilter", [.properties([("Pattern", .string("Other"))])], by: ":1.1")
        radio.adapter("StartDiscovery", by: ":1.1")
        radio.adapter("StartDiscovery", by: ":1.2")
        radio.advance(1500)
        #expect(radio.log.contains("added dev"))
    }

    @Test("a start beside another client's scan is refused, and leaves nothing behind")
    func busyScans() {
        var faults = RadioFaults()
        for (text, isTaken) in [("scan-busy=2", true), ("scan-busy", false), ("scan-busy=-1", false)] {
            let wasTaken = faults.set(text)
            #expect(wasTaken == isTaken)
        }
        let radio = RadioHarness(faults)
        for _ in 0..<2 {
            let start = radio.adapter("StartDiscovery")
            #expect(radio.error(of: start) == "org.bluez.Error.InProgress: Operation already in progress")
            let stop = radio.adapter("StopDiscovery")
            #expect(radio.error(of: stop) == "org.bluez.Error.Failed: No discovery started")
        }
        #expect(radio.error(of: radio.adapter("StartDiscovery")) == nil)
        #expect(radio.radio.adapter.isDiscovering)
    }
}
