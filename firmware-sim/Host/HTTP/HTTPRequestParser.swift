// SPDX-License-Identifier: Apache-2.0

/// The parts of a request's head that the board's server uses.
struct HTTPRequestHead: Equatable {
    var method: [UInt8]
    /// The target in any form, including the query. protocomm's handler uses all of it except the first byte as the endpoint.
    var target: [UInt8]
    /// The number truncated to a 32-bit `size_t`, as `httpd_parse.c` keeps it: 4294967300 is 4.
    var contentLength: Int
    var isChunked: Bool
    /// The value of the first `Cookie` header, which `httpd_req_get_hdr_value_str` finds.
    var cookie: [UInt8]?

    /// The path by which the server finds its handlers.
    var path: [UInt8]? { HTTPTarget(target).path }
}

/// Reads requests like ESP-IDF's `esp_http_server`, with its limits, from bytes that come in any pieces.
///
/// After ``Step/head(_:)`` the owner decides whether a body is read; it comes as ``Step/body(_:)``. Then all bytes that had arrived after
/// it are dropped: the firmware answers only the first of several pipelined requests.
struct HTTPRequestParser {
    /// `CONFIG_HTTPD_MAX_URI_LEN`, which is for the whole request line with its end.
    private static let lineLimit = 512
    /// `CONFIG_HTTPD_MAX_REQ_HDR_LEN`.
    private static let headerLimit = 1024
    /// `MAX_REQ_BODY_LEN` of `protocomm_httpd.c`.
    static let bodyLimit = 4096

    enum Step: Equatable {
        case head(HTTPRequestHead)
        case body([UInt8])
        case refused(HTTPStatus)
    }

    private enum Phase: Equatable {
        case head
        case body(length: Int)
        case failed
    }

    private var buffer: [UInt8] = []
    private var phase = Phase.head

    /// Whether a request has begun and is not complete. The server's one task then waits for the rest.
    var isMidway: Bool { phase != .head || !buffer.isEmpty }

    mutating func append(_ bytes: some Sequence<UInt8>) { buffer.append(contentsOf: bytes) }

    /// Returns the next step that the bytes allow; nil if more are needed.
    mutating func next() -> Step? {
        switch phase {
        case .failed: return nil
        case .body(let length):
            guard buffer.count >= length else { return nil }
            let body = Array(buffer[..<length])
            buffer = []
            phase = .head
            return .body(body)
        case .head:
            guard let step = parseHead() else { return nil }
            if case .head(let head) = step {
                phase = .body(length: head.contentLength)
            } else {
                phase = .failed
                buffer = []
            }
            return step
        }
    }

    private mutating func parseHead() -> Step? {
        // Empty lines before a request line are skipped, as in `http_parser`.
        if let first = buffer.firstIndex(where: { $0 != 0x0D && $0 != 0x0A }) {
            buffer.removeFirst(first)
        } else {
            buffer = []
            return nil
        }
        let lineEnd = buffer.firstIndex(of: 0x0A)
        let line = buffer[..<(lineEnd ?? buffer.endIndex)].prefix(Self.lineLimit)
        let reading = HTTPRequestLine.read(line, isWhole: lineEnd == line.endIndex)
        if reading == .impossible { return .refused(.badRequest) }
        guard let lineEnd else { return buffer.count >= Self.lineLimit ? .refused(.uriTooLong) : nil }
        guard lineEnd + 1 < Self.lineLimit, case .line(let request) = reading else { return .refused(.uriTooLong) }
        let headerStart = lineEnd + 1
        guard headerStart < buffer.endIndex else { return nil }
        // Checked with the first header, or with the empty line. Before ESP-IDF 5.5 every HTTP/1.x was accepted.
        guard request.version == [1, 0] || request.version == [1, 1] else { return .refused(.versionNotSupported) }
        guard let headerEnd = endOfHeaders(from: headerStart) else {
            return buffer.count - headerStart > Self.headerLimit ? .refused(.headersTooLarge) : nil
        }
        let size = headerEnd - headerStart
        if size > Self.headerLimit { return .refused(.headersTooLarge) }
        // One byte too many for the terminating NUL, which another part of the server detects.
        if size == Self.headerLimit { return .refused(.internalError) }
        let headers: HTTPHeaderBlock
        do throws(HTTPHeaderBlock.Malformed) {
            headers = try HTTPHeaderBlock(buffer[headerStart..<headerEnd])
        } catch { return .refused(.badRequest) }
        // The server supports neither CONNECT nor other upgrades, and answers so before it looks for a handler.
        guard !headers.isUpgrade, request.method != HTTPRequestLine.connect else { return .refused(.badRequest) }
        // The handler runs when the first byte of the body has arrived. Until then the client may still be too late (408).
        guard buffer.count > headerEnd || !headers.hasBody else { return nil }
        buffer.removeFirst(headerEnd)
        return .head(
            HTTPRequestHead(
                method: request.method, target: request.target, contentLength: headers.contentLength,
                isChunked: headers.isChunked, cookie: headers.cookie))
    }

