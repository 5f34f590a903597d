// SPDX-License-Identifier: Apache-2.0
import RainDBus
import RainJSON
import TestSupport
import Testing

@Suite("A board on a real adapter, with bluetoothd's side played")
struct AdapterPeripheralTests {
    private static let device = "/org/bluez/hci1/dev_11_22_33_44_55_66"
    private static let onDevice: [(String, DBusValue)] = [
        ("device", .objectPath(device)), ("link", .string("LE")), ("mtu", .uint16(517)),
    ]

    /// A board on hci1 of its own service, and its journal.
    private func onAir(
        _ arguments: [String] = [],
        body: (BluetoothServiceDouble, ChildProcess, JSONValue, _ journal: String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let bus = try await SessionBusDaemon(in: folder)
            let service = try await BluetoothServiceDouble(
                on: bus.address, adapters: BluetoothServiceDouble.Adapter.two)
            let journal = folder.file("journal.ndjson")
            try await withChildProcess(
                try Executables.path("firmware-sim"),
                SimulatedBoard.arguments(
                    ["--ble-adapter", "hci1", "--name", "PROV_c0ffee", "--security", "0", "--journal", journal]
                        + arguments),
                environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]
            ) { board in
                let ready = try JSONValue(parsing: Array(try await board.readyLine().utf8))
                try await body(service, board, ready, journal)
            }
            await service.stop()
            try await bus.end()
        }
    }

    private func path(of endpoint: String, _ service: BluetoothServiceDouble) async throws -> String {
        for object in service.objects?.entries ?? [] {
            guard let path = object.key.text, object.value["org.bluez.GattDescriptor1"] != nil else { continue }
            let name = try await service.read(path, Self.onDevice, descriptor: true)
            if String(decoding: name, as: UTF8.self) == endpoint {
                return try #require(object.value["org.bluez.GattDescriptor1"]?["Characteristic"]?.text)
            }
        }
        throw BluetoothServiceDouble.Failure(name: "none", message: "no characteristic is described as \(endpoint)")
    }

    private func changes(_ path: String) throws -> [String] {
        try journal(path).compactMap { $0["change"]?.string }
    }

    @Test("powers the adapter, lends it the board's name, registers, and gives everything back")
    func registers() async throws {
        try await onAir { service, board, ready, _ in
            #expect(
                service.calls == [
                    "GetManagedObjects", "Set Powered true", "Set Alias PROV_c0ffee", "RegisterApplication",
                    "RegisterAdvertisement",
                ])
            #expect(ready["ble"]?["adapter"]?.string == "/org/bluez/hci1")
            #expect(ready["ble"]?["boards"]?.array?.first?["address"]?.string == "AA:BB:CC:00:00:01")
            #expect(ready["qr"]?["transport"]?.string == "ble")
            #expect(service.advertisement?["LocalName"] == .string("PROV_c0ffee"))
            #expect(service.advertisement?["ServiceUUIDs"]?.texts == ["021a9004-0382-4aea-bff4-6b3f1c5adfb4"])
            #expect(service.advertisement?["Discoverable"] == .bool(true))
            let ended = try await board.terminate(within: Timings.limit(.seconds(2)))
            #expect(ended == .exited(0))
            #expect(await service.called("Set Alias workbench"))
            #expect(service.calls.contains("UnregisterAdvertisement"))
            #expect(service.calls.contains("UnregisterApplication"))
        }
    }

    @Test("answers a write with the endpoint's reply, in parts where the reader asks for parts")
    func exchange() async throws {
        try await onAir { service, _, _, journal in
            let version = try await path(of: "proto-ver", service)
            #expect(try await service.read(version, Self.onDevice).isEmpty)
            try await service.write(Array("---".utf8), to: version, Self.onDevice)
            let whole = try await service.read(version, Self.onDevice)
            #expect(String(decoding: whole, as: UTF8.self).contains("\"prov\""))
            for offset in [1, 22, 47, whole.count] {
                let rest = try await service.read(version, Self.onDevice + [("offset", .uint16(UInt16(offset)))])
                #expect(rest == Array(whole[offset...]))
            }
            await #expect(
                throws: BluetoothServiceDouble.Failure(name: "org.bluez.Error.InvalidOffset", message: "ATT error")
            ) {
                _ = try await service.read(version, Self.onDevice + [("offset", .uint16(512))])
            }
            #expect(try self.journal(journal).contains { $0["mtu"]?.integer == 517 })
        }
    }

    private func journal(_ path: String) throws -> [JSONValue] {
        try readFile(path).split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
    }

    @Test("an endpoint that refuses is an error of the service's making, and the link stays")
    func refusal() async throws {
        try await onAir { service, _, _, journal in
            let session = try await path(of: "prov-session", service)
            await #expect(throws: BluetoothServiceDouble.Failure(name: "org.bluez.Error.Failed", message: "128")) {
                try await service.write([0xFF, 0xFF], to: session, Self.onDevice)
            }
            await #expect(
                throws: BluetoothServiceDouble.Failure(name: "org.bluez.Error.InvalidValueLength", message: "ATT error")
            ) {
                try await service.write([UInt8](repeating: 1, count: 513), to: session, Self.onDevice)
            }
            #expect(try !changes(journal).contains("link_down"))
        }
    }

    @Test("leave for a long write is given without running anything")
    func leave() async throws {
        try await onAir { service, _, _, journal in
            let version = try await path(of: "proto-ver", service)
            try await service.write(
                [0x2D], to: version, Self.onDevice + [("prepare-authorize", .bool(true))])
            #expect(try await service.read(version, Self.onDevice).isEmpty)
            #expect(try !self.journal(journal).contains { $0["endpoint"]?.string == "proto-ver" })
        }
    }

    @Test("each link has its own session, and its answers go with it")
    func links() async throws {
        try await onAir { service, _, _, journal in
            let version = try await path(of: "proto-ver", service)
            try await service.write([0x2D], to: version, Self.onDevice)
            service.connect(Self.device, true)
            #expect(try await !service.read(version, Self.onDevice).isEmpty)
            service.connect(Self.device, false)
            // Heard of before the signal of the new connection, as happens with bluetoothd.
            #expect(try await service.read(version, Self.onDevice).isEmpty)
            #expect(
                try changes(journal).filter { $0.hasPrefix("link") || $0 == "session_opened" } == [
                    "link_up", "session_opened", "link_down", "link_up", "session_opened",
                ])
        }
    }

    @Test("another device of the machine's does not end a phone's session, and is not disconnected")
    func mouse() async throws {
        try await onAir { service, board, _, journal in
            let version = try await path(of: "proto-ver", service)
            try await service.write([0x2D], to: version, Self.onDevice)
            let mouse = "/org/bluez/hci1/dev_00_00_00_00_00_02"
            service.connect(mouse, true)
            // One that is new to the service arrives connected.
            service.emit(
                path: "/", interface: "org.freedesktop.DBus.ObjectManager", member: "InterfacesAdded",
                [
                    .objectPath("/org/bluez/hci1/dev_00_00_00_00_00_03"),
                    .dictionary(
                        [DBusEntry(.string("org.bluez.Device1"), .properties([("Connected", .bool(true))]))], key: "s",
                        value: "a{sv}"),
                ])
            // The order of one connection's messages is kept, so this comes after them.
            #expect(try await !service.read(version, Self.onDevice).isEmpty)
            #expect(
                try changes(journal).filter { $0.hasPrefix("link") || $0.hasPrefix("session") } == [
                    "link_up", "session_opened",
                ])
            service.connect(Self.device, false)
            service.connect(mouse, true)
            _ = try await path(of: "proto-ver", service)
            #expect(try await board.terminate(within: Timings.limit(.seconds(2))) == .exited(0))
            #expect(await service.called("Set Alias workbench"))
            #expect(!service.calls.contains("Disconnect"))
        }
    }

    @Test("what another user of this machine makes up ends no session, and reads and writes nothing")
    func forged() async throws {
        try await withTemporaryFolder { folder in
            let bus = try await SessionBusDaemon(in: folder)
            let service = try await BluetoothServiceDouble(
                on: bus.address, adapters: BluetoothServiceDouble.Adapter.two)
            let journal = folder.file("journal.ndjson")
            try await withChildProcess(
                try Executables.path("firmware-sim"),
                SimulatedBoard.arguments(
                    ["--ble-adapter", "hci1", "--name", "PROV_c0ffee", "--security", "0", "--journal", journal]),
                environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]
            ) { _ in
                #expect(await service.called("RegisterAdvertisement"))
                let version = try await path(of: "proto-ver", service)
                try await service.write([0x2D], to: version, Self.onDevice)
                for signal in [.bluezLeft, ForgedSignal.connected(Self.device, false)] {
                    try await signal.send(on: bus.address)
                    #expect(try await !service.read(version, Self.onDevice).isEmpty)
                }
                #expect(try !changes(journal).contains("link_down"))
                let stranger = try await DBusClient.connect(.at(bus.address))
                let owner = try #require(service.registrant)
                let call = DBusCall(
                    owner, version, "org.bluez.GattCharacteristic1", "ReadValue", [.properties(Self.onDevice)])
                await #expect { try await stranger.call(call, within: .waitLimit) } throws: {
                    ($0 as? DBusError)?.name == "org.freedesktop.DBus.Error.AccessDenied"
                }
                stranger.close()
            }
            await service.stop()
            try await bus.end()
        }
    }

    @Test("when the Bluetooth service ends and another begins, the board registers again")
    func restart() async throws {
        try await withTemporaryFolder { folder in
            let bus = try await SessionBusDaemon(in: folder)
            let first = try await BluetoothServiceDouble(on: bus.address, adapters: BluetoothServiceDouble.Adapter.two)
            let journal = folder.file("journal.ndjson")
            try await withChildProcess(
                try Executables.path("firmware-sim"),
                SimulatedBoard.arguments([
                    "--ble-adapter", "AA:BB:CC:00:00:01", "--name", "PROV_c0ffee", "--security", "0", "--journal",
                    journal,
                ]),
                environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address]
            ) { board in
                _ = try await board.readyLine()
                let version = try await path(of: "proto-ver", first)
                try await first.write([0x2D], to: version, Self.onDevice)
                first.leave()
                await first.stop()
                let second = try await BluetoothServiceDouble(
                    on: bus.address, adapters: BluetoothServiceDouble.Adapter.two)
                #expect(await second.called("RegisterAdvertisement"))
                #expect(try changes(journal).contains("link_down"))
                await second.stop()
            }
            try await bus.end()
        }
    }

    @Test("after success the board leaves the air and ends the link")
    func stops() async throws {
        try await onAir(["--wifi", "Home:correct horse", "--join-delay", "0"]) { service, _, _, _ in
            let config = try await path(of: "prov-config", service)
            // Set {ssid, passphrase}, Apply, then GetStatus until connected: by hand, in the clear of Security 0.
            let name = Array("Home".utf8), word = Array("correct horse".utf8)
            let command = [0x0A, UInt8(name.count)] + name + [0x12, UInt8(word.count)] + word
            for message in [[0x08, 0x02, 0x62, UInt8(command.count)] + command, [0x08, 0x04, 0x72, 0x00]] {
                try await service.write(message, to: config, Self.onDevice)
            }
            let end = ContinuousClock.now + .waitLimit
            while ContinuousClock.now < end {
                try await service.write([0x52, 0x00], to: config, Self.onDevice)
                // `wifi_connected` is field 11 of the reply's status.
                if try await service.read(config, Self.onDevice).count > 20 { break }
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(await service.called("UnregisterAdvertisement"))
            #expect(await service.called("UnregisterApplication"))
            #expect(await service.called("Disconnect"))
        }
    }

    @Test("a board that restarts loses its link, and is there for the next one")
    func reboots() async throws {
        try await onAir(["--unclaimed", "--claim-fault", "reboot-at=start"]) { service, _, _, journal in
            let claim = try await path(of: "rmaker_claim", service)
            await #expect(throws: BluetoothServiceDouble.Failure.self) {
                try await service.write([0x52, 0x00], to: claim, Self.onDevice)
            }
            #expect(await service.called("Disconnect"))
            #expect(try changes(journal).filter { $0.hasPrefix("link") } == ["link_up", "link_down"])
            #expect(!service.calls.contains("UnregisterAdvertisement"))
            let version = try await path(of: "proto-ver", service)
            try await service.write([0x2D], to: version, Self.onDevice)
            #expect(try changes(journal).filter { $0.hasPrefix("link") } == ["link_up", "link_down", "link_up"])
        }
    }
}
