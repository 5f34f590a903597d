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

/// An identity system other than RainMaker's own, as a client signs in there.
public struct ProviderSelection: Sendable {
    /// The provider's name, such as `spid`, or that under which its settings were remembered.
    public var name: String
    /// The settings; those of the last sign-in if nil.
    public var settings: ProviderSettings?
    /// Who answers a server on the way that asks who is there.
    public var challenges: (any ChallengeResolver)?

    public init(_ name: String, settings: ProviderSettings? = nil, challenges: (any ChallengeResolver)? = nil) {
        self.name = name
        self.settings = settings
        self.challenges = challenges
    }
}

/// What a client works with and does not make itself. Each has a default for Linux, and each can be replaced.
public struct RainKitTools: Sendable {
    /// Makes the HTTP client for clouds and boards. The argument is a PEM file of authorities to trust in the place of the system's.
    public var http: @Sendable (_ certificateAuthorities: String?) -> any HTTPClient
    /// Opens connections to a cloud's broker, for live changes. The argument is as for ``http``.
    public var connections: @Sendable (_ certificateAuthorities: String?) -> any StreamOpener
    /// The cryptography of boards' handshakes, and the hashes of signatures and code challenges.
    public var crypto: any CryptoSuite.Type
    /// Checks the id tokens of identity providers by the keys that these publish.
    public var signatures: any PublicKeySignatures.Type
    /// Unpredictable bytes: keys, secrets and states are made of them.
    public var randomBytes: @Sendable (_ count: Int) -> [UInt8]
    /// Tells the time of day, by which tokens expire.
    public var clock: any WallClock
    /// Measures waiting and deadlines.
    public var timer: any Clock<Duration>

    /// libcurl, OpenSSL and the machine's clocks, where nothing else is given.
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
        clock: any WallClock = SystemWallClock(), timer: any Clock<Duration> = ContinuousClock()
    ) {
        self.http = http
        self.connections = connections
        self.crypto = crypto
        self.signatures = signatures
        self.randomBytes = randomBytes
        self.clock = clock
        self.timer = timer
    }

    /// ``randomBytes`` as a source that can be drawn from.
    public var random: some RandomSource { DrawnBytes(draw: randomBytes) }
}

private struct DrawnBytes: RandomSource {
    let draw: @Sendable (Int) -> [UInt8]

    mutating func fill(_ buffer: UnsafeMutableBufferPointer<UInt8>) {
        _ = buffer.update(fromContentsOf: draw(buffer.count))
    }
}

/// A file with the certificates of authorities, in PEM form.
public enum CertificateFile {
    /// Why the file cannot be used, such as "holds no certificate in PEM form"; nil if it has at least one certificate, and none that is
    /// damaged.
    public static func problem(_ path: String) -> String? { certificateFileProblem(path) }
}
