// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainDBus
import TestSupport
import Testing

/// Against NetworkManager as python-dbusmock plays it.
@Suite("Joining a network for a while")
struct JoiningTests {
    static let home = "Home"
    static let board = "PROV_a1b2c3"
    static let uuid = "b7a3ff1e-5c6f-4f2e-9d1b-0123456789ab"

    private func with(
        _ body: (MockedNetworkManager, NetworkManagerClient, WiFiDevice) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let mock = try await MockedNetworkManager.start(boards: [Self.board], in: folder)
            let client = try await NetworkManagerClient.open(bus: .at(mock.bus.address))
            defer { client.close() }
            let device = try #require(try await client.devices().first)
            try await body(mock, client, device)
        }
    }

    private func profile(_ client: NetworkManagerClient, _ device: WiFiDevice, _ name: String) async throws
        -> TemporaryProfile
    {
        let network = try #require(try await client.networks(device).first { $0.name == name })
        return TemporaryProfile(uuid: Self.uuid, id: "\(name) (test)", network: network, password: nil)
    }

    @Test("adapters, networks by strength and their security, and the connection are read")
    func reading() async throws {
        try await with { mock, client, device in
            #expect(device.interface == "wlan0" && device.isReady)
            let networks = try await client.networks(device)
            #expect(networks.map(\.name) == [Self.home, Self.board])
            #expect(networks.map(\.security) == [.password, .open])
            #expect(networks.map(\.signal) == [-52, -64])
            let connection = try #require(try await client.connection(device))
            #expect(connection.id == Self.home && connection.state == .activated)
            #expect(try await client.currentNetwork(device)?.name == Self.home)
        }
    }

    @Test("a network is joined by a profile of the caller's own, and the one of before comes back")
    func joining() async throws {
        try await with { mock, client, device in
            let before = try #require(try await client.connection(device))
            try await client.join(
                try await profile(client, device, Self.board), on: device, owner: nil, within: .waitLimit)
            #expect(try await client.connection(device)?.uuid == Self.uuid)
            #expect(try await mock.connection() == Self.board)
            let after = try await client.restore(
                before.uuid, on: "wlan0", insteadOf: Self.uuid, within: .waitLimit)
            #expect(after?.uuid == before.uuid)
            #expect(try await mock.connection() == Self.home)
        }
    }

    @Test("what somebody has chosen meanwhile is left alone")
    func chosenMeanwhile() async throws {
        try await with { mock, client, device in
            let after = try await client.restore("another", on: "wlan0", insteadOf: Self.uuid, within: .waitLimit)
            #expect(after?.id == Self.home)
        }
    }

    @Test("a connection that does not exist any more is said to be gone, and the board's network is left")
    func gone() async throws {
        try await with { mock, client, device in
            try await client.join(
                try await profile(client, device, Self.board), on: device, owner: nil, within: .waitLimit)
            let error = await #expect(throws: NetworkManagerError.self) {
                try await client.restore("no-such-uuid", on: "wlan0", insteadOf: Self.uuid, within: .waitLimit)
            }
            #expect(error?.code == .notFound)
            #expect(try await mock.connection() == "")
        }
    }

    @Test("a network with a password is not joined without one, and nothing is changed")
    func password() async throws {
        try await with { mock, client, device in
            let profile = try await profile(client, device, Self.home)
            await #expect(throws: NetworkManagerError.self) {
                try await client.join(profile, on: device, owner: nil, within: .waitLimit)
            }
            #expect(try await mock.connection() == Self.home)
        }
    }

    @Test(
        "the failure of a device is reported with its reason",
        arguments: [(53, NetworkManagerError.Code.notFound), (17, .noAddress), (7, .failed), (39, .failed)])
    func reasons(reason: Int, code: NetworkManagerError.Code) async throws {
        try await with { mock, client, device in
            // Announced before the answer: the active connection has gone when it is looked at.
            try await mock.replace(
                "AddAndActivateConnection2", in: MockedNetworkManager.joinTypes.in,
                out: MockedNetworkManager.joinTypes.out,
                by: """
                    objects[args[1]].EmitSignal("org.freedesktop.NetworkManager.Device", "StateChanged", "uuu", [120, 50, \(reason)])
                    ret = ("/org/freedesktop/NetworkManager/Settings/9", "/org/freedesktop/NetworkManager/ActiveConnection/9", dbus.Dictionary({}, signature="sv"))
                    """)
            let profile = try await profile(client, device, Self.board)
            let error = await #expect(throws: NetworkManagerError.self) {
                try await client.join(profile, on: device, owner: nil, within: .waitLimit)
            }
            #expect(error?.code == code, "\(error.map { "\($0)" } ?? "none")")
        }
    }

    @Test("an older NetworkManager, which has no volatile profiles bound to a client, is named")
    func tooOld() async throws {
        try await with { mock, client, device in
            try await mock.replace(
                "AddAndActivateConnection2", in: MockedNetworkManager.joinTypes.in,
                out: MockedNetworkManager.joinTypes.out,
                by: #"raise dbus.exceptions.DBusException("no", name="org.freedesktop.DBus.Error.UnknownMethod")"#)
            let profile = try await profile(client, device, Self.board)
            let error = await #expect(throws: NetworkManagerError.self) {
                try await client.join(profile, on: device, owner: nil, within: .waitLimit)
            }
            #expect(error?.code == .tooOld)
        }
    }

    @Test("a user without the right to change networks for all gets their own profile")
    func rights() async throws {
        try await with { mock, client, device in
            try await mock.replace(
                "AddAndActivateConnection2", in: MockedNetworkManager.joinTypes.in,
                out: MockedNetworkManager.joinTypes.out,
                by: """
                    if "permissions" not in args[0]["connection"]:
                        raise dbus.exceptions.DBusException("no", name="org.freedesktop.NetworkManager.PermissionDenied")
                    assert args[0]["connection"]["permissions"] == ["user:maker:"]
                    \(MockedNetworkManager.join)
                    """)
            let profile = try await profile(client, device, Self.board)
            let error = await #expect(throws: NetworkManagerError.self) {
                try await client.join(profile, on: device, owner: nil, within: .waitLimit)
            }
            #expect(error?.code == .accessDenied)
            try await client.join(profile, on: device, owner: "maker", within: .waitLimit)
            #expect(try await mock.connection() == Self.board)
        }
    }

    @Test("profiles are volatile, bound to this client, and lead nowhere but to the board")
    func settings() async throws {
        try await with { mock, client, device in
            try await mock.replace(
                "AddAndActivateConnection2", in: MockedNetworkManager.joinTypes.in,
                out: MockedNetworkManager.joinTypes.out,
                by: """
                    assert args[3] == {"persist": "volatile", "bind-activation": "dbus-client"}, args[3]
                    assert args[0]["ipv4"]["never-default"] == True and args[0]["ipv4"]["ignore-auto-dns"] == True
                    assert args[0]["ipv6"]["method"] == "ignore" and args[0]["connection"]["autoconnect"] == False
                    assert bytes(args[0]["802-11-wireless"]["ssid"]) == b"\(Self.board)"
                    \(MockedNetworkManager.join)
                    """)
            try await client.join(
                try await profile(client, device, Self.board), on: device, owner: nil, within: .waitLimit)
        }
    }

    @Test("a bus without NetworkManager is reported at once")
    func absent() async throws {
        try await withTemporaryFolder { folder in
            let bus = try await SessionBusDaemon(in: folder)
            let error = await #expect(throws: NetworkManagerError.self) {
                _ = try await NetworkManagerClient.open(bus: .at(bus.address))
            }
            #expect(error?.code == .notRunning)
        }
    }

    @Test("looking ends with its time, and at once when it is cancelled")
    func looking() async throws {
        try await with { mock, client, device in
            let task = Task { try await client.look(for: .waitLimit) { _ in true } }
            task.cancel()
            await #expect(throws: NetworkManagerError.self) { try await task.value }
            let clock = ContinuousClock()
            let spent = try await clock.measure { try await client.look(for: .milliseconds(300)) { _ in true } }
            #expect(spent < Timings.limit(.seconds(10)))
        }
    }

    @Test("a network that comes up while it is looked for is found by the signal of it")
    func appearing() async throws {
        try await with { mock, client, device in
            async let late: Void = mock.add("PROV_late")
            try await client.look(for: .waitLimit) { heard in !heard.contains { $0.network.name == "PROV_late" } }
            try await late
            #expect(try await client.networks(device).contains { $0.name == "PROV_late" })
        }
    }
}
