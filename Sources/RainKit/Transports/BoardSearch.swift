// SPDX-License-Identifier: Apache-2.0
import Logging

/// Which boards to look for, and for how long.
public struct BoardSearch: Sendable {
    /// The time for looking.
    public var time: Duration
    /// The one board of that name, or address; the search ends with it.
    public var name: String?
    /// Boards whose name begins so, in the place of `PROV_`.
    public var prefix: String?
    /// Boards that advertise one of these services alone, as UUIDs.
    public var services: Set<String>
    /// The address's parameters, such as `adapter`.
    public var parameters: [String: String]
    /// Hears of the search; the client's logger if nil.
    public var logger: Logger?
    /// Whether a transport that can list its boards at once goes on for the whole time, for those that come meanwhile.
    public var watches = false

    public init(
        for time: Duration = .seconds(10), name: String? = nil, prefix: String? = nil, services: Set<String> = [],
        parameters: [String: String] = [:], logger: Logger? = nil
    ) {
        self.time = time
        self.name = name
        self.prefix = prefix
        self.services = services
        self.parameters = parameters
        self.logger = logger
    }
}

/// A board in reach.
public struct FoundBoard: Sendable, Hashable {
    /// Where it is: what ``RainKitClient`` provisions.
    public var address: BoardAddress
    /// What it calls itself, where that was heard.
    public var name: String?
    /// What else tells people which it is, such as the name of a cable's adapter.
    public var detail: String?
    /// The strength of its signal in dBm.
    public var signal: Int?
    /// The services that it advertises, as lower-case UUIDs; nil where the transport knows of none.
    public var services: [String]?
    /// Whether some program on this machine is connected to it already; nil where the transport cannot tell.
    public var isConnected: Bool?
    /// Its id in the cloud, where it announces that.
    public var nodeID: String?

    public init(
        _ address: BoardAddress, name: String? = nil, signal: Int? = nil, services: [String]? = nil,
        isConnected: Bool? = nil, nodeID: String? = nil
    ) {
        self.nodeID = nodeID
        self.address = address
        self.name = name
        self.signal = signal
        self.services = services
        self.isConnected = isConnected
    }
}
