// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@Suite("rainctl device discover")
struct DiscoverTests {
    private func withRadio(
        _ options: [String], _ body: (SimulatedBluetooth, Maker) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let radio = try await SimulatedBluetooth.start(options, in: folder)
            try await body(radio, try Maker(folder))
            try await radio.process.terminate()
            try await radio.bus.end()
        }
    }

    @Test("lists every board that is heard, as lines, as a document, and as a stream")
    func forms() async throws {
        try await withRadio(["--boards", "5"]) { radio, maker in
            let command = ["device", "discover", "--transport", "ble", "--timeout", "3s"]
            let hasFive = { (outcome: Maker.Outcome) in outcome.standardOutput.split(separator: "\n").count >= 5 }
            let lines = try await maker.rainctl(command, environment: radio.environment, until: hasFive)
            let document = try await maker.rainctl(command + ["--json"], environment: radio.environment) {
                ($0.document?["boards"]?.array ?? []).count >= 5
            }
            let stream = try await maker.rainctl(
                command + ["--events", "ndjson"], environment: radio.environment, until: hasFive)
            #expect(lines.status == 0 && document.status == 0 && stream.status == 0)
            let listed = document.document?["boards"]?.array ?? []
            #expect(Set(listed.compactMap { $0["address"]?.string }) == Set(radio.boards.map(\.address)))
            for board in radio.boards {
                #expect(lines.standardOutput.contains("\(board.name)  \(board.address)  -"))
                let found = listed.first { $0["address"]?.string == board.address }
                #expect(found?["name"]?.string == board.name)
                #expect(found?["transport"]?.string == "ble")
                #expect(found?["connected"]?.bool == false)
                #expect(stream.standardOutput.contains("\"address\":\"\(board.address)\""))
            }
            #expect(stream.standardOutput.split(separator: "\n").count == 5)
        }
    }

    @Test("stops as soon as the wanted board is heard, and says when it is not")
    func named() async throws {
        try await withRadio(["--boards", "3"]) { radio, maker in
            let wanted = radio.boards[1]
            let found = try await maker.rainctl(
                [
                    "device", "discover", "--transport", "ble", "--device-name", wanted.name.lowercased(), "--timeout",
                    "120s", "--json",
                ], environment: radio.environment)
            #expect(found.document?["boards"]?.array?.count == 1)
            #expect(found.document?["boards"]?.array?.first?["address"]?.string == wanted.address)
            let absent = try await maker.rainctl(
                [
                    "device", "discover", "--transport", "ble", "--device-name", "PROV_absent", "--timeout", "1s",
                    "--json",
                ],
                environment: radio.environment)
            #expect(absent.status == 69)
            #expect(absent.failure?["reason"]?.string == "not_found")
        }
    }

    @Test("hears boards by another prefix, and by their service")
    func filters() async throws {
        try await withRadio(["--name", "Lamp_1"]) { radio, maker in
            func expect(_ count: Int, _ more: String...) async throws {
                let outcome = try await maker.rainctl(
                    ["device", "discover", "--transport", "ble", "--timeout", "2s", "--json"] + more,
                    environment: radio.environment
                ) { ($0.document?["boards"]?.array ?? []).count >= count }
                #expect(outcome.document?["boards"]?.array?.count == count, "\(more)")
            }
            try await expect(1, "--prefix", "lamp")
            try await expect(0, "--prefix", "PROV")
            try await expect(1, "--service", "021A9004-0382-4AEA-BFF4-6B3F1C5ADFB4")
            try await expect(0, "--service", "1775244d-6b43-439b-877c-060f2d9bed07")
        }
    }

    @Test("device info, scan and reset work over the air")
    func commands() async throws {
        try await withRadio([]) { radio, maker in
            let way = ["--transport", "ble", "--device-name", radio.boards[0].name, "--json"]
            let pop = ["--pop-file", maker.folder.file("pop")]
            let info = try await maker.rainctl(["device", "info"] + way, environment: radio.environment)
            #expect(info.document?["security"]?.integer == 1, "\(info.standardOutput)")
            let scan = try await maker.rainctl(["device", "scan"] + way + pop, environment: radio.environment)
            #expect(scan.document?["networks"]?.array?.first?["ssid"]?.string == SimulatedBoard.ssid)
            let reset = try await maker.rainctl(["device", "reset"] + way + pop, environment: radio.environment)
            #expect(reset.document?["reset"]?.bool == true)
        }
    }

    @Test("the board that another program talks to is not the one that is taken without a name")
    func occupied() async throws {
        try await withRadio(["--boards", "2"]) { radio, maker in
            let busy = radio.boards[0]
            let heard = try await maker.rainctl(
                ["device", "discover", "--transport", "ble", "--device-name", busy.name, "--timeout", "120s"],
                environment: radio.environment)
            #expect(heard.status == 0)
            #expect(try await radio.busctl(busy.path, "Device1", "Connect") != nil)
            let info = try await maker.rainctl(
                ["device", "info", "--transport", "ble", "--json"], environment: radio.environment)
            #expect(info.status == 0, "\(info.standardOutput)\(info.standardError)")
            #expect(try await radio.property(busy.path, "Device1", "Connected") == "b true")
            let links = try radio.journal.entries(where: ["change": "link_up"])
            #expect(links.count == 2, "\(links)")
        }
    }

    @Test("a scan that BlueZ never begins is reported, and no empty list is shown")
    func neverScans() async throws {
        try await withRadio(["--ble-fault", "scan-busy=1000"]) { radio, maker in
            let outcome = try await maker.rainctl(
                ["device", "discover", "--transport", "ble", "--timeout", "10s", "--json"],
                environment: radio.environment)
            #expect(outcome.status == 69, "\(outcome.standardOutput)")
            #expect(outcome.failure?["reason"]?.string == "scan_failed")
            #expect(outcome.failure?["message"]?.string?.contains("Operation already in progress") == true)
        }
    }
}
