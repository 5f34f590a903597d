// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import RainDBus
import Testing

@testable import firmware_sim

@Suite("A board's way to the air on a real adapter")
struct AdapterFrontTests {
    private static let address = "AA:BB:CC:00:00:01"
    private static let device = "/org/bluez/hci1/dev_11_22_33_44_55_66"

    private func tree(powered: Bool = true, alias: String = "workbench", plays: Bool = true) -> [DBusValue] {
        func object(_ name: String, _ address: String, plays: Bool) -> DBusEntry {
            let interfaces =
                [
                    DBusEntry(
                        .string("org.bluez.Adapter1"),
                        .properties([
                            ("Address", .string(address)), ("Powered", .bool(powered)), ("Alias", .string(alias)),
                        ]))
                ]
                + (plays ? ["org.bluez.GattManager1", "org.bluez.LEAdvertisingManager1"] : []).map {
                    DBusEntry(.string($0), .properties([]))
                }
            return DBusEntry(.objectPath("/org/bluez/" + name), .dictionary(interfaces, key: "s", value: "a{sv}"))
        }
        return [
            .dictionary(
                [object("hci0", "AA:BB:CC:00:00:00", plays: true), object("hci1", Self.address, plays: plays)],
                key: "o",
                value: "a{sa{sv}}")
        ]
    }

    private func front(_ choice: AdapterChoice = .address(address)) -> AdapterFront {
        AdapterFront(choice: choice, name: "PROV_c0ffee")
    }

    /// A front that has come as far as the air.
    private func onAir() -> AdapterFront {
        var front = front()
        _ = front.start()
        _ = front.handle(.replied(.listObjects, tree()))
        _ = front.handle(.replied(.rename("PROV_c0ffee"), []))
        _ = front.handle(.replied(.registerApplication, []))
        #expect(front.handle(.replied(.registerAdvertisement, [])) == [.onAir])
        return front
    }

    @Test(
        "finds its adapter by name and by address, and asks for one thing after the other",
        arguments: [AdapterChoice.name("hci1"), .address(address)])
    func order(choice: AdapterChoice) {
        var front = front(choice)
        #expect(front.start() == [.call(.listObjects)])
        #expect(front.handle(.replied(.listObjects, tree(powered: false))) == [.call(.powerOn)])
        #expect(front.adapter?.path == "/org/bluez/hci1")
        #expect(front.handle(.replied(.powerOn, [])) == [.call(.rename("PROV_c0ffee"))])
        #expect(front.handle(.replied(.rename("PROV_c0ffee"), [])) == [.call(.registerApplication)])
        #expect(front.handle(.replied(.registerApplication, [])) == [.call(.registerAdvertisement)])
        #expect(front.handle(.replied(.registerAdvertisement, [])) == [.onAir])
    }

    @Test("with its adapter, it asks for the signals about this adapter only, and without it for all")
    func rules() {
        var front = front()
        let all = front.rules
        #expect(all.count == 1 && !all.joined().contains("hci"))
        _ = front.start()
        #expect(front.rules == all)
        _ = front.handle(.replied(.listObjects, tree()))
        let own = front.rules
        #expect(own.count == 3 && own.allSatisfy { $0.contains("='/org/bluez/hci1") })
        _ = front.handle(.vanished(path: "/org/bluez/hci1"))
        #expect(front.rules == all)
        _ = front.handle(.appeared(path: "/org/bluez/hci1"))
        _ = front.handle(.replied(.listObjects, tree()))
        #expect(front.rules == own)
        _ = front.handle(.service(isThere: false))
        #expect(front.rules == all)
    }

    @Test("an adapter that cannot be renamed still plays the board")
    func noName() {
        var front = front()
        _ = front.start()
        _ = front.handle(.replied(.listObjects, tree()))
        let error = DBusError(.remote, name: "org.bluez.Error.Failed", message: "no")
        #expect(front.handle(.failed(.rename("PROV_c0ffee"), error)) == [.call(.registerApplication)])
    }

    @Test("an answer to an earlier question changes nothing")
    func lateAnswer() {
        var front = onAir()
        #expect(front.handle(.replied(.listObjects, tree())).isEmpty)
        #expect(front.handle(.replied(.registerApplication, [])).isEmpty)
        #expect(front.phase == .onAir)
    }

    static let refusals: [(DBusError, AdapterRefusal.Reason, String)] = [
        (
            DBusError(.remote, name: "org.freedesktop.DBus.Error.ServiceUnknown", message: ""), .noService,
            "systemctl start bluetooth"
        ),
        (
            DBusError(.remote, name: "org.freedesktop.DBus.Error.Spawn.ChildExited", message: ""), .noService,
            "systemctl start bluetooth"
        ),
        (
            DBusError(.remote, name: "org.freedesktop.systemd1.NoSuchUnit", message: ""), .noService,
            "systemctl start bluetooth"
        ),
        (DBusError(.remote, name: "org.freedesktop.DBus.Error.AccessDenied", message: "Rejected"), .noRights, "root"),
        (DBusError(.remote, name: "org.bluez.Error.Blocked", message: "Blocked"), .blocked, "rfkill unblock bluetooth"),
        (DBusError(.timeout, message: "late"), .silent, "systemctl restart bluetooth"),
        (DBusError(.remote, name: "org.bluez.Error.NotReady", message: "Not Ready"), .refused, "Not Ready"),
    ]

