// SPDX-License-Identifier: Apache-2.0
import Glibc
import IdentityProviders
import Logging
import RainAccount
import RainCore
import RainCrypto
import RainCryptoOpenSSL
import RainHTTP
import RainHTTPCurl
import RainIO
import RainMaker
import RainPrivateFiles

/// The settings of a ``RainKitClient``: the cloud, the account and the tools. All but the folder have a default.
public struct RainKitConfiguration: Sendable {
    /// The RainMaker cloud; Espressif's public one by default.
    public var deployment: Deployment
    /// The identity system that users sign in to, if it is not the deployment's own.
    public var provider: ProviderSelection?
    /// The account's name on this machine; nil for the one in use.
    public var account: String?
    /// A folder private to the user, for sessions, the list of accounts and pending mappings. It is created when it is needed.
    public var state: String
    /// A folder with definitions of identity providers that are not built in: see `docs/adding-an-identity-provider.md`.
    public var definitions: String
    /// The user's own cloud, which records the board's user, for identity providers other than RainMaker's: see `docs/own-cloud.md`.
    public var backend: NodeMappingDescription?
    /// A PEM file of authorities to trust instead of the deployment's and the system's.
    public var certificateAuthorities: String?
    /// The process's environment. It supplies the session bus for the desktop's secret store, systemd's credentials, and clients' secrets.
    public var environment: [String: String]
    /// The transports to boards, in the order of the search.
    public var transports: [any BoardTransport]
    /// HTTP, cryptography, randomness and clocks.
    public var tools: RainKitTools
    /// The store for sessions; if nil, the one in the list of accounts.
    public var sessions: (any CredentialStore)?
    /// The store for mappings that only a later run can finish; a file in ``state`` if nil.
    public var pendingMappings: (any PendingMappingStore)?
    /// The store for claimed boards; a file in ``state`` if nil.
    public var claimedBoards: (any ClaimedBoardStore)?
    /// Whether the names of the account's nodes are kept in ``state`` after each listing. Local control then finds a node by the user's name
    /// for it without the cloud.
    public var remembersNodes = false
    /// The accounts that this client shares with others of the process; nil if it shares none.
    package var sharedAccounts: SharedAccounts?
    /// Logs everything that the client does; no secret is logged.
    public var logger: Logger
    /// Called for each line that a board prints on its cable, without the secrets that firmware prints.
    public var deviceLog: @Sendable (String) -> Void = { _ in }
    /// Called when this machine's own network changes because a board's network is joined.
    public var networkChange: @Sendable (NetworkChange) -> Void = { _ in }
    /// Called while nothing arrives from a board's serial port, with what is done about it and what a person can do.
    public var portChange: @Sendable (PortChange) -> Void = { _ in }

    /// - Parameters:
    ///   - state: the absolute path of the folder.
    ///   - logger: silent if nil.
    public init(state: String, deployment: Deployment = .global, logger: Logger? = nil) {
        self.state = state
        self.deployment = deployment
        definitions = "\(state)/providers"
        environment = processEnvironment()
        transports = .standard
        tools = RainKitTools()
        self.logger = logger ?? Logger(label: "rainkit") { _ in SwiftLogNoOpLogHandler() }
    }

    /// Creates a configuration that keeps nothing on disk: sessions and pending mappings end with the process.
    public static func inMemory(deployment: Deployment = .global, logger: Logger? = nil) -> RainKitConfiguration {
        var configuration = RainKitConfiguration(state: Self.nowhere, deployment: deployment, logger: logger)
        configuration.sessions = InMemoryCredentialStore()
        configuration.pendingMappings = InMemoryPendingMappings()
        configuration.claimedBoards = InMemoryClaimedBoards()
        return configuration
    }

    /// Whether there is a folder for files that outlive the process.
    var keepsFiles: Bool { state != Self.nowhere }
    private static let nowhere = "/nonexistent"
}

/// When printed or dumped, a configuration shows nothing of the environment, which may contain secrets.
extension RainKitConfiguration: CustomStringConvertible, CustomReflectable {
    public var description: String { "RainKitConfiguration(state: \(state), deployment: \(deployment.name))" }
    public var customMirror: Mirror { Mirror(self, children: ["state": state, "deployment": deployment.name]) }
}

/// The environment that this process was started with.
package func processEnvironment() -> [String: String] {
    var result: [String: String] = [:]
    var next = environ
    while let entry = next.pointee {
        let text = String(cString: entry)
        // As bytes, because finding the characters of the text takes ten times as long.
        if let separator = text.utf8.firstIndex(of: UInt8(ascii: "=")) {
            result[String(text[..<separator])] = String(text[text.utf8.index(after: separator)...])
        }
        next += 1
    }
    return result
}

