// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Glibc

/// Where a board is: the scheme of a transport, and what that transport calls the place.
///
/// ```swift
/// let cable: BoardAddress = .serial("/dev/ttyUSB0")
/// let typed = try BoardAddress("ble:PROV_a1b2c3?adapter=hci1")
/// ```
///
/// The text form is `SCHEME:LOCATION` with `?name=value&…` behind it. Without a location it means the only board, or the usual place, of
/// that transport. Any scheme may be named here; which ones are understood is ``RainKitConfiguration/transports``.
public struct BoardAddress: Hashable, Sendable, CustomStringConvertible {
    /// The transport: `serial`, `ble`, `softap`, or what a program has registered.
    public var scheme: String
    /// A path, a name, a host; nil for the only board.
    public var location: String?
    /// What the transport wants to know besides, such as `adapter`.
    public var parameters: [String: String]

    public init(scheme: String, location: String? = nil, parameters: [String: String] = [:]) {
        self.scheme = scheme
        self.location = location
        self.parameters = parameters
    }

    /// Reads the text form. Throws `invalidArgument` for text without a scheme, and for a parameter without a value.
    public init(_ text: String) throws(ProvisioningError) {
        guard let colon = text.firstIndex(of: ":"), Self.isScheme(text[..<colon]) else {
            throw ProvisioningError(
                .invalidArgument, message: "A board's address is a transport and a place, such as serial:/dev/ttyUSB0.")
        }
        let rest = text[text.index(after: colon)...]
        let mark = rest.firstIndex(of: "?")
        let location = String(rest[..<(mark ?? rest.endIndex)])
        self.init(scheme: String(text[..<colon]), location: location.isEmpty ? nil : location)
        guard let mark else { return }
        for pair in rest[rest.index(after: mark)...].split(separator: "&") {
            guard let equals = pair.firstIndex(of: "="), equals > pair.startIndex else {
                throw ProvisioningError(
                    .invalidArgument, message: "A board's address has parameters of the form name=value.")
            }
            parameters[String(pair[..<equals])] = String(pair[pair.index(after: equals)...])
        }
    }

    /// The text form.
    public var description: String {
        let more = parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
        return "\(scheme):\(location ?? "")\(more.isEmpty ? "" : "?\(more)")"
    }

    private static func isScheme(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }
}

/// What a person has said about a board, by options or by its label, before it is looked for.
public struct BoardHint: Sendable {
    /// The transport, where one was named.
    public var scheme: String?
    /// Values of ``BoardTransport/options``, by the options' names.
    public var options: [String: String]
    /// What the board's QR code says.
    public var code: QRPayload?

    public init(scheme: String? = nil, options: [String: String] = [:], code: QRPayload? = nil) {
        self.scheme = scheme
        self.options = options
        self.code = code
    }
}

extension RainKitClient {
    /// The address that is meant: over the transport that was named; else over the one that an option or the QR code speaks of; else over
    /// the one that has a board at hand.
    ///
    /// Throws `invalidArgument` for a transport that is not registered, and for an option that the transport does not have.
    public func address(for hint: BoardHint) throws(ProvisioningError) -> BoardAddress {
        let transport = try transport(for: hint)
        var address = BoardAddress(scheme: transport.scheme)
        for option in transport.options {
            // The name on a label is where a board advertises itself. On a network it has another.
            let isLabelled = option.name == Self.nameOption && option.parameter == nil
            let value = hint.options[option.name] ?? (isLabelled ? hint.code?.name : nil)
            guard let value else { continue }
            if let parameter = option.parameter {
                address.parameters[parameter] = value
            } else {
                address.location = address.location ?? value
            }
        }
        return address
    }

    /// The option that every transport lets stand: over those that do not find boards by name it is only what the board is called.
    public static var nameOption: String { "device-name" }

    private func transport(for hint: BoardHint) throws(ProvisioningError) -> any BoardTransport {
        let transports = configuration.transports
        if let scheme = hint.scheme { return try self.transport(for: BoardAddress(scheme: scheme)) }
        let named = hint.options.keys.filter { $0 != Self.nameOption }
        let candidates = [
            transports.first { transport in transport.options.contains { named.contains($0.name) && !$0.isForOther } },
            transports.first { $0.scheme == hint.code?.transport?.rawValue },
            transports.first { $0.hasBoardAtHand },
            hint.options[Self.nameOption].flatMap { _ in
                transports.first { transport in
                    transport.options.contains { $0.name == Self.nameOption && !$0.isForOther }
                }
            },
            transports.first,
        ]
        guard let found = candidates.compactMap(\.self).first else {
            throw ProvisioningError(.invalidArgument, message: "No transport to boards is registered here.")
        }
        return found
    }
}

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
