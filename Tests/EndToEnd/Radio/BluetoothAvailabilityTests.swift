// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// What a person meets whose machine has no Bluetooth to use: an error within two seconds, never an empty list.
@Suite("rainctl without Bluetooth")
struct BluetoothAvailabilityTests {
    private func expectUnavailable(
        _ maker: Maker, _ arguments: [String], environment: [String: String], reason: String, words: String,
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        let began = ContinuousClock.now
        let outcome = try await maker.rainctl(arguments + ["--json"], environment: environment)
        let time = ContinuousClock.now - began
        #expect(outcome.status == 69, "\(outcome.standardOutput)", sourceLocation: location)
        #expect(outcome.failure?["reason"]?.string == reason, sourceLocation: location)
        #expect(outcome.failure?["message"]?.string?.contains(words) == true, sourceLocation: location)
        #expect(outcome.document?["boards"] == nil, sourceLocation: location)
        #expect(time < Timings.limit(.seconds(4)), sourceLocation: location)
    }

    private func commands(_ folder: TemporaryFolder) -> [[String]] {
        [
            ["device", "discover", "--transport", "ble"],
            ["device", "info", "--transport", "ble", "--device-name", "PROV_1"],
            [
                "provision", "--transport", "ble", "--device-name", "PROV_1", "--pop-file", folder.file("pop"),
                "--ssid", "Home", "--passphrase-file", folder.file("wifi"), "--no-mapping",
            ],
        ]
    }

    @Test("no bus")
    func noBus() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            for command in commands(folder) {
                try await expectUnavailable(
                    maker, command, environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(folder.file("absent"))"],
                    reason: "no_bus", words: "systemctl start dbus")
            }
        }
    }

    @Test("no BlueZ")
    func noBlueZ() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let bus = try await SessionBusDaemon(in: folder)
            for command in commands(folder) {
                try await expectUnavailable(
                    maker, command, environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address], reason: "no_bluez",
                    words: "systemctl start bluetooth")
            }
            try await bus.end()
        }
    }

    static let states = [
        ("absent", "no_adapter", "Plug one in"), ("off", "powered_off", "bluetoothctl power on"),
        ("rfkill", "blocked", "rfkill unblock bluetooth"),
    ]

    @Test("no adapter, or one that is off", arguments: states)
    func adapters(state: String, reason: String, words: String) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let radio = try await SimulatedBluetooth.start(["--ble-fault", "adapter=\(state)"], in: folder)
            for command in commands(folder) {
                try await expectUnavailable(
                    maker, command, environment: radio.environment, reason: reason, words: words)
            }
            try await radio.process.terminate()
            try await radio.bus.end()
        }
    }

    @Test("a board that is not heard is reported before the time is over", arguments: 0..<4)
    func absentBoard(index: Int) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let radio = try await SimulatedBluetooth.start(in: folder)
            let pop = ["--pop-file", folder.file("pop")]
            // A board is searched for during 30 s.
            let command =
                [
                    ["device", "info"], ["device", "scan"] + pop, ["device", "reset"] + pop,
                    [
                        "provision", "--ssid", "Home", "--passphrase-file", folder.file("wifi"), "--no-mapping",
                    ] + pop,
                ][index] + ["--transport", "ble", "--device-name", "PROV_nope", "--timeout", "60s", "--json"]
            let outcome = try await maker.rainctl(command, environment: radio.environment)
            #expect(outcome.status == 69, "\(outcome.standardOutput)")
            #expect(outcome.failure?["reason"]?.string == "not_found")
            let message = outcome.failure?["message"]?.string ?? ""
            #expect(
                message.contains("PROV_nope was found; in range: PROV_") && message.contains("powered, near"),
                "\(message)")
            try await radio.process.terminate()
            try await radio.bus.end()
        }
    }

    @Test("so is that no board at all is heard")
    func noBoard() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let radio = try await SimulatedBluetooth.start(in: folder)
            // Once it is provisioned the only board leaves the air.
            let way = ["--transport", "ble", "--json", "--pop-file", folder.file("pop")]
            let only = try await maker.rainctl(
                [
                    "provision", "--ssid", SimulatedBoard.ssid, "--passphrase-file", folder.file("wifi"),
                    "--no-mapping",
                ] + way, environment: radio.environment)
            #expect(only.status == 0, "\(only.standardOutput)")
            _ = try await radio.journal.entry(where: ["event": "state", "change": "service_stopped"])
            _ = try await radio.journal.entry(where: ["event": "state", "change": "link_down"])
            // Without a name the search lasts 20 s.
            let outcome = try await maker.rainctl(
                ["device", "info", "--transport", "ble", "--timeout", "60s", "--json"], environment: radio.environment)
            #expect(outcome.status == 69, "\(outcome.standardOutput)")
            #expect(outcome.failure?["reason"]?.string == "not_found")
            try await radio.process.terminate()
            try await radio.bus.end()
        }
    }

    @Test("a board's name does not steer the terminal that an error is shown on", arguments: [[], ["--json"], ["-vv"]])
    func hostileName(more: [String]) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let radio = try await SimulatedBluetooth.start(
                ["--name", "PROV_\u{1B}[31m\u{9B}1mX\u{7}", "--ble-fault", "abort=1"], in: folder)
            let outcome = try await maker.rainctl(
                [
                    "device", "info", "--transport", "ble", "--device-name", radio.boards[0].address, "--timeout",
                    "120s",
                ] + more, environment: radio.environment)
            #expect(outcome.status == 69)
            let text = outcome.standardOutput + outcome.standardError
            #expect(text.contains("PROV_ [31m"), "\(text)")
            let controls = text.unicodeScalars.filter { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
            #expect(controls.allSatisfy { $0 == "\n" }, "\(text.debugDescription)")
            try await radio.process.terminate()
            try await radio.bus.end()
        }
    }

    @Test("another adapter than there is")
    func otherAdapter() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let radio = try await SimulatedBluetooth.start(in: folder)
            try await expectUnavailable(
                maker, ["device", "discover", "--transport", "ble", "--adapter", "hci9"],
                environment: radio.environment, reason: "no_adapter", words: "hci0")
            try await radio.process.terminate()
            try await radio.bus.end()
        }
    }

    @Test("an adapter that is switched off while it listens is reported, instead of an empty list")
    func switchedOff() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let radio = try await SimulatedBluetooth.start(["--boards", "1", "--name", "Lamp"], in: folder)
            let child = try await maker.start(
                ["device", "discover", "--transport", "ble", "--timeout", "120s", "--json"],
                environment: radio.environment)
            defer { child.kill() }
            while try await !radio.isDiscovering(), child.standardOutput.isEmpty {
                try await Task.sleep(for: .milliseconds(10))
            }
            let off = try await radio.run(
                "busctl",
                ["--system", "set-property", "org.bluez", "/org/bluez/hci0", "org.bluez.Adapter1", "Powered", "b", "0"])
            #expect(off.status == .exited(0))
            #expect(try await child.wait() == .exited(69))
            #expect(child.standardOutput.contains("\"powered_off\""), "\(child.standardOutput)")
        }
    }
}
