import DBus
import TestSupport
import Testing

@testable import ProtocommBLE

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

    @Test("a change to what is not there makes nothing")
    func lateChange() {
        var tree = ObjectTree()
        tree.apply(changed(Self.device, [("Connected", .bool(true))]))
        #expect(tree.objects.isEmpty)
    }

    @Test("an object that comes again starts anew")
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
