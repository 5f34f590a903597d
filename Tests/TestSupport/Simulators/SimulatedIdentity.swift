// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// A running `cloud-sim identity`. People, clients and secrets are those of docs/simulated-identity.md.
public final class SimulatedIdentity: Sendable {
    public let process: ChildProcess
    public let journal: Journal
    private let ready: JSONValue

    public static let user = "ada@example.com"
    public static let password = "correct-horse"

    /// Starts it with these providers (`spid`, `liferay`, `oclc`, `oidc`, `neo`), and returns once they answer.
    public static func start(
        _ providers: String..., in folder: TemporaryFolder, namespace: NetworkNamespace? = nil
    ) async throws -> SimulatedIdentity {
        let journal = folder.file("identity-\(UInt32.random(in: .min ... .max)).ndjson")
        let arguments = ["identity", "--journal", journal] + providers.flatMap { ["--provider", $0] }
        let process = try await startSimulator("cloud-sim", arguments, namespace, in: folder)
        let ready = try JSONValue(parsing: Array(try await process.readyLine().utf8))
        return SimulatedIdentity(process: process, journal: Journal(path: journal), ready: ready)
    }

    private init(process: ChildProcess, journal: Journal, ready: JSONValue) {
        (self.process, self.journal, self.ready) = (process, journal, ready)
    }

    /// Where that provider is, without a slash at the end.
    public func url(_ provider: String) throws -> String {
        guard let url = ready["providers"]?[provider]?.string else {
            throw ProcessError("cloud-sim identity does not simulate \(provider): \(ready)")
        }
        return url
    }

    /// The backend of one's own that runs beside the providers, as docs/own-cloud.md describes backends; to be written to a file.
    public func mappingDescription() throws -> String {
        guard let description = ready["mapping"]?["description"] else {
            throw ProcessError("cloud-sim identity describes no backend: \(ready)")
        }
        return String(decoding: description.serialized(), as: UTF8.self)
    }

    /// Where that backend is, without a slash at the end.
    public func mappingURL() throws -> String {
        guard let url = ready["mapping"]?["url"]?.string else {
            throw ProcessError("cloud-sim identity has no backend: \(ready)")
        }
        return url
    }

    /// Has every request to the backend answered with this status; nil for its own answers again.
    public func setBackend(status: Int?) async throws {
        let url = try mappingURL()
        let rules = status.map { status in
            ["/nodes/*", "/requests/*"].map { path in
                JSONValue.object([
                    .init("path", .string(path)), .init("action", "status"), .init("status", .integer(Int64(status))),
                ])
            }
        }
        let curl = try await ChildProcess.start(
            "/usr/bin/curl",
            [
                "-sSf", "--json",
                String(decoding: JSONValue.object([.init("rules", .array(rules ?? []))]).serialized(), as: UTF8.self),
                url + "/_sim/faults",
            ])
        guard try await curl.wait() == .exited(0) else {
            throw ProcessError("the backend takes no faults: \(curl.standardError)")
        }
    }
}
