// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

/// The unit of docs/workshop.md for a gateway that provisions what appears.
@Suite("rainctl batch as a service")
struct BatchServiceTests {
    private static let unit = ServiceUnit(name: "rainkit-batch.service")

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
                try Self.unit.arguments(["%d": credentials, "${SSID}": SimulatedBoard.ssid]) + [
                    "--station-timeout", "1s",
                ]
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
        let exposure = try await Self.unit.exposure((name: "batch.conf", content: "SSID=Home\n"), limit: 15)
        #expect(try readFile(Repository.path("docs/workshop.md")).contains("the exposure as \(exposure) of 10"))
    }
}
