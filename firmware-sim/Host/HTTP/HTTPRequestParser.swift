// SPDX-License-Identifier: Apache-2.0

/// The head of one request, as far as the board's server looks at it.
struct HTTPRequestHead: Equatable {
    var method: [UInt8]
    /// In whatever form, query included: protocomm's handler takes all but its first byte for the endpoint.
    var target: [UInt8]
    /// What a 32-bit `size_t` holds of the number, as `httpd_parse.c` keeps it: 4294967300 is 4.
    var contentLength: Int
    var isChunked: Bool
    /// The value of the first `Cookie` header, which is the one that `httpd_req_get_hdr_value_str` finds.
    var cookie: [UInt8]?

    /// What the server looks its handlers up by.
    var path: [UInt8]? { HTTPTarget(target).path }
}

/// Reads requests as ESP-IDF's `esp_http_server` does, limits included, from bytes that come in any pieces.
///
/// After ``Step/head(_:)`` the owner decides whether a body is wanted; it comes as ``Step/body(_:)``. Then everything that
/// had arrived beyond it is forgotten: the firmware answers only the first of several pipelined requests.
struct HTTPRequestParser {
    /// `CONFIG_HTTPD_MAX_URI_LEN`, which counts the whole request line with its end.
    static let lineLimit = 512
    /// `CONFIG_HTTPD_MAX_REQ_HDR_LEN`.
    static let headerLimit = 1024
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

    /// Whether a request has begun and is not complete. The server's one task waits for the rest then.
    var isMidway: Bool { phase != .head || !buffer.isEmpty }

    mutating func append(_ bytes: some Sequence<UInt8>) { buffer.append(contentsOf: bytes) }

    /// The next step that the bytes so far allow; nil when more are needed.
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
        // Empty lines before a request line are skipped, as `http_parser` does.
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
        // Looked at with the first header, or with the empty line. Before ESP-IDF 5.5 every HTTP/1.x passed.
        guard request.version == [1, 0] || request.version == [1, 1] else { return .refused(.versionNotSupported) }
        guard let headerEnd = endOfHeaders(from: headerStart) else {
            return buffer.count - headerStart > Self.headerLimit ? .refused(.headersTooLarge) : nil
        }
        let size = headerEnd - headerStart
        if size > Self.headerLimit { return .refused(.headersTooLarge) }
        // One byte too many for the terminating NUL, which another part of the server finds out.
        if size == Self.headerLimit { return .refused(.internalError) }
        let headers: HTTPHeaderBlock
        do throws(HTTPHeaderBlock.Malformed) {
            headers = try HTTPHeaderBlock(buffer[headerStart..<headerEnd])
        } catch { return .refused(.badRequest) }
        // The server handles no CONNECT and no other upgrade, and says so before it looks for a handler.
        guard !headers.isUpgrade, request.method != HTTPRequestLine.connect else { return .refused(.badRequest) }
        // The handler runs when the first byte of the body is there; until then the client may still be too late (408).
        guard buffer.count > headerEnd || !headers.hasBody else { return nil }
        buffer.removeFirst(headerEnd)
        return .head(
            HTTPRequestHead(
                method: request.method, target: request.target, contentLength: headers.contentLength,
                isChunked: headers.isChunked, cookie: headers.cookie))
    }

    /// The index after the empty line that ends the headers.
    private func endOfHeaders(from start: Int) -> Int? {
        var lineStart = start
        while let end = buffer[lineStart...].firstIndex(of: 0x0A) {
            if end == lineStart || (end == lineStart + 1 && buffer[lineStart] == 0x0D) { return end + 1 }
            lineStart = end + 1
        }
        return nil
    }
}
