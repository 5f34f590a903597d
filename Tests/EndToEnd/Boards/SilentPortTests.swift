// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// A board that started before `rainctl` opened its port: its log, with its name and its proof of possession, was printed to nobody.
@Suite("rainctl provision: a board that has already started")
struct SilentPortTests {
    private static let options = [
        "--usb", "native", "--boot-log", "led-light", "--console-noise", "none", "--security", "1", "--mapping", "user",
        "--join-delay", "0.2",
    ]

    private static func provision(in folder: TemporaryFolder, _ more: [String] = []) -> [String] {
        [
            "provision", "--no-mapping", "--ssid", SimulatedBoard.ssid, "--passphrase-file", folder.file("wifi"),
        ] + more
    }

    @Test("is restarted through the lines of its port, and what it then prints is enough")
    func lines() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let root = folder.file("system")
            let radio = try await SimulatedBluetooth.start(
                Self.options + ["--system-root", root, "--already-running", "--modem-lines"], in: folder)
            var environment = radio.environment
            environment["RAINKIT_SYSTEM_ROOT"] = root
            let outcome = try await maker.rainctl(Self.provision(in: folder, ["--json"]), environment: environment)
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            let said = outcome.standardError
            let advice = try #require(said.firstRange(of: "press RESET now"), "\(said)")
            let restart = try #require(said.firstRange(of: "was restarted through DTR and RTS"), "\(said)")
            #expect(advice.lowerBound < restart.lowerBound)
            #expect(try radio.journal.entries(where: ["change": "rebooted"]).count == 1)
            try await radio.process.terminate()
            try await radio.bus.end()
        }
    }

    @Test("is found over Bluetooth by its MAC address meanwhile, if its proof of possession is given")
    func nearby() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let root = folder.file("system")
            let radio = try await SimulatedBluetooth.start(
                Self.options + ["--system-root", root, "--already-running"], in: folder)
            var environment = radio.environment
            environment["RAINKIT_SYSTEM_ROOT"] = root
            let outcome = try await maker.rainctl(
                Self.provision(in: folder, ["--pop-file", folder.file("pop"), "--json"]), environment: environment)
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.standardError.contains("Found \(radio.boards[0].name)"), "\(outcome.standardError)")
            #expect(!outcome.standardError.contains("was restarted"), "\(outcome.standardError)")
            try await radio.process.terminate()
            try await radio.bus.end()
        }
    }

    @Test("is unplugged and plugged in again by a person, who is asked to while the port is listened to")
    func replugged() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let root = folder.file("system")
            let options = Self.options + ["--system-root", root, "--mac", "7CDFA1BEEF02", "--name", "PROV_beef02"]
            let before = try await SimulatedBoard.start(
                options + ["--http", "127.0.0.1:0", "--already-running"], in: folder)
            let host = try #require(before.http)
            let person = try await Person.start(
                try Executables.path("rainctl"),
                Self.provision(in: folder, ["--device-host", host, "--port", "\(root)/dev/ttyACM0"]),
                environment: maker.environment.merging(["RAINKIT_SYSTEM_ROOT": root]) { $1 })
            try await person.hears("press RESET now, or unplug the board and plug it in again")
            try await before.process.terminate()
            let after = try await SimulatedBoard.start(options + ["--http", host], in: folder)
            defer { after.process.kill() }
            try await person.hears("The board is back")
            #expect(try await person.wait() == .exited(0), "\(person.transcript)")
            #expect(try after.journal.entries(where: ["change": "joined"]).count == 1)
        }
    }
}
