// SPDX-License-Identifier: Apache-2.0
import Glibc
import Logging
import RainAccount
import RainMaker

/// Which cloud, whose account, and with what a ``RainKitClient`` works. Everything has a default but the folder.
public struct RainKitConfiguration: Sendable {
    /// The RainMaker cloud; Espressif's public one by default.
    public var deployment: Deployment
    /// The identity system that users sign in to, where it is not the deployment's own.
    public var provider: ProviderSelection?
    /// The account's name on this machine; nil for the one in use.
    public var account: String?
    /// A folder private to the user, for sessions, the list of accounts and what is pending. It is made when it is needed.
    public var state: String
    /// A folder with definitions of identity providers that are not built in: see `docs/adding-an-identity-provider.md`.
    public var definitions: String
    /// A cloud of the user's own that records whose a board is, for identity providers other than RainMaker's: see `docs/own-cloud.md`.
    public var backend: NodeMappingDescription?
    /// A PEM file of authorities to trust in the place of the deployment's and the system's.
    public var certificateAuthorities: String?
    /// The process's environment: the session bus of the desktop's store of secrets, systemd's credentials, clients' secrets.
    public var environment: [String: String]
    /// The ways to boards, in the order in which they are looked through.
    public var transports: [any BoardTransport]
    /// HTTP, cryptography, randomness and clocks.
    public var tools: RainKitTools
    /// Where sessions are kept, in the place of what the list of accounts says.
    public var sessions: (any CredentialStore)?
    /// What only a later run can finish; a file in ``state`` if nil.
    public var pendingMappings: (any PendingMappingStore)?
    /// Which boards have been claimed; a file in ``state`` if nil.
    public var claimedBoards: (any ClaimedBoardStore)?
    /// For everything the client does; no secret is logged.
    public var logger: Logger
    /// Is handed each line that a board prints on its cable, without the secrets that firmware prints.
    public var deviceLog: @Sendable (String) -> Void = { _ in }
    /// Is told what happens to this machine's own network where it is left for a board's.
    public var networkChange: @Sendable (NetworkChange) -> Void = { _ in }

    /// - Parameters:
    ///   - state: an absolute path.
    ///   - logger: silent if none is given.
    public init(state: String, deployment: Deployment = .global, logger: Logger? = nil) {
        self.state = state
        self.deployment = deployment
        definitions = "\(state)/providers"
        environment = processEnvironment()
        transports = .standard
        tools = RainKitTools()
        self.logger = logger ?? Logger(label: "rainkit") { _ in SwiftLogNoOpLogHandler() }
    }

    /// Keeps nothing on disk: sessions and what is pending end with the process.
    public static func inMemory(deployment: Deployment = .global, logger: Logger? = nil) -> RainKitConfiguration {
        var configuration = RainKitConfiguration(state: Self.nowhere, deployment: deployment, logger: logger)
        configuration.sessions = InMemoryCredentialStore()
        configuration.pendingMappings = InMemoryPendingMappings()
        configuration.claimedBoards = InMemoryClaimedBoards()
        return configuration
    }

    /// Whether there is a folder for what outlives the process.
    var keepsFiles: Bool { state != Self.nowhere }
    private static let nowhere = "/nonexistent"
}

/// Printed or dumped, a configuration shows nothing of the environment, in which there may be secrets.
extension RainKitConfiguration: CustomStringConvertible, CustomReflectable {
    public var description: String { "RainKitConfiguration(state: \(state), deployment: \(deployment.name))" }
    public var customMirror: Mirror { Mirror(self, children: ["state": state, "deployment": deployment.name]) }
}

/// The environment that this process was started with.
func processEnvironment() -> [String: String] {
    var result: [String: String] = [:]
    var next = environ
    while let entry = next.pointee {
        let text = String(cString: entry)
        if let separator = text.firstIndex(of: "=") {
            result[String(text[..<separator])] = String(text[text.index(after: separator)...])
        }
        next += 1
    }
    return result
}
