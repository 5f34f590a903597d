// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCrypto
import RainHTTP

/// What a person, or a configuration file, says about a provider beside its definition.
public struct ProviderSettings: Sendable {
    /// Which of the definition's environments; its default if nil.
    public var environment: String?
    /// The base URL, in the place of an environment's.
    public var base: String?
    /// The person's own client id, in the place of the definition's; a sign-in without either throws `missingParameter`.
    public var clientID: String?
    /// The secret that belongs to the client id; nil for a public client (RFC 6749, section 2.1).
    public var clientSecret: Secret?
    /// What to ask for, in the place of the definition's usual scope.
    public var scope: [String]?
    /// Which of several ways of the same kind an extension is to take, such as Liferay's `cookie`.
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

/// What a provider works with and does not make itself.
public struct ProviderTools: Sendable {
    /// Sends every request of the provider.
    public var http: any HTTPClient
    /// Says when tokens came, from which their end is reckoned.
    public var clock: any WallClock
    /// SHA-256 for code challenges (RFC 7636, section 4.2), and what extensions sign with.
    public var hashes: any Hashes.Type
    /// Checks id tokens by the keys that their provider publishes.
    public var signatures: any PublicKeySignatures.Type
    /// Unpredictable bytes.
    public var random: @Sendable (_ count: Int) -> [UInt8]
    /// Answers proxies and gateways that ask for a name and password; nobody does if nil.
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

    /// The same source as one that can be drawn from.
    public struct Random: RandomSource {
        let draw: @Sendable (Int) -> [UInt8]

        public mutating func fill(_ buffer: UnsafeMutableBufferPointer<UInt8>) {
            _ = buffer.update(fromContentsOf: draw(buffer.count))
        }
    }

    /// The property `random` as a `RandomSource`, for states, nonces and code verifiers.
    public var randomSource: Random { Random(draw: random) }
}

/// HMAC-SHA-256 under one key, with the hash function handed in: how SPiD and OCLC sign.
struct KeyedHash: Sendable {
    let key: Secret
    let hashes: any Hashes.Type

    /// 32 bytes.
    func callAsFunction(_ message: [UInt8]) -> [UInt8] { hashes.hmacSHA256(message, key: key.revealBytes()) }
}
