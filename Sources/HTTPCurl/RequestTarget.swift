import CCurl
import HTTPCore

/// Where a request goes, after everything about it that would be dangerous to send was refused.
struct RequestTarget: Sendable {
    /// `host` or `host:port`, for errors.
    let host: String
    /// Whether a proxy may carry it.
    let mayUseProxy: Bool

    init(checking request: HTTPRequest) throws(HTTPError) {
        let parts = try URLParts(request.url)
        host = parts.port.map { "\(parts.host):\($0)" } ?? parts.host
        mayUseProxy = !isNearby(parts.host)
        guard !parts.hasCredentials else {
            throw HTTPError(.invalidRequest, host: host, message: "a URL must not hold a user name or a password")
        }
        for header in request.headers {
            guard !header.name.isEmpty, header.name.utf8.allSatisfy(isTokenCharacter) else {
                throw HTTPError(
                    .invalidRequest, host: host, message: "a header's name has a character that HTTP forbids")
            }
            guard header.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                throw HTTPError(
                    .invalidRequest, host: host,
                    message: "the header \(header.name) has a line break or control character")
            }
            guard !["content-length", "transfer-encoding", "expect"].contains(header.name.lowercased()) else {
                throw HTTPError(.invalidRequest, host: host, message: "\(header.name) is set by the client itself")
            }
        }
        guard request.deadline > .zero, request.maximumResponseBytes >= 0 else {
            throw HTTPError(.invalidRequest, host: host, message: "the deadline or the size limit is not positive")
        }
    }
}

/// The parts that matter of a URL, as libcurl's own parser reads it, so that what is checked is what is connected to.
private struct URLParts {
    let host: String
    let port: String?
    let hasCredentials: Bool

    init(_ text: String) throws(HTTPError) {
        guard let url = curl_url() else { throw HTTPError(.invalidRequest, host: "", message: "out of memory") }
        defer { curl_url_cleanup(url) }
        // libcurl would read `http:///x` as `http://x`.
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }), !text.contains(":///"),
            curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK,
            let scheme = part(CURLUPART_SCHEME, of: url), let host = part(CURLUPART_HOST, of: url), !host.isEmpty
        else { throw HTTPError(.invalidRequest, host: "", message: "this is not an absolute URL") }
        guard scheme == "http" || scheme == "https" else {
            throw HTTPError(.invalidRequest, host: host, message: "only http and https are spoken, not \(scheme)")
        }
        self.host = host
        port = part(CURLUPART_PORT, of: url)
        hasCredentials = part(CURLUPART_USER, of: url) != nil || part(CURLUPART_PASSWORD, of: url) != nil
    }
}

private func part(_ part: CURLUPart, of url: OpaquePointer) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(url, part, &text, 0) == CURLUE_OK, let text else { return nil }
    defer { curl_free(text) }
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