    @Test("reports the cause and the remedy in one sentence", arguments: refusals)
    func refused(error: DBusError, reason: AdapterRefusal.Reason, remedy: String) {
        var front = front()
        _ = front.start()
        guard case .refused(let refusal)? = front.handle(.failed(.listObjects, error)).first else {
            Issue.record("not refused")
            return
        }
        #expect(refusal.reason == reason)
        #expect(refusal.description.contains(remedy))
    }

    @Test("names the adapters that there are when the one it wants is not there")
    func otherAdapters() {
        var front = front(.name("hci7"))
        _ = front.start()
        guard case .refused(let refusal)? = front.handle(.replied(.listObjects, tree())).first else {
            Issue.record("not refused")
            return
        }
        #expect(refusal.reason == .noAdapter)
        #expect(refusal.description.contains("hci1 \(Self.address)"))
        var other = self.front(.name("hci7"))
        _ = other.start()
        let none: [DBusValue] = [.dictionary([], key: "o", value: "a{sa{sv}}")]
        #expect(
            other.handle(.replied(.listObjects, none)) == [
                .refused(AdapterRefusal(.noAdapter, "this machine has no Bluetooth adapter"))
            ])
    }

    @Test("an adapter that does not advertise is refused")
    func cannotAdvertise() {
        var front = front()
        _ = front.start()
        guard case .refused(let refusal)? = front.handle(.replied(.listObjects, tree(plays: false))).first else {
            Issue.record("not refused")
            return
        }
        #expect(refusal.reason == .cannotAdvertise)
    }

    @Test("a link begins with its first request, once, and ends once")
    func link() {
        var front = onAir()
        #expect(front.handle(.heard(device: Self.device)) == [.linkOpened])
        #expect(front.handle(.connected(device: Self.device, true)).isEmpty)
        #expect(front.handle(.heard(device: Self.device)).isEmpty)
        #expect(front.handle(.connected(device: Self.device, false)) == [.linkLost])
        #expect(front.handle(.vanished(path: Self.device)).isEmpty)
        #expect(front.handle(.heard(device: Self.device)) == [.linkOpened])
        #expect(front.handle(.vanished(path: Self.device)) == [.linkLost])
    }

    @Test("who asked last has the one link")
    func newcomer() {
        var front = onAir()
        let other = "/org/bluez/hci1/dev_00_00_00_00_00_02"
        _ = front.handle(.heard(device: Self.device))
        #expect(front.handle(.heard(device: other)) == [.linkLost, .linkOpened])
        #expect(front.handle(.connected(device: Self.device, false)).isEmpty)
        #expect(front.peer == other)
    }

    @Test("a mouse that connects to the machine is left alone")
    func mouse() {
        var front = onAir()
        let mouse = "/org/bluez/hci1/dev_00_00_00_00_00_02"
        #expect(front.handle(.connected(device: mouse, true)).isEmpty)
        #expect(front.peer == nil)
        #expect(!front.callsAtShutdown().contains(.disconnect(device: mouse)))
        _ = front.handle(.heard(device: Self.device))
        #expect(front.handle(.connected(device: mouse, true)).isEmpty)
        #expect(front.peer == Self.device)
        #expect(front.handle(.connected(device: mouse, false)).isEmpty)
        #expect(front.handle(.vanished(path: mouse)).isEmpty)
        #expect(front.callsAtShutdown().contains(.disconnect(device: Self.device)))
        #expect(
            front.handle(.serving(false)) == [
                .call(.unregisterAdvertisement), .call(.unregisterApplication), .call(.disconnect(device: Self.device)),
                .linkLost,
            ])
    }

    @Test("links of another adapter are ignored")
    func otherAdaptersLinks() {
        var front = onAir()
        for path in ["/org/bluez/hci0/dev_11_22_33_44_55_66", "/org/bluez/hci10/dev_11_22_33_44_55_66"] {
            #expect(front.handle(.heard(device: path)).isEmpty)
        }
    }

    @Test("when the Bluetooth service ends the link is lost, and when it is back everything is registered again")
    func restart() {
        var front = onAir()
        _ = front.handle(.heard(device: Self.device))
        #expect(front.handle(.service(isThere: false)) == [.linkLost])
        #expect(front.handle(.service(isThere: true)) == [.call(.listObjects)])
        // No adapter yet: it comes a moment later.
        let none: [DBusValue] = [.dictionary([], key: "o", value: "a{sa{sv}}")]
        _ = front.handle(.replied(.listObjects, none))
        #expect(front.handle(.appeared(path: "/org/bluez/hci1")) == [.call(.listObjects)])
        // It bears the board's name still.
        #expect(
            front.handle(.replied(.listObjects, tree(alias: "PROV_c0ffee"))) == [.call(.rename("PROV_c0ffee"))])
        #expect(front.adapter?.alias == "workbench")
    }

    @Test("a board that stops leaves the air and ends the link")
    func stops() {
        var front = onAir()
        _ = front.handle(.heard(device: Self.device))
        #expect(
            front.handle(.serving(false)) == [
                .call(.unregisterAdvertisement), .call(.unregisterApplication), .call(.disconnect(device: Self.device)),
                .linkLost,
            ])
        #expect(front.handle(.serving(false)).isEmpty)
        #expect(front.handle(.service(isThere: true)).isEmpty)
    }

    @Test("gives the adapter back under its own name")
    func callsAtShutdown() {
        var front = onAir()
        #expect(
            front.callsAtShutdown() == [.unregisterAdvertisement, .unregisterApplication, .rename("workbench")])
        _ = front.handle(.heard(device: Self.device))
        #expect(front.callsAtShutdown().contains(.disconnect(device: Self.device)))
    }

    @Test("leaves an adapter alone that it never renamed, because it could not be switched on")
    func neverRenamed() {
        var front = front()
        _ = front.start()
        _ = front.handle(.replied(.listObjects, tree(powered: false)))
        _ = front.handle(.failed(.powerOn, DBusError(.remote, name: "org.bluez.Error.Blocked", message: "rfkill")))
        #expect(front.callsAtShutdown().isEmpty)
    }

    @Test("a restart of the board breaks its link, and leaves it on the air")
    func rebooted() {
        var front = onAir()
        #expect(front.handle(.rebooted).isEmpty)
        _ = front.handle(.heard(device: Self.device))
        #expect(front.handle(.rebooted) == [.call(.disconnect(device: Self.device)), .linkLost])
        #expect(front.phase == .onAir && front.peer == nil)
    }
}

