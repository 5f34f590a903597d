// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning

/// `HOST`, `HOST:PORT`, `[IPV6]` or `[IPV6]:PORT`, as transports over a network have in their addresses. A link-local IPv6 address names its
/// zone, the network interface, as in `[fe80::1%eth0]`.
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
        let zoneless =
            host.hasPrefix("[") ? host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false) : [host]
        let allowed = zoneless[0].utf8.allSatisfy { (0x21...0x7E).contains($0) && !"/?#@%\\".utf8.contains($0) }
        let hasZone = zoneless.count == 1 || Self.isZone(zoneless[1])
        guard !host.isEmpty, allowed, hasZone, (1...65535).contains(port) else {
            throw ProvisioningError(
                .invalidArgument, message: "A board's host is HOST or HOST:PORT.", reason: "usage", remedies: [.host])
        }
        self.host = String(host)
        self.port = port
    }

    /// An interface's name with the closing bracket: Linux names have at most 15 bytes.
    private static func isZone(_ text: Substring) -> Bool {
        let name = text.utf8.dropLast()
        return (1...15).contains(name.count)
            && name.allSatisfy {
                (0x61...0x7A).contains($0) || (0x41...0x5A).contains($0) || (0x30...0x39).contains($0)
                    || "-_.".utf8.contains($0)
            }
    }
}
