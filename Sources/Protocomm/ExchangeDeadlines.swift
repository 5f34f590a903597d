// SPDX-License-Identifier: Apache-2.0

/// How long a board may take to answer.
///
/// A handshake gets more time than the rest: computing SRP-6a took 4.5 s on a single-core chip of the family
/// (espressif/esp-idf issue 13451).
public struct ExchangeDeadlines: Sendable, Hashable {
    /// For each exchange on `prov-session`.
    public var handshake: Duration
    /// For every other exchange.
    public var exchange: Duration

    public init(handshake: Duration, exchange: Duration) {
        self.handshake = handshake
        self.exchange = exchange
    }

    /// For transports that set no deadlines of their own: 15 s for each exchange of a handshake, 10 s for any other.
    public static let standard = ExchangeDeadlines(handshake: .seconds(15), exchange: .seconds(10))

    /// A console's prompt tells when a command has ended, so silence means that nobody reads the line.
    public static let console = ExchangeDeadlines(handshake: .seconds(5), exchange: .seconds(5))
}
