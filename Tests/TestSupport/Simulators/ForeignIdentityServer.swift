// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// An identity server that is not ours, running on loopback: see the scripts in Tests/EndToEnd/ForeignClients/Servers.
public final class ForeignIdentityServer: Sendable {
    public let process: ChildProcess
    /// What it said when it was ready.
    public let ready: JSONValue

    /// Installs the servers if they are not there yet (a minute or two, once), and starts one.
    public static func start(
        _ script: String, environment: [String: String] = [:], in folder: TemporaryFolder
    ) async throws -> ForeignIdentityServer {
        let process = try await ChildProcess.start(
            try await python(), [path(script), "serve"],
            environment: ["TMPDIR": folder.path, "PYTHONDONTWRITEBYTECODE": "1"].merging(environment) { $1 },
            input: .open)
        let line = try await process.readyLine()
        return ForeignIdentityServer(process: process, ready: try JSONValue(parsing: Array(line.utf8)))
    }

    private init(process: ChildProcess, ready: JSONValue) {
        self.process = process
        self.ready = ready
    }

    public func text(_ name: String) throws -> String {
        guard let text = ready[name]?.string else { throw ProcessError("the server did not say its \(name): \(ready)") }
        return text
    }

    public static func path(_ script: String) -> String {
        Repository.path("Tests/EndToEnd/ForeignClients/Servers/\(script)")
    }

    /// The Python that has the servers' packages.
    public static func python() async throws -> String {
        try await ForeignClient.identityServers.path() + "/bin/python"
    }
}
