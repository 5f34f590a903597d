// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// A running `cloud-sim`.
public final class SimulatedCloud: Sendable {
    public let process: ChildProcess
    /// The API's base URL.
    public let api: String
    /// The broker's `host:port`.
    public let mqtt: String
    /// The file of the CA that signs boards and broker.
    public let ca: String
    public let journal: Journal
    /// The codes that its users were sent: `to`, `kind`, `code`.
    public let mailbox: Journal
    private let ready: JSONValue

    public static let user = "maker@example.com"
    public static let password = "Passw0rd-planted"

    /// Starts it with one user and these nodes (`ID` or `ID:rsa`), and returns once it answers.
    public static func start(
        nodes: [String] = [], arguments: [String] = [], in folder: TemporaryFolder, namespace: NetworkNamespace? = nil
    ) async throws -> SimulatedCloud {
        let name = "cloud-\(UInt32.random(in: .min ... .max))"
        let journal = folder.file("\(name).ndjson")
        let mailbox = folder.file("\(name)-mailbox.ndjson")
        let all =
            ["--listen", "127.0.0.1:0", "--user", "\(user):\(password)", "--journal", journal, "--mailbox", mailbox]
            + nodes.flatMap { ["--node", $0] } + arguments
        let process = try await startSimulator("cloud-sim", all, namespace, in: folder)
        let ready = try JSONValue(parsing: Array(try await process.readyLine().utf8))
        guard let api = ready["api"]?.string, let mqtt = ready["mqtt"]?.string, let ca = ready["ca"]?.string else {
            throw ProcessError("cloud-sim is ready without saying where: \(ready)")
        }
        return SimulatedCloud(
            process: process, api: api, mqtt: mqtt, ca: ca, journal: Journal(path: journal),
            mailbox: Journal(path: mailbox), ready: ready)
    }

    private init(
        process: ChildProcess, api: String, mqtt: String, ca: String, journal: Journal, mailbox: Journal,
        ready: JSONValue
    ) {
        self.process = process
        self.api = api
        self.mqtt = mqtt
        self.ca = ca
        self.journal = journal
        self.mailbox = mailbox
        self.ready = ready
    }

    /// The newest code that was sent to `receiver` for that: `signup`, `login`, `mfa`, `password_reset`, `delete`, `phone`
    /// or `guest_conversion`.
    public func code(_ kind: String, to receiver: String = user) throws -> String {
        let mails = try mailbox.entries(where: ["kind": .string(kind), "to": .string(receiver)])
        guard let code = mails.last?["code"]?.string else {
            throw ProcessError("cloud-sim has sent no code for \(kind) to \(receiver)")
        }
        return code
    }

    /// The claim service's base URL.
    public var claim: String { ready["claim"]?.string ?? api }

    /// The options of a board that this cloud has never heard of, and that has no certificate yet.
    public var unclaimedBoardOptions: [String] { ["--unclaimed", "--mqtt", mqtt, "--ca", ca] }

    /// Its first line, which `firmware-sim --nodes` reads from a file.
    public var readyDocument: String { String(decoding: ready.serialized(), as: UTF8.self) }

    /// The options that make a simulated board this node.
    public func boardOptions(node: String) throws -> [String] {
        guard let files = ready["nodes"]?[node], let certificate = files["cert"]?.string, let key = files["key"]?.string
        else { throw ProcessError("cloud-sim has no node \(node)") }
        return ["--node-id", node, "--mqtt", mqtt, "--ca", ca, "--cert", certificate, "--key", key]
    }
}

/// Starts a simulator of this package, inside a namespace if one is given. Its temporary files lie in the test's folder:
/// a test may end it by SIGKILL, which leaves it no time to tidy up.
func startSimulator(
    _ name: String, _ arguments: [String], _ namespace: NetworkNamespace?, in folder: TemporaryFolder,
    environment: [String: String] = [:]
) async throws -> ChildProcess {
    let path = try Executables.path(name)
    let (executable, all) = namespace?.command(path, arguments) ?? (path, arguments)
    return try await ChildProcess.start(
        executable, all, environment: ["TMPDIR": folder.path].merging(environment) { $1 })
}
