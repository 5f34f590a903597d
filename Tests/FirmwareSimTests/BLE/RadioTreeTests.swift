// SPDX-License-Identifier: Apache-2.0
import RainDBus
import Testing

@testable import firmware_sim

@Suite("The simulated radio: objects and properties")
struct RadioTreeTests {
    @Test("managed objects come sorted, parents first, with the paths that clients take apart")
    func managedObjects() throws {
        let radio = RadioHarness(boards: 30)
        radio.discover()
        radio.device("Connect")
        radio.advance(200)
        radio.advance(300)
        let call = radio.call("/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
        let value = try #require(radio.value(of: call))
        #expect(value.signature == "a{oa{sa{sv}}}")
        let paths = (value.entries ?? []).compactMap(\.key.text)
        #expect(paths.count == 2 + 30 + 1 + 12)
        #expect(paths == paths.sorted())
        for (index, path) in paths.enumerated() where path != "/org/bluez" {
            let parent = path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
            #expect(paths[..<index].contains(parent), "\(path)")
        }
        #expect(paths.contains("/org/bluez/hci0/dev_7C_DF_A1_00_00_01/service000c/char000d/desc000f"))
    }

    @Test("properties that do not apply are absent")
    func absent() {
        let radio = RadioHarness()
        radio.connect()
        func properties(_ path: String, _ interface: String) -> DBusValue? {
            let call = radio.call(path, "org.freedesktop.DBus.Properties", "GetAll", [.string(interface)])
            return radio.value(of: call)
        }
        let before = properties(RadioHarness.characteristic, "org.bluez.GattCharacteristic1")
        #expect(before?["MTU"] == .uint16(256) && before?["Value"] == nil && before?["Notifying"] == nil)
        #expect(before?["Flags"] == .strings(["read", "write"]))
        #expect(before?["Service"] == .objectPath(RadioHarness.service))
        radio.read()
        radio.adapter("StopDiscovery")
        radio.device("Disconnect")
        radio.advance(2000)
        let after = properties(RadioHarness.characteristic, "org.bluez.GattCharacteristic1")
        #expect(after?["MTU"] == nil && after?["Value"] == .bytes([]))
        #expect(properties(RadioHarness.device, "org.bluez.Device1")?["RSSI"] == nil)
        #expect(properties(RadioHarness.descriptor, "org.bluez.GattDescriptor1")?["Value"] == nil)
    }

    @Test("one property is a variant of its own type")
    func get() {
        let radio = RadioHarness()
        let call = radio.call(
            "/org/bluez/hci0", "org.freedesktop.DBus.Properties", "Get",
            [.string("org.bluez.Adapter1"), .string("Roles")])
        #expect(radio.value(of: call) == .variant(.strings(["central"])))
    }

    @Test("what may be written is, and told; the rest is refused")
    func set() {
        let radio = RadioHarness()
        radio.discover()
        func set(_ path: String, _ interface: String, _ name: String, _ value: DBusValue) -> String? {
            let call = radio.call(
                path, "org.freedesktop.DBus.Properties", "Set", [.string(interface), .string(name), .variant(value)])
            return radio.isAnswered(call) ? radio.error(of: call) ?? "done" : nil
        }
        #expect(set(RadioHarness.device, "org.bluez.Device1", "Trusted", .bool(true)) == "done")
        #expect(radio.log.contains("changed dev Trusted=true"))
        #expect(set("/org/bluez/hci0", "org.bluez.Adapter1", "Alias", .string("bench")) == "done")
        #expect(
            set("/org/bluez/hci0", "org.bluez.Adapter1", "Powered", .string("yes"))
                == "org.bluez.Error.InvalidArguments: Invalid arguments in method call")
        #expect(
            set(RadioHarness.device, "org.bluez.Device1", "Connected", .bool(true))?.contains("PropertyReadOnly")
                == true)
        #expect(
            set(RadioHarness.device, "org.bluez.Device1", "Colour", .string("red"))?.contains("InvalidArgs") == true)
    }

    @Test(
        "unknown objects and methods have the bus's own errors",
        arguments: [
            ("/org/bluez/hci1", "org.bluez.Adapter1", "StartDiscovery", "UnknownObject"),
            ("/org/bluez/hci0/dev_00_00_00_00_00_00", "org.bluez.Device1", "Connect", "UnknownObject"),
            ("/org/bluez/hci0", "org.bluez.Adapter1", "Fly", "UnknownMethod"),
            ("/org/bluez/hci0", "org.bluez.Device1", "Connect", "UnknownMethod"),
            ("/org/bluez/hci0", "org.bluez.Adapter1", "RemoveDevice", "UnknownMethod"),
            ("/", "org.freedesktop.DBus.Properties", "Get", "UnknownMethod"),
        ])
    func unknown(path: String, interface: String, member: String, name: String) {
        let radio = RadioHarness()
        let call = radio.call(path, interface, member)
        #expect(radio.error(of: call)?.hasPrefix("org.freedesktop.DBus.Error.\(name)") == true)
    }

    @Test("a method may be called without naming its interface")
    func noInterface() {
        let radio = RadioHarness()
        let call = radio.call("/org/bluez/hci0", nil, "StartDiscovery")
        #expect(radio.error(of: call) == nil && radio.isAnswered(call))
    }

    @Test("an agent belongs to its connection")
    func agents() {
        let radio = RadioHarness()
        func agent(_ member: String, _ arguments: [DBusValue], by sender: String) -> String? {
            radio.error(
                of: radio.call("/org/bluez", "org.bluez.AgentManager1", member, arguments, by: sender))
        }
        let path = DBusValue.objectPath("/agent")
        #expect(agent("RegisterAgent", [path, .string("")], by: ":1.1") == nil)
        #expect(agent("RequestDefaultAgent", [path], by: ":1.1") == nil)
        #expect(agent("RegisterAgent", [path, .string("")], by: ":1.1")?.contains("AlreadyExists") == true)
        #expect(agent("RegisterAgent", [path, .string("Telepathy")], by: ":1.2")?.contains("InvalidArgum") == true)
        #expect(agent("UnregisterAgent", [path], by: ":1.2")?.contains("DoesNotExist") == true)
        radio.senderVanishes(":1.1")
        #expect(agent("UnregisterAgent", [path], by: ":1.1")?.contains("DoesNotExist") == true)
    }

    @Test("introspection names the children and what they can do")
    func introspection() {
        let radio = RadioHarness()
        radio.connect()
        func xml(_ path: String) -> String {
            radio.value(of: radio.call(path, "org.freedesktop.DBus.Introspectable", "Introspect"))?.text ?? ""
        }
        #expect(xml("/").contains("<node name=\"org\"/>") && xml("/").contains("GetManagedObjects"))
        #expect(xml("/org").contains("<node name=\"bluez\"/>"))
        #expect(xml("/org/bluez/hci0").contains("<node name=\"dev_7C_DF_A1_00_00_01\"/>"))
        #expect(xml("/org/bluez/hci0").contains("<property name=\"Powered\" type=\"b\" access=\"readwrite\"/>"))
        #expect(xml(RadioHarness.characteristic).contains("<node name=\"desc0015\"/>"))
    }
}

