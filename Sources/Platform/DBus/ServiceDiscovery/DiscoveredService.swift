// SPDX-License-Identifier: Apache-2.0

/// A service that somebody on the network announces by multicast DNS (RFC 6762, RFC 6763), with one address at which it is reached.
public struct DiscoveredService: Sendable, Hashable {
    /// What it is called on the network; another of the same name on the same link is renamed by its own host, to `Lamp #2` or `Lamp-2`.
    public var name: String
    /// The host's name, such as `node1.local`.
    public var host: String
    /// An IPv4 address, or an IPv6 address without brackets; a link-local one with its zone, as in `fe80::1%eth0`.
    public var address: String
    /// From 1 to 65535.
    public var port: Int
    /// The TXT record: of a name that comes twice the first counts (RFC 6763, 6.4), names are in lower case, and values that are not UTF-8
    /// are left out.
    public var text: [String: String]

    public init(name: String, host: String, address: String, port: Int, text: [String: String] = [:]) {
        self.name = name
        self.host = host
        self.address = address
        self.port = port
        self.text = text
    }

    /// `HOST:PORT` as it stands in a URL, an IPv6 address in brackets.
    public var place: String {
        address.utf8.contains(UInt8(ascii: ":")) ? "[\(address)]:\(port)" : "\(address):\(port)"
    }
}
