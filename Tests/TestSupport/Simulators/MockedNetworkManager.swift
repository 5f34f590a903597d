// SPDX-License-Identifier: Apache-2.0

/// NetworkManager as python-dbusmock plays it, on a bus of a test's own: Debian's `nmcli` takes it for the real one.
///
/// One adapter, `wlan0`, is on the network `Home`, which has a password; boards' networks are added. It answers at once, moves no radio,
/// and drops nothing when a client is gone, which leaves that to be seen to by us.
public final class MockedNetworkManager: Sendable {
    public let bus: SessionBusDaemon
    private let process: ChildProcess

    private static let device = "/org/freedesktop/NetworkManager/Devices/wlan0"
    private static let service = "org.freedesktop.NetworkManager"

    public static func start(boards: [String] = [], in folder: TemporaryFolder) async throws -> MockedNetworkManager {
        try await start(boards: boards, on: SessionBusDaemon(in: folder))
    }

    /// The same on a bus where others may be.
    public static func start(boards: [String] = [], on bus: SessionBusDaemon) async throws -> MockedNetworkManager {
        // Debian's own Python, which has the package python3-dbusmock.
        let process = try await ChildProcess.start(
            "/usr/bin/python3",
            ["-m", "dbusmock", "--system", "--template", "networkmanager", "-p", #"{"Version": "1.42.4"}"#],
            environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address])
        let manager = MockedNetworkManager(bus, process)
        try await manager.prepare(boards)
        return manager
    }

    private init(_ bus: SessionBusDaemon, _ process: ChildProcess) {
        self.bus = bus
        self.process = process
    }

    /// What makes a client meet it.
    public var environment: [String: String] { ["DBUS_SYSTEM_BUS_ADDRESS": bus.address] }

    /// A network in reach, open or with a password.
    public func add(_ name: String, secured: Bool = false, strength: Int = 60) async throws {
        let last = String(UInt8.random(in: 16...255), radix: 16)
        try await mock(
            "AddAccessPoint", "ssssuuuyu", Self.device, name, name, "02:00:00:00:00:\(last)", "2", "2437", "5400",
            "\(strength)", secured ? "256" : "0")
    }

    /// What the adapter is connected by, as `nmcli` says it.
    public func connection() async throws -> String {
        try await nmcli("-g", "GENERAL.CONNECTION", "device", "show", "wlan0")
    }

    public func nmcli(_ arguments: String...) async throws -> String {
        let finished = try await run("nmcli", arguments, environment: environment)
        return finished.standardOutput.split(separator: "\n").first.map(String.init) ?? ""
    }

    /// Has a method of its manager run other code, which may name `self`, `args` and `objects`.
    public func replace(_ method: String, in types: String, out: String, by code: String) async throws {
        try await mock("AddMethod", "sssss", Self.service, method, types, out, code)
    }

    /// `AddAndActivateConnection2`, which the template does not have yet, by means of its older sister.
    public static let join = """
        c, a = self.add_and_activate_connection(self, args[0], args[1], args[2])
        objects[a].Set("org.freedesktop.NetworkManager.Connection.Active", "Uuid", args[0]["connection"]["uuid"])
        ret = (c, a, dbus.Dictionary({}, signature="sv"))
        """
    public static let joinTypes = (in: "a{sa{sv}}ooa{sv}", out: "ooa{sv}")

    private func prepare(_ boards: [String]) async throws {
        let end = ContinuousClock.now + .waitLimit
        while true {
            let state = try await run(
                "busctl", ["--system", "call", Self.service, "/org/freedesktop/NetworkManager", Self.service, "state"],
                environment: environment)
            if state.status == .exited(0) { break }
            guard ContinuousClock.now < end else {
                throw ProcessError("no NetworkManager (is python3-dbusmock installed?): \(process.standardError)")
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        try await mock("AddWiFiDevice", "ssi", "wlan0", "wlan0", "30")
        try await add("Home", secured: true, strength: 80)
        try await mock("AddWiFiConnection", "ssss", Self.device, "Home", "Home", "wpa-psk")
        let home = "/org/freedesktop/NetworkManager/Settings/Home"
        let point = "/org/freedesktop/NetworkManager/AccessPoint/Home"
        try await mock("AddActiveConnection", "asossu", "1", Self.device, home, point, "0", "2")
        try await replace(
            "AddAndActivateConnection2", in: Self.joinTypes.in, out: Self.joinTypes.out, by: Self.join)
        for board in boards { try await add(board) }
    }

    private func mock(_ method: String, _ signature: String, _ arguments: String...) async throws {
        let finished = try await run(
            "busctl",
            [
                "--system", "call", Self.service, "/org/freedesktop/NetworkManager", "org.freedesktop.DBus.Mock",
                method, signature, "--",
            ] + arguments, environment: environment)
        guard finished.status == .exited(0) else { throw ProcessError("\(method): \(finished.standardError)") }
    }
}
