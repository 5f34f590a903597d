// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

/// The unit of docs/home-assistant.md.
@Suite("rainctl bridge as a service")
struct BridgeServiceTests {
    private static let unit = ServiceUnit(name: "rainkit-bridge.service")

    @Test("it says to systemd that it works, survives outages, and ends as it should")
    func service() async throws {
        try await OnlineBoards.with(options: ["--no-basic-ingest"]) { scene in
            let folder = scene.maker.folder
            let broker = try await HomeBroker.start(in: folder)
            defer { broker.kill() }
            let credentials = folder.file("credentials")
            try folder.makeFolder("credentials")
            try folder.write("secret", to: "credentials/mqtt")
            let exported = try await scene.done("account", "export", "--credential", "\(credentials)/rainkit-sim")
            #expect(exported.status == 0)
            try folder.makeFolder("private/rainkit")
            chmod(folder.file("private/rainkit"), 0o700)
            let systemd = try DatagramSocket(folder.file("notify"))
            let environment = [
                "XDG_STATE_HOME": folder.file("private"), "CREDENTIALS_DIRECTORY": credentials,
                "NOTIFY_SOCKET": folder.file("notify"), "WATCHDOG_USEC": "1000000",
            ]
            let command = try Self.unit.arguments([
                "%d": credentials, "${BROKER}": broker.address, "${MQTT_USER}": "rainkit",
            ])
            let service = try await scene.maker.start(command, environment: environment)
            defer { service.kill() }
            try await systemd.wait(for: "READY=1")
            try await systemd.wait(for: "STATUS=1 board")
            try await systemd.wait(for: "WATCHDOG=1")
            try await broker.restart()
            try await broker.state("rainkit/nodelight/Light/state", contains: "\"state\":\"ON\"")
            try await systemd.wait(for: "WATCHDOG=1")
            service.signal(SIGTERM)
            try await systemd.wait(for: "STOPPING=1")
            #expect(try await service.wait() == .exited(0), "\(service.standardError)")
        }
    }

    @Test("systemd accepts the unit, and finds it well closed")
    func unit() async throws {
        let settings = "BROKER=mqtt://localhost\nMQTT_USER=rainkit\n"
        _ = try await Self.unit.exposure((name: "bridge.conf", content: settings), limit: 20)
    }
}
