// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Glibc
import RainCore

/// The address of a board: the scheme of a transport, and a location in that transport's own form.
///
/// ```swift
/// let cable: BoardAddress = .serial("/dev/ttyUSB0")
/// let typed = try BoardAddress("ble:PROV_a1b2c3?adapter=hci1")
/// ```
///
/// The text form is `SCHEME:LOCATION`, followed by `?name=value&…`. Without a location it means the only board, or the usual location, of
/// that transport. Any scheme is allowed here; ``RainKitConfiguration/transports`` decides which ones are supported.
public struct BoardAddress: Hashable, Sendable, CustomStringConvertible {
    /// The transport: `serial`, `ble`, `softap`, or one that a program has registered.
    public var scheme: String
    /// A path, a name, a host; nil for the only board.
    public var location: String?
    /// Further values for the transport, such as `adapter`.
    public var parameters: [String: String]

    public init(scheme: String, location: String? = nil, parameters: [String: String] = [:]) {
        self.scheme = scheme
        self.location = location
        self.parameters = parameters
    }

    /// Reads the text form. Throws `invalidArgument` for text without a scheme, and for a parameter without a value.
    public init(_ text: String) throws(BoardError) {
        guard let colon = text.firstIndex(of: ":"), Self.isScheme(text[..<colon]) else {
            throw BoardError(
                .invalidArgument,
                message: "A board's address must have the form TRANSPORT:LOCATION, such as serial:/dev/ttyUSB0.")
        }
        let rest = text[text.index(after: colon)...]
        let mark = rest.firstIndex(of: "?")
        let location = String(rest[..<(mark ?? rest.endIndex)])
        self.init(scheme: String(text[..<colon]), location: location.isEmpty ? nil : location)
        guard let mark else { return }
        for pair in rest[rest.index(after: mark)...].split(separator: "&") {
            guard let equals = pair.firstIndex(of: "="), equals > pair.startIndex else {
                throw BoardError(
                    .invalidArgument, message: "Each parameter of a board's address must have the form name=value.")
            }
            parameters[String(pair[..<equals])] = String(pair[pair.index(after: equals)...])
        }
    }

    /// The address as text, in the form that can be read again.
    public var description: String {
        let more = parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
        return "\(scheme):\(location ?? "")\(more.isEmpty ? "" : "?\(more)")"
    }

    private static func isScheme(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
    }
}

/// A person's information about a board, by options or by its label, before the search.
public struct BoardHint: Sendable {
    /// The transport, if one was named.
    public var scheme: String?
    /// Values of ``BoardTransport/options``, by the options' names.
    public var options: [String: String]
    /// The content of the board's QR code.
    public var code: QRPayload?

    public init(scheme: String? = nil, options: [String: String] = [:], code: QRPayload? = nil) {
        self.scheme = scheme
        self.options = options
        self.code = code
    }
}

