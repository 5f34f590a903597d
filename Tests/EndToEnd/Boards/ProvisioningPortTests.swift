// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

/// What a person meets at the port itself: each fault has a sentence, an exit code and its own remedy.
@Suite("rainctl provision: the port")
struct ProvisioningPortTests {
    /// `provision` without an account at that port, in a system of the test's own.
    private func provision(
        _ maker: Maker, _ port: [String], _ more: [String: String] = [:], within limit: Duration = .waitLimit
    ) async throws -> Maker.Outcome {
        let folder = maker.folder
        return try await maker.rainctl(
            ["provision", "--no-mapping", "--ssid", SimulatedBoard.ssid, "--passphrase-file", folder.file("wifi")]
                + ["--pop-file", folder.file("pop"), "--json"] + port, environment: more, within: limit)
    }

    private static let options = ["--security", "1", "--join-delay", "0.2", "--mapping", "user"]

    private static func board(_ link: String, _ more: [String] = []) -> [String] {
        ["--console", link] + options + more
    }

    @Test("no rights: the port's real group and the command that joins it")
    func rights() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let pty = try PseudoTerminal()
            let group = try #require(getgrnam("dialout")).pointee.gr_gid
            #expect(chown(pty.path, 0, group) == 0 && chmod(pty.path, 0o660) == 0)
            let nobody = try #require(getpwnam("nobody")).pointee
            for name in ["", "pop", "wifi"] { #expect(chown(folder.file(name), nobody.pw_uid, nobody.pw_gid) == 0) }
            let child = try await ChildProcess.start(
                "/usr/bin/setpriv",
                ["--reuid", "\(nobody.pw_uid)", "--regid", "\(nobody.pw_gid)", "--clear-groups"]
                    + [try Executables.path("rainctl"), "provision", "--no-mapping", "--ssid", "Home", "--json"]
                    + ["--passphrase-file", folder.file("wifi"), "--pop-file", folder.file("pop"), "--port", pty.path],
                environment: maker.environment)
            defer { child.kill() }
            #expect(try await child.wait() == .exited(69))
            try await child.drained()
            let failure = try JSONValue(parsing: Array(child.standardOutput.utf8))["error"]
            #expect(failure?["reason"] == "port_denied")
            #expect(failure?["message"]?.string?.contains("sudo usermod -aG dialout $USER") == true)
        }
    }

    @Test("held by ModemManager, which lets go of it: the run waits for that")
    func modemManager() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let tree = try SystemTree(in: folder)
            let board = try await SimulatedBoard.start(Self.board(tree.port("ttyACM0")), in: folder)
            defer { board.process.kill() }
            try tree.addDevice("ttyACM0", socket: "1-1", vendor: "303a", product: "1001")
            try tree.addProcess(812, "ModemManager", holding: [tree.port("ttyACM0")])
            let descriptor = open(tree.port("ttyACM0"), O_RDWR | O_NOCTTY | O_CLOEXEC)
            #expect(descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
            async let outcome = provision(maker, ["--port", tree.port("ttyACM0")], tree.environment)
            try await Task.sleep(for: .seconds(2))
            close(descriptor)
            #expect(try await outcome.status == 0)
        }
    }

    @Test("ModemManager types into a port on which nothing answers: it is named")
    func probedForModem() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let tree = try SystemTree(in: folder)
            let pty = try PseudoTerminal()
            try tree.link("dev/ttyACM0", to: pty.path)
            try tree.addDevice("ttyACM0", socket: "1-1", vendor: "303a", product: "1001", number: "166:0")
            try tree.setProperties(["ID_MM_CANDIDATE=1"], of: "166:0")
            try tree.addProcess(812, "ModemManager")
            let outcome = try await provision(maker, ["--port", tree.port("ttyACM0")], tree.environment)
            outcome.expectFailure(69, "unavailable", says: "ID_MM_DEVICE_IGNORE")
            #expect(outcome.failure?["reason"] == "modem_manager")
        }
    }

    @Test("not a byte comes from it")
    func silent() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let pty = try PseudoTerminal()
            let outcome = try await provision(maker, ["--port", pty.path])
            outcome.expectFailure(69, "unavailable", says: "cable carries data")
            #expect(outcome.failure?["reason"] == "silent_port")
        }
    }

    @Test("its output is not the log of an ESP")
    func foreign() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let pty = try PseudoTerminal()
            let receiver = Task {
                while !Task.isCancelled {
                    await pty.send("$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\r\n")
                    try? await Task.sleep(for: .milliseconds(100))
                }
            }
            defer { receiver.cancel() }
            let outcome = try await provision(maker, ["--port", pty.path])
            outcome.expectFailure(69, "unavailable", says: "Another device, or a board with other firmware, is at")
            #expect(outcome.failure?["reason"] == "not_a_board")
        }
    }

    @Test("its lines are connected: what is sent comes back")
    func loopback() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let pty = try PseudoTerminal()
            pty.switchOffEcho()
            let plug = Task {
                while !Task.isCancelled { await pty.send(await pty.receive()) }
            }
            defer { plug.cancel() }
            let outcome = try await provision(maker, ["--port", pty.path])
            outcome.expectFailure(69, "unavailable", says: "loopback plug")
            #expect(outcome.failure?["reason"] == "loopback")
        }
    }

    /// Each with the log that a board prints again and again.
    private static let logs: [(reason: String, says: String, log: [String])] = [
        (
            "invalid_header", "flash has no boot loader at 0x2000, where an ESP32-C5",
            [
                "ESP-ROM:esp32c5-eco2-20250121", "rst:0x7 (TG0_WDT_HPSYS),boot:0x18 (SPI_FAST_FLASH_BOOT)",
                "invalid header: 0x59b25942", "invalid header: 0x59b25942",
            ]
        ),
        (
            "damaged_image", "is damaged",
            [
                "ESP-ROM:esp32c3-api1-20210207", "rst:0x10 (RTCWDT_RTC_RST),boot:0xd (SPI_FAST_FLASH_BOOT)",
                "SHA-256 comparison failed:", "Attempting to boot anyway...", "entry 0x403809b0",
            ]
        ),
        (
            "no_proof", "rainctl device claim --host",
            [
                "ESP-ROM:esp32s3-20210327", "rst:0x3 (RTC_SW_SYS_RST),boot:0x18 (SPI_FAST_FLASH_BOOT)",
                "I (33) boot: ESP-IDF v5.0 2nd stage bootloader",
                "E (3210) app_wifi: Failed to get PoP from NVS, Please perform Claiming.",
                "abort() was called at PC 0x42008abc on core 0",
            ]
        ),
        ("other_firmware", "runs MicroPython", ["MicroPython v1.22.2 on 2024-02-22; ESP32C3 module with ESP32C3"]),
        (
            "unnamed_board", "WiFiProv.printQR",
            [
                "ESP-ROM:esp32c3-api1-20210207", "rst:0x1 (POWERON),boot:0xc (SPI_FAST_FLASH_BOOT)",
                "Provisioning started", "Give Credentials of your access point using smartphone app",
            ]
        ),
        (
            "no_provisioning", "The board may be set up already: look for it in your account.",
            ["ESP-ROM:esp32c3-api1-20210207", "rst:0x1 (POWERON),boot:0xc (SPI_FAST_FLASH_BOOT)", "hi"]
        ),
    ]

    @Test("a board's log names the cause", arguments: logs)
    func reported(reason: String, says: String, log: [String]) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let pty = try PseudoTerminal()
            pty.switchOffEcho()
            let board = Task {
                // Opening a port may discard what came before.
                _ = await pty.receive()
                while !Task.isCancelled {
                    await pty.send(log.map { $0 + "\r\n" }.joined())
                    try? await Task.sleep(for: .seconds(11))
                }
            }
            defer { board.cancel() }
            let outcome = try await provision(maker, ["--port", pty.path])
            outcome.expectFailure(69, "unavailable", says: says)
            #expect(outcome.failure?["reason"]?.string == reason, "\(outcome.standardOutput)")
        }
    }

    @Test(
        "it went away and came back while the board was looked at, under the same name or another", arguments: [0, 1])
    func comesBack(number: Int) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let root = folder.file("system")
            // A USB port of the simulated board gets another name each time, as the kernel gives one where the first is still in use.
            var (place, name) = (["--usb", "bridge", "--system-root", root], "ttyUSB0")
            if number == 0 {
                let tree = try SystemTree(in: folder)
                try tree.addDevice(
                    "ttyACM0", socket: "1-1", vendor: "303a", product: "1002", serial: "7C:DF:A1:00:00:01")
                (place, name) = (["--console", tree.port("ttyACM0")], "ttyACM0")
            }
            let board = try await SimulatedBoard.start(
                place + Self.options + ["--boot-delay", "1.5", "--console-fault", "replug=0.5"], in: folder)
            defer { board.process.kill() }
            let ended = try await provision(
                maker, ["--port", "\(root)/dev/\(name)"], ["RAINKIT_SYSTEM_ROOT": root])
            #expect(ended.status == 0, "\(ended.standardOutput)\(ended.standardError)")
        }
    }

    @Test("--wait has a board waited for that is plugged in later", arguments: [true, false])
    func wait(isNamed: Bool) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let tree = try SystemTree(in: folder)
            try tree.addDevice("ttyUSB0", socket: "1-1", vendor: "10c4", product: "ea60", serial: "0001")
            let place = isNamed ? ["--port", tree.port("ttyUSB0"), "--wait"] : ["--transport", "serial", "--wait"]
            async let outcome = provision(maker, place, tree.environment)
            try await Task.sleep(for: .seconds(1))
            let board = try await SimulatedBoard.start(Self.board(tree.port("ttyUSB0")), in: folder)
            defer { board.process.kill() }
            let ended = try await outcome
            #expect(ended.status == 0, "\(ended.standardOutput)\(ended.standardError)")
        }
    }

    @Test("without --wait a port that is not there is an error at once")
    func absent() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let tree = try SystemTree(in: folder)
            let outcome = try await provision(maker, ["--port", tree.port("ttyACM0")], tree.environment)
            outcome.expectFailure(69, "unavailable", says: "plugged in")
            #expect(outcome.failure?["reason"] == "no_port")
        }
    }
}