/// The choice of an identity system other than RainMaker's own.
public struct ProviderSelection: Sendable {
    /// The provider's name, such as `spid`, or the name under which its settings were remembered.
    public var name: String
    /// The provider's settings; those of the last sign-in if nil.
    public var settings: ProviderSettings?
    /// Answers servers that require authentication before the provider can be reached.
    public var challenges: (any ChallengeResolver)?

    public init(_ name: String, settings: ProviderSettings? = nil, challenges: (any ChallengeResolver)? = nil) {
        self.name = name
        self.settings = settings
        self.challenges = challenges
    }
}

/// External services that a client uses. Each has a default for Linux, and each can be replaced.
public struct RainKitTools: Sendable {
    /// Makes the HTTP client for clouds and boards. The argument is a PEM file of authorities to trust instead of the system's.
    public var http: @Sendable (_ certificateAuthorities: String?) -> any HTTPClient
    /// Opens connections to a cloud's broker, for live changes. The argument is the same as for ``http``.
    public var connections: @Sendable (_ certificateAuthorities: String?) -> any StreamOpener
    /// The cryptography of boards' handshakes, and the hashes of signatures and code challenges.
    public var crypto: any CryptoSuite.Type
    /// Checks the id tokens of identity providers with the keys that the providers publish.
    public var signatures: any PublicKeySignatures.Type
    /// Returns unpredictable bytes, used for keys, secrets and states.
    public var randomBytes: @Sendable (_ count: Int) -> [UInt8]
    /// The time of day, which decides when tokens expire.
    public var clock: any WallClock
    /// Measures waiting and deadlines.
    public var timer: any Clock<Duration>

    /// Creates the tools. The defaults are libcurl, OpenSSL and the machine's clocks.
    ///
    /// - Parameter timer: nil for the machine's monotonic clock, with one thread for all deadlines of the process.
    public init(
        http: @escaping @Sendable (_ certificateAuthorities: String?) -> any HTTPClient = {
            CurlHTTPClient(CurlConfiguration(certificateAuthorities: $0))
        },
        connections: @escaping @Sendable (_ certificateAuthorities: String?) -> any StreamOpener = {
            CurlStreamOpener(CurlConfiguration(certificateAuthorities: $0))
        },
        crypto: any CryptoSuite.Type = OpenSSLCrypto.self,
        signatures: any PublicKeySignatures.Type = OpenSSLCrypto.self,
        randomBytes: @escaping @Sendable (_ count: Int) -> [UInt8] = { count in
            var source = OpenSSLRandom()
            return source.bytes(count)
        },
        clock: any WallClock = SystemWallClock(), timer: (any Clock<Duration>)? = nil
    ) {
        self.http = http
        self.connections = connections
        self.crypto = crypto
        self.signatures = signatures
        self.randomBytes = randomBytes
        self.clock = clock
        self.timer = timer ?? TimerClock()
    }

    /// ``randomBytes`` as a random source.
    public var random: some RandomSource { DrawnBytes(draw: randomBytes) }

    /// Returns the tools for an identity provider, such as one that `ProviderRegistry` creates.
    ///
    /// - Parameters:
    ///   - http: sends every request of the provider.
    ///   - clock: gives the time at which tokens arrive; nil for ``clock``.
    ///   - challenges: answers proxies and gateways that ask for a name and password. With nil, nobody does.
    public func providerTools(
        http: any HTTPClient, clock: (any WallClock)? = nil, challenges: (any ChallengeResolver)? = nil
    ) -> ProviderTools {
        ProviderTools(
            http: http, clock: clock ?? self.clock, hashes: crypto, signatures: signatures, challenges: challenges,
            random: randomBytes)
    }
}

private struct DrawnBytes: RandomSource {
    let draw: @Sendable (Int) -> [UInt8]

    mutating func fill(_ buffer: UnsafeMutableBufferPointer<UInt8>) {
        _ = buffer.update(fromContentsOf: draw(buffer.count))
    }
}

/// A file with the certificates of authorities, in PEM form.
public enum CertificateFile {
    /// Returns why the file cannot be used, such as "contains no certificate in PEM form". Returns nil if the file has at least one
    /// certificate, and no damaged ones.
    public static func problem(_ path: String) -> String? {
        let version = FileVersion(ofFileAt: path)
        if let version, let known = checked.result(of: path, version) as? Verdict { return known.problem }
        let verdict = Verdict(problem: certificateFileProblem(path))
        if let version { checked.keep(verdict, of: path, version) }
        return verdict.problem
    }

    private struct Verdict { var problem: String? }

    /// Checking the many certificates of a system's file takes milliseconds, and a server checks the same file for each request.
    private static let checked = ReadFiles()
}
