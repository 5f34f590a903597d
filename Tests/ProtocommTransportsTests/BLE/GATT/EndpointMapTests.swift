// SPDX-License-Identifier: Apache-2.0
import ProtocommCore
import RainDBus
import Testing

@testable import ProtocommTransports

@Suite("Endpoints of a board by their characteristics")
struct EndpointMapTests {
    private static let service = "021a9004-0382-4aea-bff4-6b3f1c5adfb4"

    private func characteristic(_ id: String, service: String = Self.service) -> EndpointMap.Characteristic {
        EndpointMap.Characteristic(
            path: "/c\(id)", uuid: "021a\(id)-0382-4aea-bff4-6b3f1c5adfb4", service: service, description: nil)
    }

    @Test("the name that the board gives counts, whatever the id")
    func names() {
        var map = EndpointMap()
        map.add(characteristic("ff51"), name: Array("ch_resp".utf8))
        map.add(characteristic("ff99"), name: Array("prov-session".utf8))
        #expect(map[.challengeResponse] == "/cff51")
        #expect(map[.session] == "/cff99")
    }

    @Test("where no name can be read, the id says what it usually does")
    func ids() {
        var map = EndpointMap()
        for id in ["ff4f", "ff50", "ff51", "ff52", "ff53", "ff54"] { map.add(characteristic(id), name: nil) }
        #expect(map[.control] == "/cff4f")
        #expect(map[.scan] == "/cff50")
        #expect(map[.session] == "/cff51")
        #expect(map[.config] == "/cff52")
        #expect(map[.version] == "/cff53")
        #expect(map[.userMapping] == "/cff54")
        #expect(map.paths.count == 6)
        #expect(map.isComplete)
    }

    @Test("an id counts only in a UUID that is otherwise the service's")
    func foreignID() {
        var map = EndpointMap()
        map.add(characteristic("ff51", service: "1775244d-6b43-439b-877c-060f2d9bed07"), name: nil)
        #expect(map.paths.isEmpty)
    }

    @Test(
        "an invalid name is not accepted",
        arguments: [[], Array("prov session".utf8), [0x80, 0x81], [UInt8](repeating: 0x61, count: 65), [0]])
    func badNames(_ name: [UInt8]) {
        var map = EndpointMap()
        map.add(characteristic("ff51"), name: name)
        #expect(map.paths.isEmpty)
    }

    @Test("characteristics of standard services are not a board's")
    func standardServices() {
        var tree = ObjectTree()
        func object(_ path: String, _ interface: String, _ properties: [(String, DBusValue)]) -> DBusEntry {
            DBusEntry(
                .objectPath(path),
                .dictionary([DBusEntry(.string(interface), .properties(properties))], key: "s", value: "a{sv}"))
        }
        var entries: [DBusEntry] = []
        let services = [("1", "00001801-0000-1000-8000-00805f9b34fb"), ("2", Self.service.uppercased())]
        for (number, uuid) in services {
            entries.append(object("/d/s\(number)", BlueZName.gattService, [("UUID", .string(uuid))]))
            entries.append(
                object(
                    "/d/s\(number)/c", BlueZName.characteristic,
                    [
                        ("UUID", .string("021AFF51-0382-4AEA-BFF4-6B3F1C5ADFB4")),
                        ("Service", .objectPath("/d/s\(number)")),
                    ]))
        }
        entries.append(
            object(
                "/d/s2/c/x", BlueZName.descriptor, [("UUID", .string("00002901-0000-1000-8000-00805F9B34FB"))]))
        entries.append(
            object(
                "/d/s2/c/w", BlueZName.descriptor, [("UUID", .string("00002902-0000-1000-8000-00805f9b34fb"))]))
        entries.append(object("/other/s2/c", BlueZName.characteristic, [("UUID", .string("x"))]))
        tree.load(.dictionary(entries, key: "o", value: "a{sa{sv}}"))
        let found = EndpointMap.characteristics(of: "/d", in: tree)
        #expect(found.map(\.path) == ["/d/s2/c"])
        #expect(found.first?.description == "/d/s2/c/x")
        #expect(found.first?.uuid == "021aff51-0382-4aea-bff4-6b3f1c5adfb4")
    }

    @Test(
        "the MTU limits the size of a message to the board",
        arguments: [(nil, 512), (23, 512), (256, 512), (500, 481), (517, 481)])
    func limits(mtu: Int?, bytes: Int) {
        #expect(ValueLimit.bytes(mtu: mtu) == bytes)
    }
}
