// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// A running `firmware-sim`.
public final class SimulatedBoard: Sendable {
    public let process: ChildProcess
    /// `host:port` of its SoftAP-style server, where it was asked for.
    public let http: String?
    /// The path of its serial port, where it was asked for.
    public let console: String?
    public let nodeID: String?
    /// `host:port` of its on-network service, where it was asked for; it listens once the board is on its network.
    public let onNetwork: String?
    /// `host:port` of its local control.
    public let localControl: String?
    public let journal: Journal
    /// What a client needs that gives a proof of possession to such a board: nothing, or its consent to a session in clear.
    public let consent: [String]

    public static let proofOfPossession = "planted-pop"
    public static let ssid = "Home"
    public static let passphrase = "planted-passphrase"

    /// Starts it with one network in reach and a known proof of possession, and returns once it can be reached.
    public static func start(
        _ arguments: [String], in folder: TemporaryFolder, namespace: NetworkNamespace? = nil,
        environment: [String: String] = [:]
    ) async throws -> SimulatedBoard {
        let journal = folder.file("board-\(UInt32.random(in: .min ... .max)).ndjson")
        var all = ["--journal", journal]
        if !arguments.contains("--wifi"), !arguments.contains("--ap") { all += ["--wifi", "\(ssid):\(passphrase)"] }
        if !arguments.contains("--pop"), !arguments.contains("--no-pop") { all += ["--pop", proofOfPossession] }
        let process = try await startSimulator(
            "firmware-sim", Self.arguments(all + arguments), namespace, in: folder, environment: environment)
        let ready = try JSONValue(parsing: Array(try await process.readyLine().utf8))
        return SimulatedBoard(
            process: process, http: ready["http"]?.string, console: ready["console"]?.string,
            nodeID: ready["node_id"]?.string, onNetwork: ready["on_network"]?.string,
            localControl: ready["local_control"]?.string, journal: Journal(path: journal),
            consent: consent(to: arguments))
    }

    /// The same for a board that a simulator is started with by these options.
    public static func consent(to options: [String]) -> [String] {
        zip(options, options.dropFirst()).contains { $0 == ("--security", "0") } ? ["--sec-ver", "0"] : []
    }

    private init(
        process: ChildProcess, http: String?, console: String?, nodeID: String?, onNetwork: String?,
        localControl: String?,
        journal: Journal,
        consent: [String]
    ) {
        self.onNetwork = onNetwork
        self.localControl = localControl
        self.process = process
        self.http = http
        self.console = console
        self.nodeID = nodeID
        self.journal = journal
        self.consent = consent
    }
}