extension RainKitClient {
    /// Returns the address for a hint. The first of these decides the transport:
    /// the named transport, an option of one transport, the QR code, a name (a transport that finds boards by name), a connected board.
    ///
    /// Throws `invalidArgument` for a transport that is not registered, and for an option that the transport does not have.
    public func address(for hint: BoardHint) throws(BoardError) -> BoardAddress {
        let transport = try transport(for: hint)
        var address = BoardAddress(scheme: transport.scheme)
        for option in transport.options {
            // On a label, the name is the one that the board advertises. On a network it has another.
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

    /// The option that every transport accepts. Those that cannot search by name only display it.
    public static var nameOption: String { "device-name" }

    private func transport(for hint: BoardHint) throws(BoardError) -> any BoardTransport {
        let transports = configuration.transports
        if let scheme = hint.scheme { return try registeredTransport(for: BoardAddress(scheme: scheme)) }
        let named = hint.options.keys.filter { $0 != Self.nameOption }
        let candidates = [
            transports.first { transport in transport.options.contains { named.contains($0.name) && !$0.isForOther } },
            transports.first { $0.scheme == hint.code?.transport?.rawValue },
            // A board on a cable does not tell its name, so it may be another one.
            hint.options[Self.nameOption].flatMap { _ in
                transports.first { transport in
                    transport.options.contains { $0.name == Self.nameOption && !$0.isForOther }
                }
            },
            transports.first { $0.hasBoardAtHand },
            transports.first,
        ]
        guard let found = candidates.compactMap(\.self).first else {
            throw BoardError(.invalidArgument, message: "This client has no transport to boards.")
        }
        return found
    }
}

/// `HOST`, `HOST:PORT`, `[IPV6]` or `[IPV6]:PORT`, for the addresses of transports over a network. A link-local IPv6 address includes its
/// zone, the network interface, as in `[fe80::1%eth0]`.
public struct HostAndPort: Sendable, Equatable {
    /// A name or an address; an IPv6 address keeps its brackets, which URLs need.
    public var host: String
    /// From 1 to 65535.
    public var port: Int

    /// Throws `invalidArgument` for any other text.
    ///
    /// - Parameter usual: the port if the text contains none.
    public init(_ text: String, usual: Int = 80) throws(BoardError) {
        let end =
            text.hasPrefix("[") ? text.firstIndex(of: "]").map { text.index(after: $0) } : text.firstIndex(of: ":")
        let (host, rest) = (text[..<(end ?? text.endIndex)], text[(end ?? text.endIndex)...])
        let port = rest.isEmpty ? usual : rest.hasPrefix(":") ? Int(rest.dropFirst()) ?? 0 : 0
        let zoneless =
            host.hasPrefix("[") ? host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false) : [host]
        let isIPv6 = host.hasPrefix("[")
        let allowed =
            isIPv6
            ? host.hasSuffix("]")
                && zoneless[0].utf8.allSatisfy { Hex.value(of: $0) != nil || "[]:.".utf8.contains($0) }
            : host.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-._~".utf8.contains($0) }
        let hasZone = zoneless.count == 1 || Self.isZone(zoneless[1])
        guard !host.isEmpty, allowed, hasZone, (1...65535).contains(port) else {
            throw BoardError(
                .invalidArgument, message: Self.problem(text), reason: "usage", remedies: [.host])
        }
        self.host = String(host)
        self.port = port
    }

    /// Names the mistake in an unusable address. No message quotes a text that may contain a password.
    private static func problem(_ text: String) -> String {
        if text.contains("://") { return "A board's address must be HOST or HOST:PORT, without http:// or a path." }
        if text.contains("@") {
            return "A board's address must be HOST or HOST:PORT, without a user name or a password."
        }
        if !text.contains("["), text.split(separator: ":", omittingEmptySubsequences: false).count > 2 {
            // In `::1:8080` the last number may be a port or not.
            // An IPv4 address first, and two ports after it.
            let isIPv6 =
                text.utf8.allSatisfy { ":.".utf8.contains($0) || Character(Unicode.Scalar($0)).isHexDigit }
                && !text.prefix { $0 != ":" }.contains(".")
            return isIPv6 || text.contains("%")
                ? "Write an IPv6 address in brackets, and the port after them, as in [::1] or [::1]:8080."
                : "A board's address must be HOST or HOST:PORT, but this address has more than one colon."
        }
        let port = text.split(separator: ":", omittingEmptySubsequences: false).last ?? ""
        if text.contains(":"), !port.contains("]"), !(1...65535).contains(Int(port) ?? 0) {
            return "\"\(port)\" is not a port: ports are 1 to 65535."
        }
        return "A board's address must be HOST or HOST:PORT, but this text has neither form."
    }

    /// Throws `unavailable` if the address names a network interface that this machine does not have. Throws `invalidArgument` for a
    /// link-local address without one (RFC 4007, 11), because it may be on any of this machine's networks.
    package func checkInterface() throws(BoardError) {
        guard host.hasPrefix("[") else { return }
        let parts = host.dropFirst().dropLast().split(separator: "%", maxSplits: 1)
        guard parts.count == 2 else {
            let start = parts.first?.lowercased().prefix(3) ?? ""
            guard ["fe8", "fe9", "fea", "feb"].contains(start) else { return }
            throw BoardError(
                .invalidArgument,
                message: "A link-local address needs the name of the network interface: [\(parts[0])%wlan0].",
                reason: "usage", remedies: [.host])
        }
        if if_nametoindex(String(parts[1])) == 0 {
            throw BoardError(
                .unavailable, message: "This machine has no network interface \"\(parts[1])\".", remedies: [.host])
        }
    }

    /// Whether this is an interface's name with the closing bracket: Linux names have at most 15 bytes.
    private static func isZone(_ text: Substring) -> Bool {
        let name = text.utf8.dropLast()
        return (1...15).contains(name.count)
            && name.allSatisfy { $0.isASCIILetterOrDigit || "-_.".utf8.contains($0) }
    }
}
