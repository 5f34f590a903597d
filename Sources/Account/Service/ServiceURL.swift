// SPDX-License-Identifier: Apache-2.0
import RainCore

/// The absolute base URL of a service: https, or plain http to this machine only.
///
/// The grammar is small on purpose. It has no user name, no query and no fragment, because two parsers could read these differently.
public struct ServiceURL: Sendable, Hashable, CustomStringConvertible {
    /// The URL without a slash at the end.
    public let text: String
    /// `host` or `host:port`, in lower case.
    public let authority: String

    public var description: String { text }

    public init(_ text: String) throws(AccountError) {
        let isSecure = text.lowercased().hasPrefix("https://")
        guard isSecure || text.lowercased().hasPrefix("http://") else {
            throw AccountError(
                .invalidConfiguration, message: "\"\(ShownText.withoutUserInfo(text))\" does not begin with https://")
        }
        let rest = text.dropFirst(isSecure ? 8 : 7)
        let end = rest.firstIndex(of: "/") ?? rest.endIndex
        authority = rest[..<end].lowercased()
        var path = rest[end...]
        while path.last == "/" { path = path.dropLast() }

        guard let host = Self.host(of: authority), path.utf8.allSatisfy(isPathCharacter), !path.contains("//") else {
            throw AccountError(
                .invalidConfiguration,
                message: "\"\(ShownText.withoutUserInfo(text))\" is not a base URL: \(Self.problem(rest, authority))")
        }
        guard isSecure || isLoopback(host) else {
            throw AccountError(
                .insecureURL, message: "plain http to \(host) would send passwords unencrypted: use https://")
        }
        self.text = "\(isSecure ? "https" : "http")://\(authority)\(String(path))"
    }

    /// Returns the description of a common mistake, or else the expected form.
    private static func problem(_ rest: Substring, _ authority: String) -> String {
        if rest.contains(where: { "?#".contains($0) }) { return "it has a query or a fragment (? or #)" }
        if authority.contains("@") { return "it has a user name or a password" }
        if authority.isEmpty { return "it has no host" }
        if authority.contains(where: \.isWhitespace) || rest.contains(where: \.isWhitespace) { return "it has a space" }
        let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
        if !authority.contains("["), parts.count > 2 {
            // Only hexadecimal digits make an IPv6 address.
            let isIPv6 = parts.allSatisfy { $0.allSatisfy { $0.isHexDigit || $0 == "." } } && !parts[0].contains(".")
            return isIPv6 ? "an IPv6 address is written in brackets, as in [::1]" : "it has more than one colon"
        }
        if !authority.contains("["), parts.count == 2, UInt16(parts[1]) ?? 0 == 0 {
            return "\"\(parts[1])\" is not a port: ports are 1 to 65535"
        }
        if authority.contains("%") { return "it names a network interface (%)" }
        return "a base URL is https://HOST, optionally with :PORT and a path"
    }

    /// Returns whether every reader places a URL below this one. A path with a dot segment or a backslash fails. Some clients and servers
    /// resolve these and others do not (RFC 3986, 5.2.4), so the request could go elsewhere.
    public func isBase(of url: String) -> Bool {
        guard url.utf8.starts(with: text.utf8) else { return false }
        let rest = url.utf8.dropFirst(text.utf8.count)
        guard rest.first == UInt8(ascii: "/") else { return false }
        let path = String(decoding: rest.prefix { !"?#".utf8.contains($0) }, as: UTF8.self)
        // A slash or a backslash and a combining mark after it are one character.
        let segments = path.unicodeScalars.split(separator: "/").map {
            String($0).lowercased().replacing("%2e", with: ".")
        }
        return !path.utf8.contains(UInt8(ascii: "\\")) && !segments.contains(".") && !segments.contains("..")
    }

    /// Returns the host if the authority is well-formed. An IPv6 address keeps its brackets.
    private static func host(of authority: String) -> String? {
        var host = Substring(authority)
        var port: Substring?
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[...end]
            let rest = authority[authority.index(after: end)...]
            guard rest.isEmpty || rest.first == ":" else { return nil }
            port = rest.isEmpty ? nil : rest.dropFirst()
            guard host.dropFirst().dropLast().utf8.allSatisfy({ isHexDigit($0) || $0 == 0x3A || $0 == 0x2E }) else {
                return nil
            }
        } else {
            if let colon = authority.firstIndex(of: ":") {
                host = authority[..<colon]
                port = authority[authority.index(after: colon)...]
            }
            guard
                host.utf8.allSatisfy({ $0.isASCIILetterOrDigit || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F })
            else {
                return nil
            }
        }
        if let port {
            guard port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(port), number > 0 else {
                return nil
            }
        }
        return host.isEmpty ? nil : String(host)
    }
}

private func isLoopback(_ host: String) -> Bool {
    if host == "localhost" || host == "[::1]" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil } && parts[0] == "127"
}

private func isHexDigit(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte | 0x20)
}

private func isPathCharacter(_ byte: UInt8) -> Bool {
    byte.isASCIILetterOrDigit || "-._~!$&'()*+,;=:@/".utf8.contains(byte)
}
