// SPDX-License-Identifier: Apache-2.0
import RainDBus
import TestSupport
import Testing

@Suite("What keeps a board off a real adapter, with bluetoothd's side played")
struct AdapterRefusalTests {
    @Test(
        "an adapter on which no board can be registered gets its own name back",
        arguments: ["RegisterApplication", "RegisterAdvertisement"])
    func refusedAfterRename(member: String) async throws {
        try await withTemporaryFolder { folder in
            let bus = try await SessionBusDaemon(in: folder)
            let service = try await BluetoothServiceDouble(
                on: bus.address, adapters: BluetoothServiceDouble.Adapter.two,
                answers: [member: .error("org.bluez.Error.NotPermitted", "Maximum advertisements reached")])
            let finished = try await run(
                try Executables.path("firmware-sim"), ["--ble-adapter", "hci1", "--name", "PROV_c0ffee"],
                environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address])
            #expect(finished.status == .exited(64) && !finished.standardError.isEmpty)
            #expect(service.calls.contains("Set Alias PROV_c0ffee"))
            #expect(await service.called("Set Alias workbench"))
            await service.stop()
            try await bus.end()
        }
    }

    private func refusal(
        _ adapters: [BluetoothServiceDouble.Adapter], _ answers: [String: BluetoothServiceDouble.Answer] = [:],
        adapter: String = "hci1", arguments: [String] = []
    ) async throws -> String {
        var said = ""
        try await withTemporaryFolder { folder in
            let bus = try await SessionBusDaemon(in: folder)
            let service = try await BluetoothServiceDouble(on: bus.address, adapters: adapters, answers: answers)
            let finished = try await run(
                try Executables.path("firmware-sim"), ["--ble-adapter", adapter] + arguments,
                environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address])
            #expect(finished.status != .exited(0))
            said = finished.standardError
            await service.stop()
            try await bus.end()
        }
        return said
    }

    @Test("says which adapters there are when the one that was asked for is not there")
    func noSuchAdapter() async throws {
        #expect(
            try await refusal(BluetoothServiceDouble.Adapter.two, adapter: "hci7").contains(
                "hci0 AA:BB:CC:00:00:00, hci1 AA:BB:CC:00:00:01")
        )
        #expect(try await refusal([]).contains("no Bluetooth adapter"))
    }

    @Test("says that the radio is blocked, and how to unblock it")
    func blocked() async throws {
        let said = try await refusal(
            BluetoothServiceDouble.Adapter.two, ["Set": .error("org.bluez.Error.Blocked", "Blocked through rfkill")])
        #expect(said.contains("rfkill unblock bluetooth"))
    }

    @Test("says that it has no rights")
    func noRights() async throws {
        let error = BluetoothServiceDouble.Answer.error(
            "org.freedesktop.DBus.Error.AccessDenied", "Rejected send message")
        #expect(
            try await refusal(BluetoothServiceDouble.Adapter.two, ["GetManagedObjects": error]).contains(
                "may not use Bluetooth"))
    }

    @Test("says that the service does not run, and that there is no bus")
    func nobody() async throws {
        try await withTemporaryFolder { folder in
            let bus = try await SessionBusDaemon(in: folder)
            let program = try Executables.path("firmware-sim")
            let alone = try await run(
                program, ["--ble-adapter", "hci0"], environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address])
            #expect(alone.standardError.contains("systemctl start bluetooth"))
            try await bus.end()
            let without = try await run(
                program, ["--ble-adapter", "hci0"],
                environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(folder.file("none"))"])
            #expect(without.standardError.contains("no system D-Bus"))
        }
    }

    @Test("refuses what can never be")
    func impossible() async throws {
        let program = try Executables.path("firmware-sim")
        for arguments in [
            ["--ble-adapter", "eth0"], ["--ble-adapter", "hci0", "--ble"], ["--ble-adapter", "hci0", "--boards", "2"],
            ["--ble-adapter", "hci0", "--name", "PROV_a_name_that_no_advertisement_holds"],
        ] {
            #expect(try await run(program, arguments).status != .exited(0))
        }
    }
}
