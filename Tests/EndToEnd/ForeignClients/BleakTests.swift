// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// bleak, the BLE library beneath Espressif's client and most of Python's, meets the simulated radio.
@Suite("bleak")
struct BleakTests {
    /// Runs the script with the Python that the official client brings.
    private func session(_ radio: SimulatedBluetooth) async throws -> JSONValue {
        let client = try await ForeignClient.officialClient.path()
        let python = client.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" } + "/python"
        let finished = try await radio.run(
            python, [Repository.path("Tests/EndToEnd/ForeignClients/Clients/bleak_session.py")])
        guard finished.status == .exited(0) else { throw ProcessError(finished.standardError) }
        return try JSONValue(parsing: Array(finished.standardOutput.utf8))
    }

    @Test("finds a board, reads its descriptions and values, meets its errors by name, leaves and comes back")
    func session() async throws {
        try await withTemporaryFolder { folder in
            let radio = try await SimulatedBluetooth.start(
                ["--name", "PROV_b1eaac", "--ble-fault", "disconnect=0.2"], in: folder)
            let result = try await session(radio)
            #expect(result["name"] == "PROV_b1eaac" && result["address"] == .string(radio.boards[0].address))
            let endpoints = try #require(result["endpoints"]?.members)
            #expect(
                Set(endpoints.map(\.name)) == [
                    "prov-ctrl", "prov-scan", "prov-session", "prov-config", "proto-ver", "cloud_user_assoc",
                ])
            #expect(result["endpoints"]?["cloud_user_assoc"] == "021aff54-0382-4aea-bff4-6b3f1c5adfb4")
            #expect(result["properties"] == .array(["read", "write"]))
            #expect(result["before"] == 0 && result["empty_write_keeps"] == true)
            #expect(result["version"]?.string?.contains("netprov-v1.2") == true)
            #expect(result["too_long"]?.string?.contains("Invalid Attribute Value Length") == true)
            #expect(result["refused"]?.string?.contains("Invalid PDU") == true)
            #expect(result["connected"] == true, "NimBLE keeps the link")
            #expect(result["value_after_reconnect"] == 0)
            let links = try radio.journal.entries(where: ["event": "state", "change": "link_up"])
            #expect(links.count == 2)
        }
    }
}
