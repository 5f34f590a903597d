// SPDX-License-Identifier: Apache-2.0
import RainHTTP
import RainHTTPCurl
import RainJSON

/// A running `cloud-sim neo`. Its people are those of docs/simulated-identity.md.
public final class SimulatedNeo: Sendable {
    public let process: ChildProcess
    /// The main API, with its stage.
    public let api: String
    /// The API for accounts.
    public let accounts: String
    /// The URL of the deployment's description.
    public let outputs: String
    public let journal: Journal
    private let ready: JSONValue

    public static let node = "00000000-0000-4000-8000-00000000abcd"
    public static let user = SimulatedIdentity.user
    public static let friend = "bob@example.com"

    public static func start(nodes: [String] = [node], in folder: TemporaryFolder) async throws -> SimulatedNeo {
        let journal = folder.file("neo-\(UInt32.random(in: .min ... .max)).ndjson")
        let arguments = ["neo", "--journal", journal] + nodes.flatMap { ["--node", $0] }
        let process = try await startSimulator("cloud-sim", arguments, nil, in: folder)
        let ready = try JSONValue(parsing: Array(try await process.readyLine().utf8))
        guard let api = ready["api"]?.string, let accounts = ready["accounts"]?.string,
            let outputs = ready["outputs"]?.string
        else { throw ProcessError("cloud-sim neo is ready without saying where: \(ready)") }
        return SimulatedNeo(
            process: process, api: api, accounts: accounts, outputs: outputs, journal: Journal(path: journal),
            ready: ready)
    }

    private init(
        process: ChildProcess, api: String, accounts: String, outputs: String, journal: Journal, ready: JSONValue
    ) {
        (self.process, self.api, self.accounts, self.outputs) = (process, api, accounts, outputs)
        (self.journal, self.ready) = (journal, ready)
    }

    /// The options that make a simulated board this node.
    public func boardOptions(node: String = node) throws -> [String] {
        guard let files = ready["nodes"]?[node], let certificate = files["cert"]?.string,
            let key = files["key"]?.string,
            let mqtt = ready["mqtt"]?.string, let ca = ready["ca"]?.string
        else { throw ProcessError("cloud-sim neo has no node \(node)") }
        return ["--neo", "--node-id", node, "--mqtt", mqtt, "--ca", ca, "--cert", certificate, "--key", key]
    }

    /// Sends a request of a test to the simulator itself.
    public func control(_ what: String, _ body: JSONValue = .object([])) async throws {
        let root = api.split(separator: "/").dropLast().joined(separator: "/").replacing("http:/", with: "http://")
        let response = try await CurlHTTPClient().send(
            HTTPRequest(
                method: .post, url: "\(root)/_sim/\(what)", headers: [HTTPHeader("Content-Type", "application/json")],
                body: body.serialized()))
        guard response.status == 200 else { throw ProcessError("cloud-sim neo refuses \(what): \(response.status)") }
    }
}