    /// Returns the index after the empty line that ends the headers.
    private func endOfHeaders(from start: Int) -> Int? {
        var lineStart = start
        while let end = buffer[lineStart...].firstIndex(of: 0x0A) {
            if end == lineStart || (end == lineStart + 1 && buffer[lineStart] == 0x0D) { return end + 1 }
            lineStart = end + 1
        }
        return nil
    }
}

/// The first line of a request, as far as `http_parser` accepts it (ESP-IDF's `components/http_parser`, in its strict build).
///
/// The parser checks each byte as it arrives. The first invalid byte is answered with 400 at once, without waiting for the line's end. This
/// includes the hello of a TLS client, whose first byte is 0x16.
private struct HTTPRequestLine: Equatable {
    enum Reading: Equatable {
        /// More bytes can make it a request line.
        case incomplete
        case impossible
        case line(HTTPRequestLine)
    }

    var method: [UInt8]
    var target: [UInt8]
    /// Major and minor; 0 and 9 if the line has no version.
    var version: [Int]

    /// `http_method` of `http_parser.h`. With another word it is not a request. A method for which the endpoint's handler was not
    /// registered is 405.
    private static let methods: [[UInt8]] = [
        "ACL", "BIND", "CHECKOUT", "CONNECT", "COPY", "DELETE", "GET", "HEAD", "LINK", "LOCK", "M-SEARCH", "MERGE",
        "MKACTIVITY",
        "MKCALENDAR", "MKCOL", "MOVE", "NOTIFY", "OPTIONS", "PATCH", "POST", "PROPFIND", "PROPPATCH", "PURGE", "PUT",
        "QUERY",
        "REBIND", "REPORT", "SEARCH", "SUBSCRIBE", "TRACE", "UNBIND", "UNLINK", "UNLOCK", "UNSUBSCRIBE",
    ].map { Array($0.utf8) }
    static let connect = Array("CONNECT".utf8)

    /// - Parameter bytes: the line without its LF, or its beginning.
    static func read(_ bytes: ArraySlice<UInt8>, isWhole: Bool) -> Reading {
        let method = bytes.prefix { $0 != 0x20 }
        guard method.endIndex < bytes.endIndex else {
            return !isWhole && methods.contains { $0.starts(with: method) } ? .incomplete : .impossible
        }
        guard methods.contains(Array(method)) else { return .impossible }
        var rest = bytes[method.endIndex...].drop { $0 == 0x20 }
        let end = rest.firstIndex { $0 == 0x20 || $0 == 0x0D }
        let target = HTTPTarget(Array(rest[..<(end ?? rest.endIndex)]), isConnect: Array(method) == connect)
        guard target.isPossible, end == nil && !isWhole || target.isComplete else { return .impossible }
        guard let end else {
            return isWhole ? whole(method, target, version: []) : .incomplete
        }
        // A line without a version is HTTP/0.9.
        if rest[end] == 0x0D { return ending(rest[end...], isWhole) ?? whole(method, target, version: []) }
        rest = rest[end...].drop { $0 == 0x20 }
        return version(rest, isWhole) { whole(method, target, version: $0) }
    }

    private static func whole(_ method: ArraySlice<UInt8>, _ target: HTTPTarget, version: [Int]) -> Reading {
        .line(
            HTTPRequestLine(method: Array(method), target: target.bytes, version: version.isEmpty ? [0, 9] : version))
    }