@Suite("The choice of an adapter")
struct AdapterChoiceTests {
    @Test(
        "is a name of the kernel's or an address",
        arguments: [
            ("hci0", AdapterChoice.name("hci0")), ("hci12", .name("hci12")),
            ("00:aa:01:00:00:42", .address("00:AA:01:00:00:42")),
        ])
    func reads(text: String, choice: AdapterChoice) { #expect(AdapterChoice(argument: text) == choice) }

    @Test(
        "is nothing else",
        arguments: [
            "", "hci", "hcix", "hci-1", "eth0", "00:aa:01:00:00", "00:aa:01:00:00:4", "00:aa:01:00:00:4g",
            "00-aa-01-00-00-42",
        ])
    func refuses(text: String) { #expect(AdapterChoice(argument: text) == nil) }
}

@Suite("What a board tells the Bluetooth service")
struct BoardObjectsTests {
    private let objects = BoardObjects(
        server: GATTApplication(endpoints: [.control, .scan, .session, .config, .version, .userMapping]),
        name: "PROV_c0ffee")

    @Test("each object comes after the one that it belongs to, and every characteristic has its description")
    func order() throws {
        let tree = try #require(objects.managedObjects(below: BoardObjects.application).entries)
        let paths = tree.compactMap(\.key.text)
        #expect(paths.count == 1 + 2 * 6)
        var seen: Set<String> = []
        for entry in tree {
            for parent in ["Service", "Characteristic"] {
                if let path = entry.value.entries?.first?.value[parent]?.text { #expect(seen.contains(path)) }
            }
            seen.insert(entry.key.text ?? "")
        }
    }

    @Test("the advertisement is a separate object")
    func advertisement() throws {
        let tree = try #require(objects.managedObjects(below: BoardObjects.advertisement).entries)
        #expect(tree.map(\.key.text) == [BoardObjects.advertisement])
        let all = objects.properties(of: .advertisement)
        #expect(all.first { $0.0 == "LocalName" }?.1 == .string("PROV_c0ffee"))
        #expect(all.first { $0.0 == "ServiceUUIDs" }?.1 == .strings([GATTApplication.rainMakerService]))
    }

    @Test(
        "another program's path is not an object",
        arguments: ["/", "/rainkit", "/rainkit/board/service0/char6", "/rainkit/board/service0/char0/desc1"])
    func unknown(path: String) { #expect(objects.object(at: path) == nil) }

    @Test(
        "errors go by the names that BlueZ turns into codes",
        arguments: [
            (ATTError.invalidOffset, "org.bluez.Error.InvalidOffset", "ATT error"),
            (.invalidValueLength, "org.bluez.Error.InvalidValueLength", "ATT error"),
            (.bluedroidError, "org.bluez.Error.Failed", "133"), (.invalidPDU, "org.bluez.Error.Failed", "128"),
        ])
    func errors(error: ATTError, name: String, message: String) {
        let answer = AdapterAnswer(error)
        #expect(answer.name == name)
        #expect(answer.message == message)
    }
}
