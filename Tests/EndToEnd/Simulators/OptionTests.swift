// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ProtocommCore
import RainJSON
import TestSupport
import Testing

@testable import firmware_sim

@Suite("Options of firmware-sim")
struct OptionTests {
    @Test(
        "what cannot work is refused with exit code 64 and a sentence",
        arguments: [
            ["--security", "0"], ["--http", "nonsense"], ["--http", "127.0.0.1:0", "--security", "3"],
            ["--http", "127.0.0.1:0", "--mapping", "ch-resp"], ["--http", "127.0.0.1:0", "--no-pop", "--pop", "x"],
            ["--http", "127.0.0.1:0", "--no-pop", "--security", "2"], ["--http", "127.0.0.1:0", "--wifi", "no-colon"],
            ["--http", "127.0.0.1:0", "--ap", "{}x"], ["--http", "127.0.0.1:0", "--mqtt", "127.0.0.1:1"],
            ["--http", "127.0.0.1:0", "--claimed", "--unclaimed"], ["--http", "203.0.113.1:80"],
            ["--http", "127.0.0.1:0", "--key", "/no/such/file"], ["--http", "127.0.0.1:0", "--fail", "often"],
            ["--http", "127.0.0.1:0", "--join-delay", "-1"],
            ["--http", "127.0.0.1:0", "--unclaimed", "--cert", "/dev/null"],
            ["--http", "127.0.0.1:0", "--claim-fault", "not-ready"],
            ["--http", "127.0.0.1:0", "--unclaimed", "--claim-fault", "bad-luck"],
            ["--http", "127.0.0.1:0", "--unclaimed", "--mac", "7CDFA1"],
            ["--http", "127.0.0.1:0", "--unclaimed", "--mqtt", "127.0.0.1:1", "--ca", "/no/such/file"],
        ])
    func refused(arguments: [String]) async throws {
        let finished = try await run(try Executables.path("firmware-sim"), arguments)
        #expect(finished.status == .exited(64))
        #expect(finished.standardError.hasPrefix("Error: ") && finished.standardOutput.isEmpty)
    }

    @Test("the same seed makes the same board")
    func seed() async throws {
        var lines: Set<String> = []
        for seed in ["7", "7", "8"] {
            try await withChildProcess(
                try Executables.path("firmware-sim"), ["--http", "127.0.0.1:0", "--seed", seed]
            ) { child in
                let line = try await child.readyLine()
                let ready = try JSONValue(parsing: Array(line.utf8))
                lines.insert("\(ready["node_id"] as Any) \(ready["qr"] as Any)")
            }
        }
        #expect(lines.count == 2)
    }
}
