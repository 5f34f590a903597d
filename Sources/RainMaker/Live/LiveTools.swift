// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCrypto
import RainIO

/// What listening to nodes works with and does not make itself.
public struct LiveTools: Sendable {
    /// Opens connections to the broker.
    public var opener: any StreamOpener
    /// For the signatures of connections.
    public var hashes: any Hashes.Type
    /// SHA-1, which WebSocket's handshake is made with.
    public var sha1: @Sendable (_ bytes: [UInt8]) -> [UInt8]
    /// Unpredictable bytes, for masks and names of connections.
    public var randomBytes: @Sendable (_ count: Int) -> [UInt8]
    /// The time of day, which signatures hold.
    public var clock: any WallClock
    /// Waits for so long; throws when it is cancelled.
    public var sleep: @Sendable (Duration) async throws -> Void
    /// The time by which connections are measured.
    public var now: @Sendable () -> ContinuousClock.Instant = { .now }

    public init(
        opener: any StreamOpener, hashes: any Hashes.Type, sha1: @escaping @Sendable (_ bytes: [UInt8]) -> [UInt8],
        randomBytes: @escaping @Sendable (_ count: Int) -> [UInt8], clock: any WallClock,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        (self.opener, self.hashes, self.sha1) = (opener, hashes, sha1)
        (self.randomBytes, self.clock, self.sleep) = (randomBytes, clock, sleep)
    }

    var subscription: MQTTSubscription.Tools {
        MQTTSubscription.Tools(
            opener: opener, random: randomBytes,
            base64: { String(decoding: Base64.encoded($0), as: UTF8.self) }, sha1: sha1, sleep: sleep)
    }
}
