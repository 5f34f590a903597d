// SPDX-License-Identifier: Apache-2.0
import RainCrypto
import RainCryptoOpenSSL

/// An application that may sign users in through the hosted pages: its id, its secret if it can keep one, and where the
/// browser may be sent afterwards.
public struct OAuthClient: Sendable, Equatable {
    public var id: String
    /// Nil for a public client (RFC 6749, 2.1).
    private var secretHash: [UInt8]?
    private var redirects: [RegisteredRedirect]

    public var isConfidential: Bool { secretHash != nil }

    public init(id: String, secret: String? = nil, redirects: [RegisteredRedirect]) {
        self.id = id
        secretHash = secret.map { OpenSSLHashes.sha256(Array($0.utf8)) }
        self.redirects = redirects
    }

    /// `ID[:SECRET]=REDIRECT[,REDIRECT…]`, as `--oauth-client` takes it.
    public init?(_ text: String) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let name = parts[0].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let redirects = parts[1].split(separator: ",").compactMap { RegisteredRedirect(String($0)) }
        guard let id = name.first, !id.isEmpty, id.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            name.count == 1 || !name[1].isEmpty, !redirects.isEmpty,
            redirects.count == parts[1].split(separator: ",", omittingEmptySubsequences: false).count
        else { return nil }
        self.init(id: String(id), secret: name.count > 1 ? String(name[1]) : nil, redirects: redirects)
    }

    /// The public client of Espressif's own apps and tools, which third parties share: what it may redirect to there, and to
    /// loopback addresses, too, which the real one may not.
    public static let shared = OAuthClient(
        id: TokenIssuer.clientID,
        redirects: [
            "http://127.0.0.1/*", "http://[::1]/*", "http://localhost/*", "rainmaker://com.espressif.rainmaker/success",
            "com.espressif.rainmaker.softap://success",
        ].compactMap { RegisteredRedirect($0) })

    /// Takes one more; a client has some at most.
    mutating func register(_ redirect: RegisteredRedirect) {
        if redirects.count < 32 { redirects.append(redirect) }
    }

    func accepts(redirect: String) -> Bool { redirects.contains { $0.matches(redirect) } }

    func accepts(secret: String?) -> Bool {
        guard let secretHash else { return secret == nil }
        return secret.map { equalInConstantTime(OpenSSLHashes.sha256(Array($0.utf8)), secretHash) } ?? false
    }
}

/// A redirect URI that a client has registered: compared as a string (RFC 9700, 4.1.3), but for the port of a loopback
/// address that was registered without one (RFC 8252, 7.3), and for a path that was registered as `/*`.
public struct RegisteredRedirect: Sendable, Equatable {
    private var text: String
    private var isExact = false
    /// For a loopback address without a port: what stands before and after it.
    private var loopback: (host: String, path: String)? {
        for host in ["http://127.0.0.1", "http://[::1]", "http://localhost"] where text.hasPrefix(host + "/") {
            return (host, String(text.dropFirst(host.count)))
        }
        return nil
    }

    public init?(_ text: String) {
        guard Self.isURI(text) else { return nil }
        self.text = text
    }

    /// For servers that compare every character, the port of a loopback address too, as Liferay does.
    public init?(exactly text: String) {
        self.init(text)
        isExact = true
    }

    func matches(_ redirect: String) -> Bool {
        guard Self.isURI(redirect) else { return false }
        if redirect == text { return true }
        guard !isExact, let loopback, redirect.hasPrefix(loopback.host) else { return false }
        let rest = redirect.dropFirst(loopback.host.count)
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        let port = rest[..<slash]
        let path = rest[slash...]
        guard port.isEmpty || port.first == ":" && UInt16(port.dropFirst()) ?? 0 != 0 else { return false }
        return loopback.path == "/*" || loopback.path == path
    }

    /// Absolute, without a fragment, and nothing in it that would need quoting in a header.
    static func isURI(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), text.utf8.count <= 2048 else { return false }
        let scheme = text[..<colon].lowercased().utf8
        let isScheme =
            scheme.first.map { (0x61...0x7A).contains($0) } == true
            && scheme.allSatisfy {
                (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || [0x2B, 0x2D, 0x2E].contains($0)
            }
        return isScheme && !["javascript", "data", "file", "vbscript"].contains(text[..<colon].lowercased())
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !Array("\"<>\\^`{|}#".utf8).contains($0) }
    }
}
