// SPDX-License-Identifier: Apache-2.0

/// Where a sign-in page sends the browser when it is done.
///
/// Two of them are the same only if every character is; the one exception is the port of a loopback address, which a native
/// application chooses when it runs (RFC 8252, section 7.3).
public struct RedirectURI: Sendable, Hashable {
    /// The URI as it is registered and sent.
    public let text: String
    /// The longest that is taken, in bytes.
    public static let maximumLength = 2048

    /// Throws `malformed` unless it is absolute and without fragment (RFC 6749, section 3.1.2), in visible ASCII, and without
    /// what two parsers could read differently: a user name, a backslash.
    public init(_ text: String) throws(OAuth2FormatError) {
        guard (1...Self.maximumLength).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !#"#\"<>^`{|}"#.utf8.contains($0) }),
            let scheme = Self.scheme(of: text)
        else { throw OAuth2FormatError(.malformed, "a redirect URI is absolute and has no fragment") }
        if scheme == "http" || scheme == "https" {
            let rest = text.utf8.dropFirst(scheme.utf8.count)
            let authority = rest.dropFirst(3).prefix { !"/?".utf8.contains($0) }
            guard rest.starts(with: "://".utf8), !authority.isEmpty, !authority.contains(UInt8(ascii: "@")) else {
                throw OAuth2FormatError(.malformed, "a redirect URI has a host, and no user name")
            }
        }
        self.text = text
    }

    /// In lower case.
    public var scheme: String { Self.scheme(of: text) ?? "" }

    /// Whether a server that has registered `registered` may send a browser here.
    public func matches(registered: RedirectURI) -> Bool {
        if text == registered.text { return true }
        guard let own = withoutLoopbackPort, let other = registered.withoutLoopbackPort else { return false }
        return own == other
    }

    /// The parameters that were laid behind this URI, in its query and its fragment; nil if `url` is another address.
    public func answer(in url: some StringProtocol) -> (query: Substring, fragment: Substring)? {
        let url = Substring(url)
        let hash = url.utf8.firstIndex(of: UInt8(ascii: "#")) ?? url.endIndex
        let fragment = hash == url.endIndex ? url[hash...] : url[url.utf8.index(after: hash)...]
        let beforeFragment = url[..<hash]
        guard beforeFragment.utf8.starts(with: text.utf8) else { return nil }
        let rest = beforeFragment.utf8.dropFirst(text.utf8.count)
        guard let first = rest.first else { return (url[hash..<hash], fragment) }
        let separator = text.utf8.contains(UInt8(ascii: "?")) ? UInt8(ascii: "&") : UInt8(ascii: "?")
        guard first == separator else { return nil }
        return (Substring(rest.dropFirst()), fragment)
    }

    private static func scheme(of text: String) -> String? {
        guard let end = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = text.utf8[..<end]
        guard let first = scheme.first, (0x61...0x7A).contains(first | 0x20),
            scheme.allSatisfy({ isLetterOrDigit($0) || "+-.".utf8.contains($0) }),
            text.utf8.index(after: end) < text.utf8.endIndex
        else { return nil }
        return Substring(scheme).lowercased()
    }

    /// Scheme, host, path and query of a loopback address, whatever its port; nil for other addresses. `localhost` is a name,
    /// which may lead elsewhere: it is not meant.
    private var withoutLoopbackPort: String? {
        for host in ["http://127.0.0.1", "http://[::1]"] where text.hasPrefix(host) {
            let rest = text.dropFirst(host.count)
            guard rest.first == ":" else { return rest.isEmpty || "/?".contains(rest.first!) ? host + rest : nil }
            let port = rest.dropFirst().prefix { $0 != "/" && $0 != "?" }
            guard let number = UInt16(port), number > 0, port.utf8.first != UInt8(ascii: "+") else { return nil }
            return host + rest.dropFirst(1 + port.count)
        }
        return nil
    }
}
