// SPDX-License-Identifier: Apache-2.0

/// The head of one request, as far as the board's server looks at it.
struct HTTPRequestHead: Equatable {
    var method: [UInt8]
    /// Query included: the server looks endpoints up by the whole target.
    var target: [UInt8]
    var contentLength: Int
    var isChunked: Bool
    /// The value of the first `Cookie` header, which is the one that `httpd_req_get_hdr_value_str` finds.
    var cookie: [UInt8]?
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
        guard let lineEnd = buffer.firstIndex(of: 0x0A) else {
            return buffer.count >= Self.lineLimit ? .refused(.uriTooLong) : nil
        }
        guard lineEnd + 1 < Self.lineLimit else { return .refused(.uriTooLong) }
        let headerStart = lineEnd + 1
        guard let headerEnd = endOfHeaders(from: headerStart) else {
            return buffer.count - headerStart > Self.headerLimit ? .refused(.headersTooLarge) : nil
        }
        let size = headerEnd - headerStart
        if size > Self.headerLimit { return .refused(.headersTooLarge) }
        // One byte too many for the terminating NUL, which another part of the server finds out.
        if size == Self.headerLimit { return .refused(.internalError) }
        let step = Self.head(line: buffer[..<lineEnd], headers: buffer[headerStart..<headerEnd])
        buffer.removeFirst(headerEnd)
        return step
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

    private static func head(line: ArraySlice<UInt8>, headers: ArraySlice<UInt8>) -> Step {
        let words = withoutCarriageReturn(line).split(separator: 0x20, omittingEmptySubsequences: false)
        guard words.count == 3, !words[1].isEmpty, words[0].allSatisfy(isUppercase), !words[0].isEmpty else {
            return .refused(.badRequest)
        }
        guard words[2].starts(with: "HTTP/".utf8), words[2].count == 8, words[2].dropFirst(6).first == UInt8(ascii: ".")
        else { return .refused(.badRequest) }
        guard words[2].dropFirst(5).first == UInt8(ascii: "1") else { return .refused(.versionNotSupported) }
        var head = HTTPRequestHead(
            method: Array(words[0]), target: Array(words[1]), contentLength: 0, isChunked: false, cookie: nil)
        var hasLength = false
        for line in headers.split(separator: 0x0A) {
            let line = withoutCarriageReturn(line)
            if line.isEmpty { continue }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else {
                return .refused(.badRequest)
            }
            let name = lowercased(line[..<colon])
            let value = trimmed(line[(colon + 1)...])
            switch name {
            case Array("content-length".utf8):
                guard !hasLength, let length = decimal(value) else { return .refused(.badRequest) }
                hasLength = true
                head.contentLength = length
            case Array("transfer-encoding".utf8):
                if lowercased(value) == Array("chunked".utf8) { head.isChunked = true }
            case Array("cookie".utf8): head.cookie = head.cookie ?? Array(value)
            default: break
            }
        }
        if head.isChunked { head.contentLength = 0 }
        return .head(head)
    }

    private static func withoutCarriageReturn(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        line.last == 0x0D ? line.dropLast() : line
    }

    private static func isUppercase(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }

    private static func lowercased(_ text: ArraySlice<UInt8>) -> [UInt8] {
        text.map { isUppercase($0) ? $0 | 0x20 : $0 }
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var text = text
        while let first = text.first, first == 0x20 || first == 0x09 { text.removeFirst() }
        while let last = text.last, last == 0x20 || last == 0x09 { text.removeLast() }
        return text
    }

    private static func decimal(_ text: ArraySlice<UInt8>) -> Int? {
        guard !text.isEmpty, text.count <= 18 else { return nil }
        var value = 0
        for byte in text {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return value
    }
}
