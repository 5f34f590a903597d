// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainCrypto
import RainCore

/// What a person, or a configuration file, says about a provider beside its definition.
public struct ProviderSettings: Sendable {
    /// Which of the definition's environments; its default if nil.
    public var environment: String?
    /// The base URL, in the place of an environment's.
    public var base: String?
    public var clientID: String?
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
    public var http: any HTTPClient
    public var clock: any WallClock
    public var hashes: any Hashes.Type
    /// Unpredictable bytes.
    public var random: @Sendable (_ count: Int) -> [UInt8]
    /// Answers proxies and gateways that ask for a name and password; nobody does if nil.
    public var challenges: (any ChallengeResolver)?

    public init(
        http: any HTTPClient, clock: any WallClock = SystemWallClock(), hashes: any Hashes.Type,
        challenges: (any ChallengeResolver)? = nil, random: @escaping @Sendable (_ count: Int) -> [UInt8]
    ) {
        self.http = http
        self.clock = clock
        self.hashes = hashes
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

    public var randomSource: Random { Random(draw: random) }
}
