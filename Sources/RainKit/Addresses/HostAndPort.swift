// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning

/// `HOST`, `HOST:PORT`, `[IPV6]` or `[IPV6]:PORT`, as transports over a network have in their addresses.
public struct HostAndPort: Sendable, Equatable {
    /// A name or an address; an IPv6 address keeps its brackets, as URLs need them.
    public var host: String
    /// From 1 to 65535.
    public var port: Int

    /// Throws `invalidArgument` for anything else.
    /// - Parameter usual: the port where none is given.
    public init(_ text: String, usual: Int = 80) throws(ProvisioningError) {
        let end =
            text.hasPrefix("[") ? text.firstIndex(of: "]").map { text.index(after: $0) } : text.firstIndex(of: ":")
        let (host, rest) = (text[..<(end ?? text.endIndex)], text[(end ?? text.endIndex)...])
        let port = rest.isEmpty ? usual : rest.hasPrefix(":") ? Int(rest.dropFirst()) ?? 0 : 0
        let allowed = host.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"/?#@%\\".utf8.contains($0) }
        guard !host.isEmpty, allowed, (1...65535).contains(port) else {
            throw ProvisioningError(
                .invalidArgument, message: "A board's host is HOST or HOST:PORT.", reason: "usage", remedies: [.host])
        }
        self.host = String(host)
        self.port = port
    }
}
