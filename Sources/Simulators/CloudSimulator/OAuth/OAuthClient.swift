// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCrypto
import RainCryptoOpenSSL
import RainJSON

/// An application that may sign users in through the hosted pages: its id, its secret if it can keep one, and its redirect URIs.
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

    /// Reads `ID[:SECRET]=REDIRECT[,REDIRECT…]`, the value of `--oauth-client`.
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

    /// The public client of Espressif's own apps and tools, which third parties share. It has the real client's redirect URIs, and also
    /// loopback addresses, which the real one does not have.
    public static let shared = OAuthClient(
        id: TokenIssuer.clientID,
        redirects: [
            "http://127.0.0.1/*", "http://[::1]/*", "http://localhost/*", "rainmaker://com.espressif.rainmaker/success",
            "com.espressif.rainmaker.softap://success",
        ].compactMap { RegisteredRedirect($0) })

    /// Adds a redirect URI, up to a limit.
    mutating func register(_ redirect: RegisteredRedirect) {
        if redirects.count < 32 { redirects.append(redirect) }
    }

    func accepts(redirect: String) -> Bool { redirects.contains { $0.matches(redirect) } }

    func accepts(secret: String?) -> Bool {
        guard let secretHash else { return secret == nil }
        return secret.map { equalInConstantTime(OpenSSLHashes.sha256(Array($0.utf8)), secretHash) } ?? false
    }
}

/// A redirect URI that a client has registered. It is compared as a string (RFC 9700, 4.1.3), with two exceptions. A loopback address that
/// was registered without a port matches all ports (RFC 8252, 7.3). A path that was registered as `/*` matches all paths.
public struct RegisteredRedirect: Sendable, Equatable {
    private var text: String
    private var isExact = false
    /// For a loopback address without a port: the parts before and after the port.
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

    /// For servers that compare every character, including the port of a loopback address, like Liferay.
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

    /// Whether the text is absolute, has no fragment, and needs no quoting in a header.
    private static func isURI(_ text: String) -> Bool {
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

/// The parameters of an OAuth request: each at most once (RFC 6749, 3.1 and 3.2). An empty one counts as absent.
struct OAuthParameters {
    private var fields: [String: String] = [:]

    init(_ fields: [Request.Field]) throws(OAuthFailure) {
        for field in fields where !field.value.isEmpty {
            guard self.fields.updateValue(field.value, forKey: field.name) == nil else {
                throw OAuthFailure(.invalidRequest, "A parameter is given twice")
            }
        }
    }

    /// Reads the parameters from a body that is `application/x-www-form-urlencoded`.
    init(form request: Request) throws(OAuthFailure) {
        let type = request.header("Content-Type")?.split(separator: ";").first?.lowercased() ?? ""
        guard type.trimmingSpaces() == "application/x-www-form-urlencoded" else {
            throw OAuthFailure(.invalidRequest, "The body must be application/x-www-form-urlencoded")
        }
        guard request.body.count <= 16 << 10 else { throw OAuthFailure(.invalidRequest, "The body is too long") }
        let text = String(decoding: request.body, as: UTF8.self)
        try self.init(Request.fields(ofQuery: Substring(text)))
    }

    subscript(name: String) -> String? { fields[name] }

    func required(_ name: String) throws(OAuthFailure) -> String {
        guard let value = fields[name] else { throw OAuthFailure(.invalidRequest, "\(name) is missing") }
        return value
    }
}

extension StringProtocol {
    func trimmingSpaces() -> String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let rest = drop(while: isSpace)
        return String(String(rest.reversed().drop(while: isSpace)).reversed())
    }
}

/// Returns `name=value&…`, with all characters percent-encoded except RFC 3986's unreserved ones.
func formEncoded(_ fields: [Request.Field]) -> String {
    fields.map { "\(PercentEncoding.encoded($0.name))=\(PercentEncoding.encoded($0.value))" }.joined(separator: "&")
}

/// User and password of an `Authorization: Basic` header (RFC 7617).
struct BasicCredentials: Equatable {
    var user: String
    var password: String

    init(user: String, password: String) { (self.user, self.password) = (user, password) }

    /// - Parameter isFormEncoded: whether both parts are form-encoded, as OAuth clients do (RFC 6749, 2.3.1).
    init?(_ header: String, isFormEncoded: Bool = false) {
        guard header.lowercased().hasPrefix("basic ") else { return nil }
        // Converts padded base64 of the standard alphabet to base64url without padding.
        let digits = header.dropFirst(6).filter { $0 != "=" && $0 != " " }
            .map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
        guard let bytes = Base64.urlDecoded(String(digits).utf8), let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        else {
            return nil
        }
        let text = { (part: ArraySlice<UInt8>) in
            let text = String(decoding: part, as: UTF8.self)
            return isFormEncoded ? percentDecoded(Substring(text)) : text
        }
        (user, password) = (text(bytes[..<colon]), text(bytes[(colon + 1)...]))
    }
}

/// A refusal in OAuth's format (RFC 6749, 4.1.2.1 and 5.2).
struct OAuthFailure: Error, Equatable {
    enum Code: String {
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case unauthorizedClient = "unauthorized_client"
        case unsupportedGrantType = "unsupported_grant_type"
        case unsupportedResponseType = "unsupported_response_type"
        case accessDenied = "access_denied"
        case serverError = "server_error"
        case invalidScope = "invalid_scope"
        /// Of resources (RFC 6750, 3.1).
        case invalidToken = "invalid_token"
        case insufficientScope = "insufficient_scope"
        /// Of devices (RFC 8628, 3.5).
        case authorizationPending = "authorization_pending"
        case slowDown = "slow_down"
        case expiredToken = "expired_token"
        /// Of revocation (RFC 7009, 2.2.1).
        case unsupportedTokenType = "unsupported_token_type"
        /// Of OpenID Connect (Core, 3.1.2.6).
        case loginRequired = "login_required"
        case consentRequired = "consent_required"
    }

    var code: Code
    var description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// Returns the answer of the token endpoint.
    func response(status: Int = 400) -> Response {
        var response = Response(
            status: code == .serverError ? 500 : status,
            ["error": .string(code.rawValue), "error_description": .string(description)])
        response.headers = Self.uncached
        return response
    }

    /// The parameters of the redirect.
    var parameters: [Request.Field] { [.init("error", code.rawValue), .init("error_description", description)] }

    static let uncached = [Request.Field("Cache-Control", "no-store")]
}
