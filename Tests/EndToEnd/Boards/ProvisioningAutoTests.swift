// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import rainctl

/// `rainctl provision` with no word about where the board is.
@Suite("rainctl provision: finds the board")
struct ProvisioningAutoTests {
    private static let question = BoardQuestions.question

    private static func command(_ maker: Maker, _ more: [String] = []) -> [String] {
        [
            "provision", "--no-mapping", "--ssid", SimulatedBoard.ssid, "--passphrase-file", maker.folder.file("wifi"),
            "--pop-file", maker.folder.file("pop"),
        ] + more
    }

    private static func radio(_ more: [String], in folder: TemporaryFolder) async throws -> SimulatedBluetooth {
        try await SimulatedBluetooth.start(
            ["--security", "1", "--mapping", "user", "--join-delay", "0.2"] + more, in: folder)
    }

    @Test("the only one that advertises, where nothing is on a cable")
    func bluetooth() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let tree = try SystemTree(in: folder)
            let radio = try await Self.radio([], in: folder)
            let outcome = try await maker.rainctl(
                Self.command(maker, ["--json"]), environment: radio.environment.merging(tree.environment) { $1 })
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.standardError.contains("over Bluetooth"))
            try await radio.process.terminate()
            try await radio.bus.end()
        }
    }

    @Test("the one on a cable, whatever advertises beside it")
    func cable() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let tree = try SystemTree(in: folder)
            let radio = try await Self.radio(["--boards", "3"], in: folder)
            try tree.addDevice("ttyUSB0", socket: "1-1", vendor: "10c4", product: "ea60")
            let board = try await SimulatedBoard.start(
                ["--console", tree.port("ttyUSB0"), "--security", "1", "--mapping", "user", "--join-delay", "0.2"],
                in: folder)
            defer { board.process.kill() }
            let outcome = try await maker.rainctl(
                Self.command(maker, ["--json"]), environment: radio.environment.merging(tree.environment) { $1 })
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(try board.journal.entries(where: ["event": "state", "change": "joined"]).count == 1)
            try await radio.process.terminate()
            try await radio.bus.end()
        }
    }

    @Test("several and nobody to ask: an error that names them, and the option for each")
    func several() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let tree = try SystemTree(in: folder)
            let radio = try await Self.radio(["--boards", "2"], in: folder)
            let outcome = try await maker.rainctl(
                Self.command(maker, ["--json"]), environment: radio.environment.merging(tree.environment) { $1 })
            outcome.expectFailure(64, "usage", says: "--device-name PROV_")
            #expect(outcome.failure?["reason"] == "several_boards")
            try await radio.process.terminate()
            try await radio.bus.end()
        }
    }

    @Test("several and a person: a menu with name, way and signal, answered by a number")
    func menu() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let tree = try SystemTree(in: folder)
            var boards: [SimulatedBoard] = []
            for (index, socket) in ["1-1", "1-2"].enumerated() {
                let name = "ttyUSB\(index)"
                try tree.addDevice(name, socket: socket, vendor: "10c4", product: "ea60", title: "CP2102N Bridge")
                boards.append(
                    try await SimulatedBoard.start(
                        [
                            "--console", tree.port(name), "--security", "1", "--mapping", "user", "--join-delay", "0.2",
                        ], in: folder))
            }
            defer { for board in boards { board.process.kill() } }
            let person = try await Person.start(
                try Executables.path("rainctl"), Self.command(maker),
                environment: maker.environment.merging(tree.environment) { $1 })
            try await person.hears("1  \(tree.port("ttyUSB0"))  on a cable  CP2102N Bridge")
            try await person.answers(Self.question, "7")
            try await person.answers(Self.question, "r")
            try await person.hears("2  \(tree.port("ttyUSB1"))  on a cable")
            try await person.answers(Self.question, "2")
            #expect(try await person.wait() == .exited(0), "\(person.transcript)")
            #expect(try boards[1].journal.entries(where: ["event": "state", "change": "joined"]).count == 1)
            #expect(try boards[0].journal.entries(where: ["event": "state", "change": "joined"]).isEmpty)
        }
    }

    @Test("none: within a second it reports where it searches, and at the end each result")
    func none() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let tree = try SystemTree(in: folder)
            let radio = try await SimulatedBluetooth.start(["--ble-fault", "adapter=off"], in: folder)
            let environment = maker.environment.merging(tree.environment) { $1 }.merging(radio.environment) { $1 }
            // The search ends only half a second before the command's time. A busy machine may notice the latter first.
            let limit = ContinuousClock.now + .waitLimit
            var (end, transcript) = (ChildExit.exited(16), "")
            while end == .exited(16), ContinuousClock.now < limit {
                let person = try await Person.start(
                    try Executables.path("rainctl"), Self.command(maker, ["--wait", "--timeout", "8"]),
                    environment: environment)
                try await person.hears("Looking for a board on a cable, over Bluetooth")
                // Long before the search is over.
                try await person.hears("Looking for a board over Bluetooth failed: ")
                // The live line.
                try await person.hears("plug it in")
                try await person.hears("of 8 s)")
                end = try await person.wait()
                transcript = person.transcript
            }
            #expect(end == .exited(69))
            #expect(transcript.contains("hci0 is off"), "\(transcript)")
            try await radio.process.terminate()
            try await radio.bus.end()
        }
    }

    @Test("one that is plugged in while it looks")
    func pluggedIn() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let tree = try SystemTree(in: folder)
            try tree.addDevice("ttyACM0", socket: "1-1", vendor: "303a", product: "1002")
            async let outcome = maker.rainctl(
                Self.command(maker, ["--wait", "--json"]), environment: tree.environment)
            try await Task.sleep(for: .seconds(1))
            let board = try await SimulatedBoard.start(
                ["--console", tree.port("ttyACM0"), "--security", "1", "--mapping", "user", "--join-delay", "0.2"],
                in: folder)
            defer { board.process.kill() }
            let ended = try await outcome
            #expect(ended.status == 0, "\(ended.standardOutput)\(ended.standardError)")
        }
    }
}
