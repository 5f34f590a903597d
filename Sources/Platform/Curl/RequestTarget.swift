// SPDX-License-Identifier: Apache-2.0
import CRainCurl
import Glibc
import RainHTTP
import Synchronization

/// The target of a URL. Dangerous URLs are refused.
struct RequestTarget: Sendable {
    /// `host` or `host:port`, for errors.
    let host: String
    /// Whether requests may go through a proxy.
    let mayUseProxy: Bool
    /// Whether the connection uses TLS.
    let isEncrypted: Bool

    init(_ url: String) throws(HTTPError) {
        let parts = try URLParts(url)
        host = parts.port.map { "\(parts.host):\($0)" } ?? parts.host
        mayUseProxy = !isNearby(parts.host)
        isEncrypted = parts.isEncrypted
        guard !parts.hasCredentials else {
            throw HTTPError(.invalidRequest, host: host, message: "a URL must not contain a user name or a password")
        }
    }

    /// Refuses headers that would be dangerous, and limits that cannot be kept.
    func check(_ request: HTTPRequest) throws(HTTPError) {
        for header in request.headers {
            guard !header.name.isEmpty, header.name.utf8.allSatisfy(isTokenCharacter) else {
                throw HTTPError(
                    .invalidRequest, host: host, message: "a header's name has a character that HTTP forbids")
            }
            guard !header.value.hasByte(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else {
                throw HTTPError(
                    .invalidRequest, host: host,
                    message: "the header \(header.name) has a line break or control character")
            }
            guard !["content-length", "transfer-encoding", "expect"].contains(where: header.isNamed) else {
                throw HTTPError(.invalidRequest, host: host, message: "\(header.name) is set by the client itself")
            }
        }
        guard request.deadline > .zero, request.maximumResponseBytes >= 0 else {
            throw HTTPError(.invalidRequest, host: host, message: "the deadline or the size limit is not positive")
        }
    }
}

/// Keeps the target of the last URL, because a client that polls requests the same URL again and again.
final class RecentTarget: Sendable {
    private let last = Mutex<(url: String, target: RequestTarget)?>(nil)

    func target(of request: HTTPRequest) throws(HTTPError) -> RequestTarget {
        let known = last.withLock { $0?.url == request.url ? $0?.target : nil }
        let target: RequestTarget
        if let known {
            target = known
        } else {
            let new = try RequestTarget(request.url)
            // A query may hold a secret.
            if !request.url.utf8.contains(UInt8(ascii: "?")) { last.withLock { $0 = (request.url, new) } }
            target = new
        }
        try target.check(request)
        return target
    }
}

/// The needed parts of a URL, as libcurl's own parser reads them, so that the checked host is the one that is connected to.
private struct URLParts {
    let host: String
    let port: String?
    let hasCredentials: Bool
    let isEncrypted: Bool

    init(_ text: String) throws(HTTPError) {
        try checkCurl()
        guard let url = curl.pointee.url() else { throw HTTPError(.invalidRequest, host: "", message: "out of memory") }
        defer { curl.pointee.url_cleanup(url) }
        // libcurl would read `http:///x` as `http://x`.
        guard !text.hasByte(where: { $0 <= 0x20 || $0 == 0x7F }), !text.hasEmptyAuthority,
            curl.pointee.url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK,
            let scheme = part(CURLUPART_SCHEME, of: url), let host = part(CURLUPART_HOST, of: url), !host.isEmpty
        else { throw HTTPError(.invalidRequest, host: "", message: "the URL is not absolute") }
        guard scheme == "http" || scheme == "https" else {
            throw HTTPError(.invalidRequest, host: host, message: "only http and https are supported, not \(scheme)")
        }
        self.host = host
        isEncrypted = scheme == "https"
        port = part(CURLUPART_PORT, of: url)
        hasCredentials = part(CURLUPART_USER, of: url) != nil || part(CURLUPART_PASSWORD, of: url) != nil
    }
}

private func part(_ part: CURLUPart, of url: OpaquePointer) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard curl.pointee.url_get(url, part, &text, 0) == CURLUE_OK, let text else { return nil }
    defer { curl.pointee.free(text) }
    return String(cString: text)
}

/// RFC 9110, 5.6.2.
private func isTokenCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "A")...UInt8(ascii: "Z"):
        true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
}

// Each request passes through these functions, so they look at bytes and make no copies.

extension HTTPHeader {
    /// Whether the header has that name, which is given in lower case.
    func isNamed(_ lowercased: String) -> Bool {
        name.utf8.count == lowercased.utf8.count
            && zip(name.utf8, lowercased.utf8).allSatisfy { $0 == $1 || $0 | 0x20 == $1 && (0x61...0x7A).contains($1) }
    }
}