    private static func version(
        _ bytes: ArraySlice<UInt8>, _ isWhole: Bool, _ line: ([Int]) -> Reading
    ) -> Reading {
        let protocolName = Array("HTTP/".utf8)
        guard bytes.count > protocolName.count else {
            return !isWhole && protocolName.starts(with: bytes) ? .incomplete : .impossible
        }
        guard bytes.starts(with: protocolName) else { return .impossible }
        let digits = bytes.dropFirst(protocolName.count).prefix { $0 != 0x0D }
        let numbers = digits.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        // This parser does not accept a version that begins with 0.
        guard digits.first != UInt8(ascii: "0"), numbers.count <= 2,
            numbers.allSatisfy({ $0.count <= 3 && $0.allSatisfy(isDigit) }), !numbers[0].isEmpty
        else { return .impossible }
        let isReady = numbers.count == 2 && !numbers[1].isEmpty
        if digits.endIndex < bytes.endIndex, isReady, let reading = ending(bytes[digits.endIndex...], isWhole) {
            return reading
        }
        guard isWhole || digits.endIndex < bytes.endIndex else { return .incomplete }
        guard isReady else { return .impossible }
        return line(numbers.map { $0.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) } })
    }

    /// Checks a CR: only an LF may follow. Returns nil if the line is whole.
    private static func ending(_ bytes: ArraySlice<UInt8>, _ isWhole: Bool) -> Reading? {
        guard bytes.count == 1 else { return .impossible }
        return isWhole ? nil : .incomplete
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

/// The target of a request in the forms that `http_parser` knows: `/path`, `*`, `http://host/path`, and `host:port` for CONNECT.
private struct HTTPTarget: Equatable {
    let bytes: [UInt8]
    /// Whether more bytes, or none, can make it a target.
    let isPossible: Bool
    let isComplete: Bool
    /// The path by which the server finds its handler: without query and fragment, and without scheme and host. Nil if there is none.
    let path: [UInt8]?

    init(_ bytes: [UInt8], isConnect: Bool = false) {
        self.bytes = bytes
        let isPath = !isConnect && [UInt8(ascii: "/"), UInt8(ascii: "*")].contains(bytes.first)
        let scheme = isConnect || isPath ? [] : bytes.prefix(while: Self.isLetter)
        let afterScheme = isConnect || isPath ? bytes[...] : bytes.dropFirst(scheme.count)
        let separator = Array((isConnect || isPath ? "" : "://").utf8)
        let afterSeparator = afterScheme.dropFirst(separator.count)
        let host = isPath ? [] : afterSeparator.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        let rest = isPath ? bytes[...] : afterSeparator.dropFirst(host.count)
        let hasScheme = isConnect || isPath || !scheme.isEmpty && afterScheme.starts(with: separator)
        isPossible =
            (hasScheme || bytes.isEmpty || !scheme.isEmpty && separator.starts(with: afterScheme))
            && host.allSatisfy(Self.isHostByte) && rest.allSatisfy { (0x21...0x7E).contains($0) }
        isComplete = isPossible && hasScheme && !bytes.isEmpty && (isPath || !host.isEmpty)
        let path = rest.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        self.path = path.isEmpty ? nil : Array(path)
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    /// Letters, digits and the characters of a user's name, an address or a port.
    private static func isHostByte(_ byte: UInt8) -> Bool {
        isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || "-_.!~*'()%;:&=+$,[]@".utf8.contains(byte)
    }
}

/// The headers that the board's server uses, by the rules of `http_parser`.
private struct HTTPHeaderBlock: Equatable {
    struct Malformed: Error {}

    private(set) var contentLength = 0
    private(set) var isChunked = false
    /// The value of the first `Cookie` header.
    private(set) var cookie: [UInt8]?
    private(set) var isUpgrade = false
    /// Whether a body follows.
    private(set) var hasBody = false

    /// - Parameter lines: the lines up to and including the empty line.
    init(_ lines: ArraySlice<UInt8>) throws(Malformed) {
        var length: UInt64?
        var (hasLength, names, connects) = (false, false, false)
        for line in lines.split(separator: 0x0A) {
            let line = line.last == 0x0D ? line.dropLast() : line
            if line.isEmpty { continue }
            let name = line.prefix(while: Self.isTokenByte)
            guard !name.isEmpty, name.endIndex < line.endIndex, line[name.endIndex] == UInt8(ascii: ":") else {
                throw Malformed()
            }
            let value = Self.trimmed(line[(name.endIndex + 1)...])
            guard value.allSatisfy({ $0 == 0x09 || $0 > 0x1F && $0 != 0x7F }) else { throw Malformed() }
            switch String(decoding: name, as: UTF8.self).lowercased() {
            case "content-length":
                // More than one is refused, and so is a number that does not fit 64 bits.
                guard !hasLength else { throw Malformed() }
                hasLength = true
                let digits = value.filter { $0 != 0x20 }
                guard digits.isEmpty || UInt64(String(decoding: digits, as: UTF8.self)) != nil,
                    digits.first != UInt8(ascii: "+")
                else { throw Malformed() }
                length = UInt64(String(decoding: digits, as: UTF8.self))
            case "transfer-encoding": isChunked = isChunked || Self.words(value) == ["chunked"]
            case "cookie": cookie = cookie ?? Array(value)
            case "upgrade": names = true
            case "connection": connects = connects || Self.words(value).contains("upgrade")
            default: break
            }
        }
        if isChunked, hasLength { throw Malformed() }
        isUpgrade = names && connects
        hasBody = isChunked || length ?? 0 > 0
        // `(int)content_length != -1 ? content_length : 0`, in 32 bits.
        let kept = UInt32(truncatingIfNeeded: length ?? 0)
        contentLength = kept == .max ? 0 : Int(kept)
    }

    private static func words(_ value: ArraySlice<UInt8>) -> [String] {
        value.split(separator: UInt8(ascii: ",")).map { String(decoding: trimmed($0), as: UTF8.self).lowercased() }
    }

    /// `token` of RFC 2616.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && !"()<>@,;:\\\"/[]?={}".utf8.contains(byte)
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var text = text
        while let first = text.first, first == 0x20 || first == 0x09 { text.removeFirst() }
        while let last = text.last, last == 0x20 || last == 0x09 { text.removeLast() }
        return text
    }
}

/// The errors of `esp_http_server`, with its own texts (`httpd_txrx.c`).
struct HTTPStatus: Equatable {
    var line: String
    var message: String

    static let badRequest = HTTPStatus(line: "400 Bad Request", message: "Bad request syntax")
    static let notFound = HTTPStatus(line: "404 Not Found", message: "Nothing matches the given URI")
    static let methodNotAllowed = HTTPStatus(
        line: "405 Method Not Allowed", message: "Specified method is invalid for this resource")
    static let requestTimeout = HTTPStatus(line: "408 Request Timeout", message: "Server closed this connection")
    static let uriTooLong = HTTPStatus(line: "414 URI Too Long", message: "URI is too long")
    static let headersTooLarge = HTTPStatus(
        line: "431 Request Header Fields Too Large", message: "Header fields are too long")
    static let internalError = HTTPStatus(
        line: "500 Internal Server Error", message: "Server has encountered an unexpected error")
    static let versionNotSupported = HTTPStatus(
        line: "505 Version Not Supported", message: "HTTP version not supported by server")

    /// Returns the pieces in which the server sends a response. Each is a separate `send()` with Nagle's algorithm on, which costs a client
    /// on a kept-alive connection a delayed acknowledgement.
    static func response(
        _ status: String = "200 OK", headers: [(name: String, value: String)] = [], body: [UInt8]
    ) -> [[UInt8]] {
        let essential = "HTTP/1.1 \(status)\r\nContent-Type: text/html\r\nContent-Length: \(body.count)\r\n"
        var pieces = [Array(essential.utf8)]
        for header in headers {
            pieces += [Array(header.name.utf8), Array(": ".utf8), Array(header.value.utf8), Array("\r\n".utf8)]
        }
        pieces.append(Array("\r\n".utf8))
        if !body.isEmpty { pieces.append(body) }
        return pieces
    }

    var response: [[UInt8]] { Self.response(line, body: Array(message.utf8)) }
}
