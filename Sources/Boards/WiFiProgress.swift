// SPDX-License-Identifier: Apache-2.0

/// What is reported while a board tries to join.
public enum WiFiProgress: Sendable, Equatable {
    /// The board is trying to join the network.
    case connecting
    /// One attempt failed and the board goes on by itself.
    case attemptFailed(remaining: Int)
    /// The board takes no settings yet: it is trying a network that it was given before. Told by ``Board/join(_:report:)`` only.
    case occupied
    /// The board cannot be asked for the moment: the access point may be changing its channel.
    case unreachable
}

/// The network that a board is on.
public struct JoinedNetwork: Sendable, Equatable {
    /// Dotted IPv4 address; empty where the board does not report one.
    public var address: String
    /// The network's name; empty where the board's answer does not include it.
    public var ssid: SSID
    /// The number of the radio channel; nil where the board does not report it, as on the RainMaker console.
    public var channel: Int?

    public init(address: String, ssid: SSID, channel: Int? = nil) {
        self.address = address
        self.ssid = ssid
        self.channel = channel
    }
}