extension String {
    /// Looks at all bytes, since a valid text has no match to stop at. A loop without an early exit compares many bytes in one step.
    fileprivate func hasByte(where matches: (UInt8) -> Bool) -> Bool {
        var found: UInt8 = 0
        func look(_ bytes: UnsafeBufferPointer<UInt8>) { for byte in bytes { found |= matches(byte) ? 1 : 0 } }
        if utf8.withContiguousStorageIfAvailable(look) == nil { return utf8.contains(where: matches) }
        return found != 0
    }

    /// Whether the text contains `:///`.
    fileprivate var hasEmptyAuthority: Bool {
        var slashes = -1
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: ":"): slashes = 0
            case UInt8(ascii: "/") where slashes >= 0: slashes += 1
            default: slashes = -1
            }
            if slashes == 3 { return true }
        }
        return false
    }
}

/// The proxy that libcurl uses for a URL, and the environment variable that names it (libcurl's manual, CURLOPT_PROXY and CURLOPT_NOPROXY).
package struct ProxySetting: Sendable, Equatable {
    /// `host:port`, without the user name and password, which are secret.
    package let place: String
    package let variable: String
    /// In lower case; `http` if the value has no scheme, as in libcurl.
    let scheme: String
    /// Whether the value has a user name.
    package let hasCredentials: Bool
    /// The problem of the value, as the end of a sentence; nil if the value can be an address. It quotes only the scheme, because even a
    /// value without an at sign may hold a password.
    let problem: String?
    /// The port that libcurl uses if the value has none; nil if it has one.
    var assumedPort: Int? { hostName(place) == place ? (scheme == "https" ? 443 : 1080) : nil }
    /// Whether it forwards connections without HTTP, and so does not answer CONNECT (RFC 1928).
    var isSOCKS: Bool { scheme.hasPrefix("socks") }

    /// Returns nil if the URL is reached without a proxy.
    ///
    /// - Parameter host: with its port, if it has one.
    package init?(for host: String, isEncrypted: Bool, _ environment: (String) -> String?) {
        let name = hostName(host)
        guard !isNearby(name) else { return nil }
        // A web server sets HTTP_PROXY from a request's header, so libcurl does not read it.
        let names = (isEncrypted ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]) + ["all_proxy", "ALL_PROXY"]
        guard let variable = names.first(where: { environment($0)?.isEmpty == false }),
            let value = environment(variable)
        else { return nil }
        let exceptions = environment("no_proxy") ?? environment("NO_PROXY") ?? ""
        guard !Self.isException(name, in: exceptions) else { return nil }
        self.init(value, variable: variable)
    }

    init(_ value: String, variable: String) {
        let at = value.unicodeScalars.lastIndex(of: "@")
        var place = at.map { value[value.unicodeScalars.index(after: $0)...] } ?? value[...]
        hasCredentials = at != nil
        if let scheme = place.firstRange(of: "://") { place = place[scheme.upperBound...] }
        self.place = String(place.prefix { $0 != "/" })
        self.variable = variable
        let given = Self.scheme(of: value)
        scheme = given ?? "http"
        let credentials = at.map { value[..<$0] } ?? ""
        problem = Self.problem(value, credentials) ?? Self.problem(scheme: given, at: self.place)
    }

    /// Returns whether `no_proxy` names a host, as libcurl reads it. It holds names, which include all names below them, and addresses or
    /// CIDR blocks (since 7.86). An asterisk counts only if it is alone.
    private static func isException(_ name: String, in exceptions: String) -> Bool {
        if exceptions == "*" { return true }
        let parts = exceptions.split { $0 == "," || $0 == " " || $0 == "\t" }
        if let address = addressBytes(name) { return parts.contains { isBlock($0, around: address) } }
        let lowercased = name.lowercased()
        let host = lowercased.hasSuffix(".") ? lowercased.dropLast() : lowercased[...]
        return parts.contains { part in
            var domain = part.lowercased()[...]
            if domain.hasSuffix(".") { domain = domain.dropLast() }
            if domain.hasPrefix(".") { domain = domain.dropFirst() }
            return !domain.isEmpty && (host == domain || host.hasSuffix(".\(domain)"))
        }
    }

    /// Returns whether a text is that address, or a block that contains it: `192.0.2.0/24`.
    private static func isBlock(_ text: Substring, around address: [UInt8]) -> Bool {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let block = addressBytes(String(parts[0])), block.count == address.count else { return false }
        let given = parts.count == 2 ? Int(parts[1]) ?? 0 : 0
        // libcurl reads 0 as if there were no number.
        let bits = given == 0 ? 8 * address.count : given
        guard (1...8 * address.count).contains(bits) else { return false }
        return address.indices.allSatisfy { index in
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> min(max(bits - 8 * index, 0), 8))
            return (address[index] ^ block[index]) & mask == 0
        }
    }

    /// Returns the bytes of an address; an IPv6 address may be in brackets. Nil for a name.
    private static func addressBytes(_ text: String) -> [UInt8]? {
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 { return withUnsafeBytes(of: four) { Array($0) } }
        let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
        var six = in6_addr()
        guard inet_pton(AF_INET6, isBracketed ? String(text.dropFirst().dropLast()) : text, &six) == 1 else {
            return nil
        }
        return withUnsafeBytes(of: six) { Array($0) }
    }

    private static func scheme(of value: String) -> String? {
        guard let mark = value.firstRange(of: "://") else { return nil }
        let scheme = value[..<mark.lowerBound]
        return scheme.allSatisfy { $0.isLetter || $0.isNumber } ? scheme.lowercased() : nil
    }

    /// Returns the problem of the whole value, or of the part before its last at sign. It quotes neither.
    private static func problem(_ value: String, _ credentials: Substring) -> String? {
        if let first = value.unicodeScalars.first, ["\"", "'"].contains(first) {
            return "it is in quotation marks, which are not part of an address"
        }
        let start = credentials.firstRange(of: "://")?.upperBound ?? credentials.startIndex
        guard credentials[start...].unicodeScalars.contains(where: { ["@", "/", "#", "?"].contains($0) }) else {
            return nil
        }
        return
            "special characters of the user name and the password must be percent-encoded: @ as %40, / as %2F, # as %23, ? as %3F"
    }

    private static func problem(scheme: String?, at place: String) -> String? {
        let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
        if let scheme, !schemes.contains(scheme) {
            return "it begins with \(scheme)://, but a proxy's address begins with http://, https:// or socks5h://"
        }
        let hasBrackets = place.hasPrefix("[")
        let authority = hasBrackets ? place.drop { $0 != "]" } : place[...]
        let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
        if parts.count > 2 { return "it has more than one colon; an IPv6 address is written in brackets" }
        if !hasBrackets, parts.first?.isEmpty ?? true { return "it has no host" }
        if parts.count == 2, UInt16(parts[1]) ?? 0 == 0 {
            return "the text after its last colon is not a port (a number from 1 to 65535)"
        }
        return nil
    }
}

