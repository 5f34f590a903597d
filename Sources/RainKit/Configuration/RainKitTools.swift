// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCrypto
import RainCryptoOpenSSL
import RainHTTP
import RainHTTPCurl
import RainIO

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
