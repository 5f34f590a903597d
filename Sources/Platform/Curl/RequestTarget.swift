// SPDX-License-Identifier: Apache-2.0
import CRainCurl
import RainHTTP
import Synchronization

/// Where a URL leads to, after everything about it that would be dangerous was refused.
struct RequestTarget: Sendable {
    /// `host` or `host:port`, for errors.
    let host: String
    /// Whether a proxy may carry it.
    let mayUseProxy: Bool
    /// Whether it is reached over TLS.
    let isEncrypted: Bool

    init(_ url: String) throws(HTTPError) {
        let parts = try URLParts(url)
        host = parts.port.map { "\(parts.host):\($0)" } ?? parts.host
        mayUseProxy = !isNearby(parts.host)
        isEncrypted = parts.isEncrypted
        guard !parts.hasCredentials else {
            throw HTTPError(.invalidRequest, host: host, message: "a URL must not hold a user name or a password")
        }
    }

    /// Refuses what of a request's headers and limits would be dangerous or cannot be kept.
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

/// Keeps the target of the last URL, because a client that polls asks for the same URL again and again.
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

/// The parts that matter of a URL, as libcurl's own parser reads it, so that what is checked is what is connected to.
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
        else { throw HTTPError(.invalidRequest, host: "", message: "this is not an absolute URL") }
        guard scheme == "http" || scheme == "https" else {
            throw HTTPError(.invalidRequest, host: host, message: "only http and https are spoken, not \(scheme)")
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

// Every request passes here, so these look at bytes and make no copies.

extension HTTPHeader {
    /// Whether it has that name, which is given in lower case.
    func isNamed(_ lowercased: String) -> Bool {
        name.utf8.count == lowercased.utf8.count
            && zip(name.utf8, lowercased.utf8).allSatisfy { $0 == $1 || $0 | 0x20 == $1 && (0x61...0x7A).contains($1) }
    }
}

extension String {
    /// Looks at all bytes, since a good text has no match to stop at: without a way out of the loop, many bytes are compared in one step.
    fileprivate func hasByte(where matches: (UInt8) -> Bool) -> Bool {
        var found: UInt8 = 0
        func look(_ bytes: UnsafeBufferPointer<UInt8>) { for byte in bytes { found |= matches(byte) ? 1 : 0 } }
        if utf8.withContiguousStorageIfAvailable(look) == nil { return utf8.contains(where: matches) }
        return found != 0
    }

    /// Whether `:///` stands in it.
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
