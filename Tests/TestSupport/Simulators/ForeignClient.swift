// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Testing

/// A program that others wrote. `scripts/foreign-client` installs it, once, when the first test asks for it.
public enum ForeignClient: String, Sendable {
    /// Espressif's command-line client.
    case officialClient = "official-client"
    /// A folder with Glewlwyd, and with a Python that has Authlib and moto.
    case identityServers = "identity-servers"
    /// A Python with requests-oauthlib, Authlib and bookops-worldcat.
    case identityClients = "identity-clients"
    /// A Python with Home Assistant's codec of Improv.
    case improvClient = "improv-client"
    /// axe-core's script, which checks pages for accessibility.
    case axe
    /// A Python with esptool.
    case esptool
    /// A Python with paho-mqtt and botocore.
    case mqttClient = "mqtt-client"
    /// A Python with the client of the Model Context Protocol.
    case mcpClient = "mcp-client"
    /// A Python with pandas.
    case pandas
    /// A Python with Home Assistant and its MQTT integration.
    case homeAssistant = "home-assistant"
    /// A Python with pytest and bleak.
    case pytest
    /// A Python with pytest and mypy.
    case pythonTools = "python-tools"

    private static let installations = Mutex<[ForeignClient: Task<FinishedProcess, any Error>]>([:])
    /// The exit status of the script when the registry cannot be reached.
    private static let unreachable = ChildExit.exited(75)

    /// Returns the path that the script prints, after an installation if there was none.
    ///
    /// If its packages cannot be downloaded, the calling test is skipped; with `CI` set in the environment it fails.
    public func path() async throws -> String {
        let installation = Self.installations.withLock { installations in
            if let running = installations[self] { return running }
            let started = Task { [rawValue] in
                try await run(Repository.path("scripts/foreign-client"), [rawValue], within: .seconds(900))
            }
            installations[self] = started
            return started
        }
        let finished = try await installation.value
        if finished.status == Self.unreachable, currentEnvironment()["CI"] == nil {
            try Test.cancel("\(finished.standardError.split(separator: "\n").last ?? "no \(rawValue)")")
        }
        guard finished.status == .exited(0), let path = finished.standardOutput.split(separator: "\n").last else {
            throw ProcessError("\(rawValue) could not be installed: \(finished.standardError.suffix(2000))")
        }
        return String(path)
    }
}
