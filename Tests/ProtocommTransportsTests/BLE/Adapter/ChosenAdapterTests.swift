// SPDX-License-Identifier: Apache-2.0
import RainDBus
import Testing

@testable import ProtocommTransports

@Suite("The adapter that was chosen")
struct ChosenAdapterTests {
    private static let (one, other) = ("00:11:22:33:44:55", "66:77:88:99:AA:BB")

    private static func tree(_ addresses: [String: String]) -> ObjectTree {
        var tree = ObjectTree()
        tree.load(
            .dictionary(
                addresses.map { name, address in
                    DBusEntry(
                        .objectPath("/org/bluez/" + name),
                        .dictionary(
                            [
                                DBusEntry(
                                    .string(BlueZName.adapter),
                                    .properties([("Address", .string(address)), ("Powered", .bool(true))]))
                            ], key: "s", value: "a{sv}"))
                }, key: "o", value: "a{sa{sv}}"))
        return tree
    }

    struct Case: Sendable {
        var wanted: String?
        var now: [String: String]
        var isThere = false
        var hasMoved = false
        var isReplaceable = false
    }

    static let cases: [Case] = [
        Case(wanted: nil, now: ["hci0": one, "hci1": other], isThere: true),
        Case(wanted: nil, now: ["hci1": one], hasMoved: true, isReplaceable: true),
        Case(wanted: nil, now: ["hci1": other], isReplaceable: true), Case(wanted: nil, now: [:]),
        // Any will do, and this is one.
        Case(wanted: nil, now: ["hci0": other, "hci1": one], isThere: true),
        Case(wanted: one, now: ["hci0": one], isThere: true), Case(wanted: one, now: ["hci1": one], hasMoved: true),
        Case(wanted: one, now: ["hci1": other]), Case(wanted: one, now: ["hci0": other]),
        // Two that changed places.
        Case(wanted: one, now: ["hci0": other, "hci1": one], hasMoved: true),
        Case(wanted: "hci0", now: ["hci0": one], isThere: true), Case(wanted: "hci0", now: ["hci1": one]),
        Case(wanted: "hci0", now: ["hci0": other, "hci1": one], isThere: true),
    ]

    @Test("is known by what it was chosen by", arguments: cases)
    func found(_ machine: Case) {
        let before = Self.tree(["hci0": Self.one])
        let chosen = ChosenAdapter(path: "/org/bluez/hci0", wanted: machine.wanted, in: before)
        var now = Self.tree(machine.now)
        #expect(chosen.trouble(in: now)?.code == (machine.isThere ? nil : .noAdapter))
        #expect(chosen.hasMoved(in: now) == machine.hasMoved)
        #expect(chosen.isReplaceable(in: now) == machine.isReplaceable)
        // Without BlueZ nothing is known of any.
        now.isServed = false
        let trouble = chosen.trouble(in: now)
        #expect(trouble?.code == .noBlueZ)
        // It is installed, because it ran a moment before.
        #expect(trouble?.message.contains("systemctl restart") == true && trouble?.message.contains("apt") == false)
        #expect(!chosen.hasMoved(in: now) && !chosen.isReplaceable(in: now))
    }

    @Test("is distinguished from the objects below it")
    func paths() {
        #expect(AdapterChoice.isAdapter("/org/bluez/hci0") && AdapterChoice.isAdapter("/org/bluez/hci12"))
        #expect(!AdapterChoice.isAdapter("/org/bluez") && !AdapterChoice.isAdapter("/org/bluez/hci0/dev_01"))
    }
}
