// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// A bus of a test's own, with a simulated radio on it: `firmware-sim --ble`, which plays `org.bluez` for every client there.
public final class SimulatedBluetooth: Sendable {
    public struct Board: Sendable {
        /// `7C:DF:A1:…`.
        public let address: String
        public let name: String
        public let nodeID: String
        public let proofOfPossession: String

        /// Its object on the bus.
        public var path: String {
            "/org/bluez/hci0/dev_" + address.split(separator: ":").joined(separator: "_")
        }
    }

    public let bus: SessionBusDaemon
    public let process: ChildProcess
    public let boards: [Board]
    public let journal: Journal

    /// Starts a bus, and the radio with one board that has a known proof of possession and a network in reach, unless told
    /// otherwise. Returns once it can be reached.
    public static func start(_ arguments: [String] = [], in folder: TemporaryFolder) async throws -> SimulatedBluetooth
    {
        try await start(arguments, on: SessionBusDaemon(in: folder), in: folder)
    }

    public static func start(
        _ arguments: [String], on bus: SessionBusDaemon, in folder: TemporaryFolder
    ) async throws -> SimulatedBluetooth {
        let journal = folder.file("radio-\(UInt32.random(in: .min ... .max)).ndjson")
        var all = ["--ble", "--journal", journal]
        if !arguments.contains("--wifi"), !arguments.contains("--ap") {
            all += ["--wifi", "\(SimulatedBoard.ssid):\(SimulatedBoard.passphrase)"]
        }
        if !arguments.contains("--pop"), !arguments.contains("--no-pop") {
            all += ["--pop", SimulatedBoard.proofOfPossession]
        }
        let process = try await ChildProcess.start(
            try Executables.path("firmware-sim"), SimulatedBoard.arguments(all + arguments),
            environment: ["TMPDIR": folder.path, "DBUS_SYSTEM_BUS_ADDRESS": bus.address])
        let ready = try JSONValue(parsing: Array(try await process.readyLine().utf8))
        guard case .array(let boards)? = ready["ble"]?["boards"] else {
            throw ProcessError("firmware-sim is ready without a radio: \(ready)")
        }
        return SimulatedBluetooth(
            bus: bus, process: process,
            boards: boards.map {
                Board(
                    address: $0["address"]?.string ?? "", name: $0["name"]?.string ?? "",
                    nodeID: $0["node_id"]?.string ?? "", proofOfPossession: $0["pop"]?.string ?? "")
            }, journal: Journal(path: journal))
    }

    private init(bus: SessionBusDaemon, process: ChildProcess, boards: [Board], journal: Journal) {
        self.bus = bus
        self.process = process
        self.boards = boards
        self.journal = journal
    }

    /// What makes a client meet this radio.
    public var environment: [String: String] { ["DBUS_SYSTEM_BUS_ADDRESS": bus.address] }

    /// Runs a client of BlueZ to its end.
    public func run(
        _ executable: String, _ arguments: [String], input: ChildProcess.Input = .empty,
        within limit: Duration = .waitLimit
    ) async throws -> FinishedProcess {
        try await TestSupport.run(executable, arguments, environment: environment, input: input, within: limit)
    }

    /// Calls a method as `busctl` does; nil where the answer was an error.
    public func busctl(_ path: String, _ interface: String, _ member: String, _ more: String...) async throws -> String?
    {
        let finished = try await run(
            "busctl", ["--system", "call", "org.bluez", path, "org.bluez.\(interface)", member] + more)
        return finished.status == .exited(0) ? finished.standardOutput : nil
    }

    /// A property as `busctl` prints it, `b true`; nil where the answer was an error.
    public func property(_ path: String, _ interface: String, _ name: String) async throws -> String? {
        let finished = try await run(
            "busctl", ["--system", "get-property", "org.bluez", path, "org.bluez.\(interface)", name])
        return finished.status == .exited(0)
            ? finished.standardOutput.split(separator: "\n").first.map(String.init) : nil
    }

    /// Whether somebody scans.
    public func isDiscovering() async throws -> Bool {
        try await property("/org/bluez/hci0", "Adapter1", "Discovering") == "b true"
    }
}
