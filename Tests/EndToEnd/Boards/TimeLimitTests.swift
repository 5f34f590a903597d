// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Every command ends within `--timeout`, whatever it waits for.
@Suite("rainctl: the time for everything")
struct TimeLimitTests {
    static let silentInputs: [[String]] = [
        ["provision", "--no-mapping", "--ssid", "Home", "--passphrase-file", "wifi", "--pop-stdin"],
        ["provision", "--no-mapping", "--ssid", "Home", "--passphrase-stdin", "--pop-file", "pop"],
        ["provision", "--no-mapping", "--ssid", "Home", "--passphrase-file", "wifi", "--qrcode", "-"],
        ["device", "info", "--pop-stdin"], ["device", "scan", "--qrcode", "-"], ["device", "claim", "--pop-stdin"],
    ]

    @Test("a pipe that stays open and brings nothing holds a command no longer than that", arguments: silentInputs)
    func silentInput(command: [String]) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try CannedCloud(CannedCloud.signIn)
            let maker = try await cloud.maker(in: folder, signedIn: command.contains("claim"))
            let words = command.map { ["wifi", "pop"].contains($0) ? folder.file($0) : $0 }
            let outcome = try await maker.rainctl(
                words + ["--transport", "softap", "--device-host", "127.0.0.1:9", "--timeout", "5s", "--json"],
                input: .open)
            #expect(outcome.status == 16, "\(outcome.standardOutput)\(outcome.standardError)")
            let message = outcome.failure?["message"]?.string ?? ""
            #expect(message.contains("standard input") && message.contains("(--timeout)"), "\(message)")
        }
    }

    @Test("so does a file that is a pipe nobody writes to", arguments: ["--pop-file", "--qrcode"])
    func silentFile(option: String) async throws {
        try await withTemporaryFolder { folder in
            #expect(try await run("mkfifo", [folder.file("pipe")]).status == .exited(0))
            let maker = try Maker(folder)
            let outcome = try await maker.rainctl(
                [
                    "device", "info", "--device-host", "127.0.0.1:9", option, folder.file("pipe"), "--timeout", "500ms",
                    "--json",
                ])
            #expect(outcome.status == 16, "\(outcome.standardOutput)\(outcome.standardError)")
        }
    }

    @Test("the time that it takes to find the board is part of it")
    func findingTheBoard() async throws {
        try await withTemporaryFolder { folder in
            let radio = try await SimulatedBluetooth.start(["--fail", "stuck"], in: folder)
            let maker = try Maker(folder)
            let outcome = try await maker.rainctl(
                [
                    "provision", "--transport", "ble", "--no-mapping", "--pop-file", folder.file("pop"), "--ssid",
                    SimulatedBoard.ssid, "--passphrase-file", folder.file("wifi"), "--timeout", "20s", "--events",
                    "ndjson",
                ], environment: radio.environment)
            #expect(outcome.status == 16, "\(outcome.standardOutput)\(outcome.standardError)")
            // Which boards there are takes one and a half seconds, and the steps what is left.
            let elapsed = try outcome.events().last { $0["state"] == "failed" }?["elapsed_ms"]?.integer
            #expect(try #require(elapsed) < (Timings.isAlone ? 20_000 : 100_000))
            try await radio.process.terminate()
            try await radio.bus.end()
        }
    }
}
