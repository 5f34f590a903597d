// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCrypto
import RainHTTP

/// The settings of a provider beside its definition, by a user or a configuration file.
public struct ProviderSettings: Sendable, Equatable {
    /// The name of one of the definition's environments; nil for its default.
    public var environment: String?
    /// The base URL, instead of an environment's.
    public var base: String?
    /// The user's own client id, instead of the definition's. A sign-in without either throws `missingParameter`.
    public var clientID: String?
    /// The secret of the client id; nil for a public client (RFC 6749, section 2.1).
    public var clientSecret: Secret?
    /// The scope to request, instead of the definition's default.
    public var scope: [String]?
    /// The mode, if an extension has several of the same kind, such as Liferay's `cookie`.
    public var mode: String?
    /// The definition's parameters by name.
    public var parameters: [String: String]
    /// The definition's secrets by name.
    public var secrets: [String: Secret]

    public init(
        environment: String? = nil, base: String? = nil, clientID: String? = nil, clientSecret: Secret? = nil,
        scope: [String]? = nil, mode: String? = nil, parameters: [String: String] = [:],
        secrets: [String: Secret] = [:]
    ) {
        self.environment = environment
        self.base = base
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.scope = scope
        self.mode = mode
        self.parameters = parameters
        self.secrets = secrets
    }
}

/// The services that a provider depends on.
public struct ProviderTools: Sendable {
    /// Sends every request of the provider.
    public var http: any HTTPClient
    /// Gives the time at which tokens arrive, from which their expiry is computed.
    public var clock: any WallClock
    /// SHA-256 for code challenges (RFC 7636, section 4.2), and for the signatures of extensions.
    public var hashes: any Hashes.Type
    /// Checks ID tokens with the keys that their provider publishes.
    public var signatures: any PublicKeySignatures.Type
    /// Returns unpredictable bytes.
    public var random: @Sendable (_ count: Int) -> [UInt8]
    /// Answers proxies and gateways that ask for a name and password. With nil, nobody does.
    public var challenges: (any ChallengeResolver)?

    public init(
        http: any HTTPClient, clock: any WallClock = SystemWallClock(), hashes: any Hashes.Type,
        signatures: any PublicKeySignatures.Type, challenges: (any ChallengeResolver)? = nil,
        random: @escaping @Sendable (_ count: Int) -> [UInt8]
    ) {
        self.http = http
        self.clock = clock
        self.hashes = hashes
        self.signatures = signatures
        self.challenges = challenges
        self.random = random
    }

    /// Adapts the source to `RandomSource`.
    public struct Random: RandomSource {
        let draw: @Sendable (Int) -> [UInt8]

        public mutating func fill(_ buffer: UnsafeMutableBufferPointer<UInt8>) {
            _ = buffer.update(fromContentsOf: draw(buffer.count))
        }
    }

    /// The property `random` as a `RandomSource`, for states, nonces and code verifiers.
    public var randomSource: Random { Random(draw: random) }
}

/// HMAC-SHA-256 under one key, with a given hash function. SPiD and OCLC sign with it.
struct KeyedHash: Sendable {
    let key: Secret
    let hashes: any Hashes.Type

    /// Returns the HMAC of the message, 32 bytes.
    func callAsFunction(_ message: [UInt8]) -> [UInt8] { hashes.hmacSHA256(message, key: key.revealBytes()) }
}
