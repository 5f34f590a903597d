// SPDX-License-Identifier: Apache-2.0
import RainDBus
import TestSupport
import Testing

@testable import ProtocommTransports

@Suite("The tree of BlueZ's objects")
struct ObjectTreeTests {
    private static let device = "/org/bluez/hci0/dev_01"

    private func signal(_ interface: String, _ member: String, _ arguments: [DBusValue], path: String = "/")
        -> DBusMessage
    {
        DBusMessage(
            kind: .signal, serial: 1, replySerial: nil, sender: ":1.1", destination: nil, path: path,
            interface: interface, member: member, errorName: nil, expectsReply: false, arguments: arguments)
    }

    private func added(_ path: String, _ properties: [(String, DBusValue)]) -> DBusMessage {
        signal(
            "org.freedesktop.DBus.ObjectManager", "InterfacesAdded",
            [
                .objectPath(path),
                .dictionary(
                    [DBusEntry(.string(BlueZName.device), .properties(properties))], key: "s", value: "a{sv}"),
            ])
    }

    private func changed(_ path: String, _ properties: [(String, DBusValue)], invalidated: [String] = []) -> DBusMessage
    {
        signal(
            "org.freedesktop.DBus.Properties", "PropertiesChanged",
            [.string(BlueZName.device), .properties(properties), .strings(invalidated)], path: path)
    }

    private func removed(_ path: String, _ interfaces: [String]) -> DBusMessage {
        signal(
            "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved", [.objectPath(path), .strings(interfaces)])
    }

    @Test("objects come, change and go")
    func life() {
        var tree = ObjectTree()
        tree.apply(added(Self.device, [("RSSI", .int16(-40)), ("Alias", .string("A"))]))
        #expect(tree[Self.device, BlueZName.device]?["RSSI"]?.integer == -40)
        tree.apply(changed(Self.device, [("RSSI", .int16(-41)), ("Connected", .bool(true))]))
        #expect(tree[Self.device, BlueZName.device]?["RSSI"]?.integer == -41)
        #expect(tree[Self.device, BlueZName.device]?["Alias"]?.text == "A")
        tree.apply(changed(Self.device, [], invalidated: ["RSSI"]))
        #expect(tree[Self.device, BlueZName.device]?["RSSI"] == nil)
        tree.apply(removed(Self.device, ["org.bluez.Other1"]))
        #expect(tree[Self.device, BlueZName.device] != nil)
        tree.apply(removed(Self.device, [BlueZName.device]))
        #expect(tree.objects.isEmpty)
    }

