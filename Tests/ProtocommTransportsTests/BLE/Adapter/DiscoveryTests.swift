// SPDX-License-Identifier: Apache-2.0
import Logging
import RainDBus
import TestSupport
import Testing

@testable import ProtocommTransports

@Suite("Looking for boards")
struct DiscoveryTests {
    private static func board(
        _ name: String?, _ address: String = "AA:BB:CC:DD:EE:01", services: [String] = []
    ) -> DiscoveredBoard {
        var tree = ObjectTree()
        var properties: [(String, DBusValue)] = [
            ("Address", .string(address)),
            ("Alias", .string(name ?? String(address.map { $0 == ":" ? "-" : $0 }))), ("UUIDs", .strings(services)),
            ("RSSI", .int16(-50)),
        ]
        if let name { properties.append(("Name", .string(name))) }
        tree.load(
            .dictionary(
                [
                    DBusEntry(
                        .objectPath("/d"),
                        .dictionary(
                            [DBusEntry(.string(BlueZName.device), .properties(properties))], key: "s", value: "a{sv}"))
                ], key: "o", value: "a{sa{sv}}"))
        return DiscoveredBoard(path: "/d", in: tree)!
    }

    private static let known = "021A9004-0382-4AEA-BFF4-6B3F1C5ADFB4"

    static let filters: [(BoardFilter, DiscoveredBoard, Bool)] = [
        (.anyBoard, board("PROV_A1B2C3"), true), (.anyBoard, board("prov_a1b2c3"), true),
        (.anyBoard, board("Lamp"), false), (.anyBoard, board(nil), false),
        (.anyBoard, board(nil, services: [known]), true), (.anyBoard, board("Lamp", services: [known]), true),
        (.name("PROV_a1b2c3"), board("prov_A1B2C3"), true), (.name("PROV_a1b2c"), board("PROV_a1b2c3"), false),
        (.name("PROV_a1b2c3"), board(nil, services: [known]), false),
        (.address("aa:bb:cc:dd:ee:01"), board(nil), true), (.address("aa:bb:cc:dd:ee:02"), board(nil), false),
        (.prefix("my-"), board("MY-lamp"), true), (.prefix("my-"), board("lamp"), false),
        (.prefix("my-"), board(nil), false), (.prefix("", services: [known]), board(nil, services: [known]), true),
        (.prefix("", services: [known]), board("x", services: ["180a"]), false),
        (.prefix("my-", services: [known]), board("my-lamp"), false),
    ]

    @Test("names, services and addresses are compared in either case", arguments: filters)
    func matching(filter: BoardFilter, board: DiscoveredBoard, isMatch: Bool) {
        #expect(filter.matches(board) == isMatch)
    }

    @Test("filters ignore case, and each has its own text")
    func words() {
        let lower: [BoardFilter] = [.name("prov_a"), .prefix("prov_a"), .address("aa:bb:cc:dd:ee:0f"), .anyBoard]
        let upper: [BoardFilter] = [.name("PROV_A"), .prefix("PROV_A"), .address("AA:BB:CC:DD:EE:0F"), .anyBoard]
        #expect(lower == upper && Set(lower) == Set(upper) && Set(lower).count == 4)
        #expect(lower.map(\.label) == ["prov_a", "a board prov_a…", "aa:bb:cc:dd:ee:0f", "a board"])
        #expect(upper.map(\.label) == ["PROV_A", "a board PROV_A…", "AA:BB:CC:DD:EE:0F", "a board"])
        let paths = (lower + upper).map { $0.path(below: "/a") }
        #expect(paths.compactMap(\.self) == Array(repeating: "/a/dev_AA_BB_CC_DD_EE_0F", count: 2))
    }

    @Test("the loudest comes first, and a board whose strength nobody knows last")
    func order() {
        var boards = [-70, nil, -40, -90].map { strength in
            var board = Self.board("PROV_1")
            board.rssi = strength
            return board
        }
        boards.sort(by: DiscoveredBoard.isLouder)
        #expect(boards.map(\.rssi) == [-40, -70, -90, nil])
    }

    @Test("an alias that is only the address is no name")
    func dashedAlias() {
        #expect(Self.board(nil).name == nil)
        #expect(Self.board("PROV_1").name == "PROV_1")
    }
}
