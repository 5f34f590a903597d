// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Glibc

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
                .invalidArgument, message: Self.problem(text), reason: "usage", remedies: [.host])
        }
        self.host = String(host)
        self.port = port
    }

    /// Names the mistake in an address that cannot be used. No message quotes a text that may hold a password.
    private static func problem(_ text: String) -> String {
        if text.contains("://") { return "A board's address is HOST or HOST:PORT, without http:// and a path." }
        if text.contains("@") { return "A board's address has no user name or password: it is HOST or HOST:PORT." }
        if !text.contains("["), text.split(separator: ":", omittingEmptySubsequences: false).count > 2 {
            // In `::1:8080` nobody can tell whether the last number is a port.
            let isIPv6 = text.utf8.allSatisfy { ":.".utf8.contains($0) || Character(Unicode.Scalar($0)).isHexDigit }
            return isIPv6 || text.contains("%")
                ? "An IPv6 address is written in brackets, and a port follows them, as in [::1] or [::1]:8080."
                : "A board's address is HOST or HOST:PORT, and this has more than one colon."
        }
        let port = text.split(separator: ":", omittingEmptySubsequences: false).last ?? ""
        if text.contains(":"), !port.contains("]"), !(1...65535).contains(Int(port) ?? 0) {
            return "\"\(port)\" is not a port: ports are 1 to 65535."
        }
        return "A board's address is HOST or HOST:PORT, and this is not one."
    }

    /// Throws `unavailable` if the address names a network interface that this machine does not have, and `invalidArgument` for a link-local
    /// address without one (RFC 4007, 11): it may be on any of the networks that this machine is on.
    package func checkInterface() throws(ProvisioningError) {
        guard host.hasPrefix("[") else { return }
        let parts = host.dropFirst().dropLast().split(separator: "%", maxSplits: 1)
        guard parts.count == 2 else {
            let start = parts.first?.lowercased().prefix(3) ?? ""
            guard ["fe8", "fe9", "fea", "feb"].contains(start) else { return }
            throw ProvisioningError(
                .invalidArgument,
                message: "A link-local address needs the name of the network interface: [\(parts[0])%wlan0].",
                reason: "usage", remedies: [.host])
        }
        if if_nametoindex(String(parts[1])) == 0 {
            throw ProvisioningError(
                .unavailable, message: "This machine has no network interface \"\(parts[1])\".", remedies: [.host])
        }
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