    @Test("after any signals, the boards and their names are those of the properties")
    func boards() {
        var generator = SeededGenerator(seed: 11)
        func pick<Value>(_ values: [Value]) -> Value { values.randomElement(using: &generator)! }
        let names = ["PROV_A", "prov_a", "PROV_B", "é"]
        let adapter = "/org/bluez/hci0"
        var tree = ObjectTree()
        for _ in 0..<4000 {
            let path = pick([adapter, "/org/bluez/hci1"]) + "/dev_0\(Int.random(in: 0..<6, using: &generator))"
            let all: [(String, DBusValue)] = [
                ("Address", .string(String(path.suffix(2)))), ("Name", .string(pick(names))),
                ("Alias", .string(pick(names))), ("RSSI", .int16(-40)), ("Connected", .bool(pick([true, false]))),
                ("UUIDs", .strings([pick(["AB", "cd"])])), ("Name", .uint16(1)),
            ]
            let some = all.filter { _ in Bool.random(using: &generator) }
            switch Int.random(in: 0..<10, using: &generator) {
            case 0: tree.apply(removed(path, [BlueZName.device]))
            case 1, 2: tree.apply(added(path, some))
            case 3: tree.apply(changed(path, [], invalidated: [pick(all).0]))
            default: tree.apply(changed(path, some))
            }
            let fresh = tree.objects.keys.compactMap { DiscoveredBoard(path: $0, in: tree) }
            #expect(Set(tree.boards.values) == Set(fresh))
            #expect(Set(tree.boards(below: adapter)) == Set(fresh.filter { $0.path.hasPrefix(adapter) }))
            for name in names {
                let found = tree.boards(named: name, below: adapter)
                #expect(
                    Set(found)
                        == Set(tree.boards(below: adapter).filter { BoardFilter.name(name).matches($0) }))
            }
        }
        tree.load(.dictionary([], key: "o", value: "a{sa{sv}}"))
        #expect(tree.boards.isEmpty && tree.boards(named: "prov_a", below: adapter).isEmpty)
    }

    @Test("a change to what is not there makes nothing")
    func lateChange() {
        var tree = ObjectTree()
        tree.apply(changed(Self.device, [("Connected", .bool(true))]))
        #expect(tree.objects.isEmpty)
    }

    @Test("an object that comes again starts without its old state")
    func replaced() {
        var tree = ObjectTree()
        tree.apply(added(Self.device, [("RSSI", .int16(-40)), ("Connected", .bool(true))]))
        tree.apply(added(Self.device, [("Alias", .string("B"))]))
        #expect(tree[Self.device, BlueZName.device]?["Connected"] == nil)
    }

    @Test("there is a limit to what the radio around can fill in")
    func bounds() {
        var tree = ObjectTree()
        for number in 0..<(ObjectTree.maximumObjects + 10) { tree.apply(added("/o\(number)", [])) }
        #expect(tree.objects.count == ObjectTree.maximumObjects)
    }

    @Test("and to how much it says of each")
    func lengths() {
        var tree = ObjectTree()
        tree.apply(added(Self.device, [("Alias", .string("A")), ("Connected", .bool(true))]))
        let before = tree.text
        #expect(before == Self.device.utf8.count + 1)
        tree.apply(
            changed(
                Self.device,
                [("ManufacturerData", .bytes([UInt8](repeating: 0, count: 1000))), ("Icon", .string("phone"))]))
        #expect(tree[Self.device, BlueZName.device]?.count == 2)
        tree.apply(changed(Self.device, [("Alias", .string(String(repeating: "A", count: 9000)))]))
        #expect(tree[Self.device, BlueZName.device]?["Alias"] == nil)
        let long = String(repeating: "n", count: 8000)
        var number = 0
        while number < 10_000 {
            tree.apply(added("/o\(number)", [("Name", .string(long)), ("Connected", .bool(true))]))
            number += 1
        }
        #expect(tree.text <= ObjectTree.maximumText)
        // What is small goes on.
        tree.apply(changed(Self.device, [("Connected", .bool(false))]))
        #expect(tree[Self.device, BlueZName.device]?["Connected"]?.boolean == false)
        for number in 0..<number { tree.apply(removed("/o\(number)", [BlueZName.device])) }
        tree.apply(removed(Self.device, [BlueZName.device]))
        #expect(tree.text == 0 && tree.objects.isEmpty)
    }

    @Test("what BlueZ keeps for this process is distinguished from everything else")
    func dispensable() {
        func isDispensable(_ steps: (inout ObjectTree) -> Void) -> Bool {
            var tree = ObjectTree()
            steps(&tree)
            tree.adopt(Self.device)
            tree.apply(changed(Self.device, [("Connected", .bool(true))]))
            return tree.isDispensable(Self.device)
        }
        let new = added(Self.device, [("Alias", .string("A"))])
        #expect(isDispensable { $0.apply(new) })
        #expect(!isDispensable { _ in })
        #expect(!isDispensable { $0.apply(self.added(Self.device, [("Connected", .bool(true))])) })
        #expect(
            !isDispensable { tree in
                tree.apply(new)
                for isConnected in [true, false] {
                    tree.apply(self.changed(Self.device, [("Connected", .bool(isConnected))]))
                }
            })
        #expect(
            !isDispensable { tree in
                let entry = DBusEntry(.objectPath(Self.device), new.arguments[1])
                tree.load(.dictionary([entry], key: "o", value: "a{sa{sv}}"))
            })
        for property in ["Paired", "Bonded", "Trusted"] {
            #expect(
                !isDispensable { tree in
                    tree.apply(new)
                    tree.apply(self.changed(Self.device, [(property, .bool(true))]))
                })
        }
        #expect(
            isDispensable { tree in
                tree.apply(new)
                tree.adopt(Self.device)
                tree.apply(self.removed(Self.device, [BlueZName.device]))
                tree.apply(new)
            })
    }

    @Test("an object of a kind that nobody asks about is not kept")
    func otherKinds() {
        var tree = ObjectTree()
        tree.apply(
            signal(
                "org.freedesktop.DBus.ObjectManager", "InterfacesAdded",
                [
                    .objectPath("/org/bluez/hci0/dev_01/player0"),
                    .dictionary(
                        [DBusEntry(.string("org.bluez.MediaPlayer1"), .properties([("Name", .string("A"))]))],
                        key: "s", value: "a{sv}"),
                ]))
        #expect(tree.objects.isEmpty)
    }

    @Test("signals with arguments of any other type change nothing that was there")
    func mistyped() {
        let odd: [DBusValue] = [
            .byte(1), .string("x"), .objectPath(Self.device), .bytes([1]), .strings(["RSSI"]), .properties([]),
            .variant(.variant(.int32(1))), .array([], of: "(ss)"), .structure([.string("a")]),
        ]
        var tree = ObjectTree()
        tree.apply(added(Self.device, [("Alias", .string("A"))]))
        let members = [
            ("org.freedesktop.DBus.ObjectManager", "InterfacesAdded"),
            ("org.freedesktop.DBus.ObjectManager", "InterfacesRemoved"),
            ("org.freedesktop.DBus.Properties", "PropertiesChanged"), ("org.bluez.Adapter1", "Odd"),
        ]
        for (interface, member) in members {
            for first in odd {
                tree.apply(signal(interface, member, [first], path: Self.device))
                for second in odd {
                    tree.apply(signal(interface, member, [first, second], path: Self.device))
                    for third in odd {
                        tree.apply(signal(interface, member, [first, second, third], path: Self.device))
                    }
                }
            }
        }
        #expect(tree[Self.device, BlueZName.device]?["Alias"]?.text == "A")
    }
}