@Suite("Timers of the simulated radio")
struct TimerQueueTests {
    @Test("events come out by their time, those of the same time as they were added")
    func order() {
        var queue = TimerQueue<Int>()
        let times: [UInt64] = [5, 3, 9, 3, 1, 5, 7, 3]
        for (index, time) in times.enumerated() { queue.add(index, at: time) }
        #expect(queue.nextDue == 1)
        var order: [Int] = []
        while let (event, _) = queue.next(until: 5) { order.append(event) }
        #expect(order == [4, 1, 3, 7, 0, 5])
        let early = queue.next(until: 6)
        #expect(queue.nextDue == 7 && early == nil)
    }
}

@Suite("Faults of the simulated radio")
struct RadioFaultsTests {
    @Test("each key is understood")
    func keys() {
        var faults = RadioFaults()
        for text in [
            "abort=0.35", "abort-quiet=0.1", "lose=.05", "losses=3", "stale=1", "cache=0", "connect=0.02", "resolve=3",
            "disconnect=0.1", "forget=2", "encrypt", "uuids3", "noname", "stack=bluedroid", "limit=257",
            "adapter=rfkill",
        ] {
            let isTaken = faults.set(text)
            #expect(isTaken, "\(text)")
        }
        #expect(faults.abort == 0.35 && faults.quietAbort == 0.1 && faults.lose == 0.05 && faults.stale == 1)
        #expect(faults.connectDelay == 20 && faults.resolveDelay == 3000 && faults.forgetDelay == 2000)
        #expect(faults.needsPairing && faults.listsGenericServices && faults.hidesName)
        #expect(faults.stack == .bluedroid && faults.valueLimit == 257 && faults.adapter == .rfkill)
    }

    @Test(
        "anything else is refused",
        arguments: [
            "", "abort", "abort=2", "abort=-1", "abort=nan", "encrypt=1", "stack=zephyr", "limit=0", "limit=513",
            "adapter=broken", "resolve=-1", "resolve=inf", "colour=red",
        ])
    func refused(text: String) {
        var faults = RadioFaults()
        let isTaken = faults.set(text)
        #expect(!isTaken)
    }
}
