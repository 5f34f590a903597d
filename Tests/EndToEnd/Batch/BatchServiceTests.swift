// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

/// The unit of docs/workshop.md for a gateway that provisions what appears.
@Suite("rainctl batch as a service")
struct BatchServiceTests {
    private static let unit = "packaging/systemd/rainkit-batch.service"

    /// The command of the unit, as systemd starts it.
    private static func command(credentials: String, ssid: String) throws -> [String] {
        let unit = try readFile(Repository.path(Self.unit)).replacing("\\\n", with: " ")
        let line = try #require(unit.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
        let words = line.dropFirst("ExecStart=".count).split(separator: " ").map {
            $0.replacing("%d", with: credentials).replacing("${SSID}", with: ssid)
        }
        try #require(words.first == "/usr/bin/rainctl")
        return words.dropFirst().map(String.init)
    }

    @Test("it provisions what appears, says to systemd that it works, and ends as it should")
    func service() async throws {
        try await withTemporaryFolder { folder in
            let shop = try await Workshop.open(3, folder, radio: ["--join-delay", "1"])
            let credentials = folder.file("credentials")
            try folder.makeFolder("credentials")
            try folder.write(SimulatedBoard.passphrase, to: "credentials/wifi")
            try folder.write(SimulatedBoard.proofOfPossession, to: "credentials/pop")
            let exported = try await shop.maker.rainctl(
                "account", "export", "--credential", "\(credentials)/rainkit-sim")
            try #require(exported.status == 0)
            // The service has a folder that the session of its account is not in.
            try folder.makeFolder("private/rainkit")
            chmod(folder.file("private/rainkit"), 0o700)
            let systemd = try DatagramSocket(folder.file("notify"))
            var environment = shop.radio.environment
            environment["XDG_STATE_HOME"] = folder.file("private")
            environment["CREDENTIALS_DIRECTORY"] = credentials
            environment["NOTIFY_SOCKET"] = folder.file("notify")
            let command =
                try Self.command(credentials: credentials, ssid: SimulatedBoard.ssid) + ["--station-timeout", "1s"]
            // It dies while a board is joining. The next start continues the same batch.
            let died = try await shop.maker.start(command, environment: environment)
            try await systemd.wait(for: "READY=1")
            while try shop.radio.journal.entries().allSatisfy({ $0["change"] != "credentials_received" }) {
                try await Task.sleep(for: .milliseconds(5))
            }
            died.kill()
            _ = try await died.wait()
            let service = try await shop.maker.start(command, environment: environment)
            try await systemd.wait(for: "READY=1")
            try await systemd.wait(for: "STATUS=3 of 3 boards done, 0 running, 0 failed")
            try await systemd.wait(for: "WATCHDOG=1")
            service.signal(SIGTERM)
            try await systemd.wait(for: "STOPPING=1")
            let ended = try await service.wait()
            #expect(ended == .exited(0) || ended == .exited(130), "\(service.standardError)")
            #expect(try shop.confirmed().sorted() == shop.radio.boards.map(\.nodeID).sorted())

            // The record is where the page says.
            let page = try readFile(Repository.path("docs/workshop.md"))
            let line = try #require(page.split(separator: "\n").first { $0.hasPrefix("sqlite3 ") })
            let query = line.replacing("/var/lib/private", with: folder.file("private"))
            let read = try await run("/bin/sh", ["-c", String(query)], environment: ["PATH": "/usr/bin:/bin"])
            #expect(read.standardOutput.matches(of: /done/).count == 3, "\(read)")
            try await shop.close()
        }
    }

    @Test("systemd accepts the unit, and finds it well closed")
    func unit() async throws {
        try await withTemporaryFolder { folder in
            let unit = try readFile(Repository.path(Self.unit)).replacing("/usr/bin/rainctl", with: "/bin/true")
                .replacing("/etc/rainkit", with: folder.file("etc"))
            try folder.makeFolder("etc")
            try folder.write("SSID=Home\n", to: "etc/batch.conf")
            try folder.write(unit, to: "rainkit-batch.service")
            let path = folder.file("rainkit-batch.service")
            let verified = try await run(
                "systemd-analyze", ["verify", "--man=no", path], environment: ["SYSTEMD_LOG_LEVEL": "warning"])
            #expect(!verified.standardError.contains("rainkit-batch"), "\(verified.standardError)")
            // In tenths of its scale from 0 to 10.
            let rated = try await run("systemd-analyze", ["security", "--offline=true", "--threshold=15", path])
            #expect(rated.status == .exited(0), "\(rated.standardOutput.suffix(200))")
            let page = try readFile(Repository.path("docs/workshop.md"))
            let exposure = try #require(rated.standardOutput.firstMatch(of: /exposure level for .*: ([0-9.]+)/))
            #expect(page.contains("the exposure as \(exposure.1) of 10"))
        }
    }
}