/// Returns the host of `host` or `host:port`.
func hostName(_ authority: String) -> String {
    guard let colon = authority.lastIndex(of: ":"), authority[authority.index(after: colon)...].allSatisfy(\.isNumber),
        authority.hasPrefix("[") || authority.firstIndex(of: ":") == colon
    else { return authority }
    return String(authority[..<colon])
}

/// Whether a host is this machine or an address in a private or link-local network (RFC 1918, 3927, 4193, 4291). A proxy cannot reach such
/// an address.
package func isNearby(_ host: String) -> Bool {
    let name = host.lowercased()
    if name == "localhost" || name == "localhost." || name.hasSuffix(".localhost") || name.hasSuffix(".local") {
        return true
    }
    var four = in_addr()
    if inet_pton(AF_INET, host, &four) == 1 {
        return isNearby(UInt32(bigEndian: four.s_addr))
    }
    var text = host
    if text.hasPrefix("["), text.hasSuffix("]") { text = String(text.dropFirst().dropLast()) }
    if let zone = text.firstIndex(of: "%") { text = String(text[..<zone]) }
    var six = in6_addr()
    guard inet_pton(AF_INET6, text, &six) == 1 else { return false }
    let bytes = withUnsafeBytes(of: six) { Array($0) }
    if bytes[..<10].allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
        return isNearby(bytes[12...].reduce(0) { $0 << 8 | UInt32($1) })
    }
    let isLoopback = bytes[..<15].allSatisfy { $0 == 0 } && bytes[15] == 1
    let isLinkLocal = bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80
    let isPrivate = bytes[0] & 0xFE == 0xFC
    return isLoopback || isLinkLocal || isPrivate
}

private func isNearby(_ address: UInt32) -> Bool {
    address >> 24 == 127 || address >> 24 == 10 || address >> 20 == 0xAC1 || address >> 16 == 0xC0A8
        || address >> 16 == 0xA9FE
}
