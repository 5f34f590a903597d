// SPDX-License-Identifier: Apache-2.0

/// How long one part of an attempt at a connection may take, of the time that is left: a part that hangs leaves enough for another link.
/// A value, so that the policy can be read and tested by itself.
enum ConnectShare {
    /// A board that advertises is connected to within a second; BlueZ itself gives up after some 20 s.
    static func connect(of left: Duration) -> Duration { share(left, parts: 3, atMost: .seconds(10)) }

    /// From the connection to the resolved services.
    static func resolve(of left: Duration) -> Duration { share(left, parts: 2, atMost: .seconds(12)) }

    /// With less, a slow link would never be given its time.
    private static let least = Duration.seconds(4)

    private static func share(_ left: Duration, parts: Int, atMost most: Duration) -> Duration {
        max(.zero, min(left, most, max(least, left / parts)))
    }
}
