// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// An identity server that is not ours, running on loopback: see the scripts in Tests/InteropTests/Servers.
public final class ForeignIdentityServer: Sendable {
    public let process: ChildProcess
    /// What it said when it was ready.
    public let ready: JSONValue

    /// Brings the servers if they are not there yet (`scripts/identity-servers`; a minute or two, once), and starts one.
    public static func start(
        _ script: String, environment: [String: String] = [:], in folder: TemporaryFolder
    ) async throws -> ForeignIdentityServer {
        let process = try await ChildProcess.start(
            try await python(), [path(script), "serve"],
            environment: ["TMPDIR": folder.path, "PYTHONDONTWRITEBYTECODE": "1"].merging(environment) { $1 },
            input: .open)
        let line = try await process.readyLine(within: .seconds(90))
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

    public static func path(_ script: String) -> String { Repository.path("Tests/InteropTests/Servers/\(script)") }

    /// The Python that has the servers' packages.
    public static func python() async throws -> String {
        let installed = try await run(Repository.path("scripts/identity-servers"), [], within: .seconds(580))
        guard installed.status == .exited(0) else {
            throw ProcessError("the foreign identity servers cannot be had: \(installed.standardError)")
        }
        return installed.standardOutput.split(separator: "\n").first.map { "\($0)/python/bin/python" } ?? ""
    }
}
