// SPDX-License-Identifier: Apache-2.0
import Logging
import RainDBus
import Synchronization
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

    @Test("boards are handed over as they are heard, and the first that will do ends it")
    func streaming() async throws {
        try await withEchoRadio { radio, address in
            let central = try await BluetoothCentral.open(
                bus: .at(address), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let began = ContinuousClock.now
            let heard = Mutex<[String]>([])
            try await central.discover(.anyBoard, for: .waitLimit * 2) { board in
                heard.withLock { $0.append(board.label) }
                return false
            }
            #expect(heard.withLock { $0 } == ["PROV_echo01"])
            #expect(ContinuousClock.now - began < Timings.limit(.seconds(10)))
            try await central.discover(.name("PROV_other"), for: .milliseconds(100)) { _ in true }
            #expect(radio.log.last == "StopDiscovery")
            central.close()
        }
    }
}
