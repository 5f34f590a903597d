// SPDX-License-Identifier: Apache-2.0
import RainCore

/// Parses requests (RFC 9112) from the bytes of one connection.
///
/// A value without I/O: feed it with ``append(_:)``, and call ``next()`` until it needs more. A refused request ends the connection,
/// because the beginning of the next request is not known.
struct RequestParser: Sendable {
    /// The maximum length of the request line, in bytes.
    static let maximumLine = 8 << 10
    /// The maximum length of the request line and headers together. Tokens are sent in a header, and are 1 to 2 KiB long.
    static let maximumHead = 32 << 10
    /// The largest body: 399 KB of custom data, and its JSON around it.
    static let maximumBody = 512 << 10
    /// The largest body with a firmware image: 5 MiB in base64, and its JSON. Other calls must not have it.
    static let maximumImageBody = 7 << 20

    private static func maximumBody(of target: String) -> Int {
        target == "/v1/user/otaimage" || target == "/_sim/ota_job" ? maximumImageBody : maximumBody
    }

    enum Step: Sendable, Equatable {
        case needsMore
        case request(Request)
        /// Answer with this HTTP status and reason, then close.
        case refuse(Int, String)
    }

    private var buffer: [UInt8] = []
    /// How many bytes of `buffer` have been searched for the end of the head.
    private var searched = 0
    private var head: Head?

    private struct Head: Sendable {
        var request: Request
        var framing: Framing
    }

    /// How the end of the body is found (RFC 9112, section 6.3).
    private enum Framing: Sendable { case length(Int), chunked }

    /// The received part of a body in chunks.
    private var chunks = ChunkedBody()

    fileprivate struct Refusal: Error {
        var status: Int
        var reason: String
    }

    /// Whether a request has begun and is not complete.
    var isWithinRequest: Bool { head != nil || !buffer.isEmpty }

    mutating func append(_ bytes: some Sequence<UInt8>) { buffer.append(contentsOf: bytes) }

    mutating func next() -> Step {
        do throws(Refusal) {
            guard let head = try completeHead() else { return .needsMore }
            guard let body = try completeBody(head.framing) else { return .needsMore }
            var request = head.request
            request.body = body
            self.head = nil
            return .request(request)
        } catch {
            return .refuse(error.status, error.reason)
        }
    }

    private mutating func completeBody(_ framing: Framing) throws(Refusal) -> [UInt8]? {
        switch framing {
        case .length(let length):
            guard buffer.count >= length else { return nil }
            defer { buffer.removeFirst(length) }
            return Array(buffer.prefix(length))
        case .chunked:
            guard let body = try chunks.take(from: &buffer) else { return nil }
            chunks = ChunkedBody()
            return body
        }
    }

    private mutating func completeHead() throws(Refusal) -> Head? {
        if let head { return head }
        // An empty line before a request is skipped (RFC 9112, 2.2).
        if searched == 0 { buffer.removeFirst(buffer.prefix { $0 == 0x0A || $0 == 0x0D }.count) }
        guard let end = endOfHead() else {
            if !buffer.prefix(Self.maximumLine).contains(0x0A), buffer.count >= Self.maximumLine {
                throw Refusal(status: 414, reason: "the request line is over \(Self.maximumLine) bytes")
            }
            guard buffer.count < Self.maximumHead else {
                throw Refusal(status: 431, reason: "the headers are over \(Self.maximumHead) bytes")
            }
            return nil
        }
        guard end <= Self.maximumHead else {
            throw Refusal(status: 431, reason: "the headers are over \(Self.maximumHead) bytes")
        }
        let parsed = try Self.parse(buffer[..<end])
        buffer.removeFirst(end)
        searched = 0
        head = parsed
        return parsed
    }

    /// Returns the position after the empty line that ends the head.
    private mutating func endOfHead() -> Int? {
        var index = searched
        while let lineFeed = buffer[index...].firstIndex(of: 0x0A) {
            let next = lineFeed + 1
            if next < buffer.count, buffer[next] == 0x0A { return next + 1 }
            if next + 1 < buffer.count, buffer[next] == 0x0D, buffer[next + 1] == 0x0A { return next + 2 }
            index = next
        }
        searched = max(0, buffer.count - 2)
        return nil
    }

    private static func parse(_ head: ArraySlice<UInt8>) throws(Refusal) -> Head {
        var lines = head.split(separator: 0x0A).map { $0.last == 0x0D ? $0.dropLast() : $0 }.filter { !$0.isEmpty }
        guard !lines.isEmpty else { throw Refusal(status: 400, reason: "no request line") }
        let (method, target, version) = try requestLine(lines.removeFirst())
        var headers: [Request.Field] = []
        for line in lines { headers.append(try header(line)) }

        let connection = headers.last { $0.name.lowercased() == "connection" }?.value.lowercased() ?? ""
        let keeps = version == "HTTP/1.1" ? !connection.contains("close") : connection.contains("keep-alive")
        let request = Request(method: method, target: target, headers: headers, keepsConnection: keeps)
        return Head(request: request, framing: try framing(headers, version, maximumBody(of: target)))
    }

    /// A request with both framings, or with chunks in a version without them, may be read differently by a server before this one. This is
    /// how requests are smuggled (RFC 9112, sections 6.1 and 11.2).
    private static func framing(
        _ headers: [Request.Field], _ version: String, _ maximumBody: Int
    ) throws(Refusal) -> Framing {
        let codings = headers.filter { $0.name.lowercased() == "transfer-encoding" }
        let length = try bodyLength(headers, maximumBody)
        guard !codings.isEmpty else { return .length(length ?? 0) }
        guard length == nil else {
            throw Refusal(status: 400, reason: "a body has a Content-Length or comes in chunks, not both")
        }
        guard version == "HTTP/1.1" else { throw Refusal(status: 400, reason: "HTTP/1.0 has no chunks") }
        guard codings.count == 1, codings[0].value.lowercased() == "chunked" else {
            throw Refusal(status: 501, reason: "of the transfer codings only chunked is known here")
        }
        return .chunked
    }

    private static func requestLine(_ line: ArraySlice<UInt8>) throws(Refusal) -> (String, String, String) {
        guard line.count <= maximumLine else {
            throw Refusal(status: 414, reason: "the request line is over \(maximumLine) bytes")
        }
        guard line.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
            throw Refusal(status: 400, reason: "the request line holds bytes that are not printable ASCII")
        }
        let words = line.split(separator: 0x20, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard words.count == 3, !words[0].isEmpty, words[0].allSatisfy(\.isLetter), words[1].hasPrefix("/") else {
            throw Refusal(status: 400, reason: "not a request line")
        }
        guard words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0" else {
            throw Refusal(status: 505, reason: "only HTTP/1.1 is spoken here")
        }
        return (words[0], words[1], words[2])
    }

    fileprivate static func header(_ line: ArraySlice<UInt8>) throws(Refusal) -> Request.Field {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            line[colon...].allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
        else { throw Refusal(status: 400, reason: "not a header line") }
        let value = line[(colon + 1)...].trimmingSpaces()
        return Request.Field(String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self))
    }

    private static func bodyLength(_ headers: [Request.Field], _ maximumBody: Int) throws(Refusal) -> Int? {
        let values = Set(headers.filter { $0.name.lowercased() == "content-length" }.map(\.value))
        guard let value = values.first else { return nil }
        guard values.count == 1, !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw Refusal(status: 400, reason: "Content-Length is not a number")
        }
        guard value.utf8.count < 12, let length = Int(value), length <= maximumBody else {
            throw Refusal(status: 413, reason: "the body is over \(maximumBody) bytes")
        }
        return length
    }
}

extension ArraySlice<UInt8> {
    fileprivate func trimmingSpaces() -> Self {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
            return []
        }
        return self[first...last]
    }
}

/// Assembles a body that is sent in chunks (RFC 9112, section 7.1).
///
/// It is strict where two readers could differ about the end of the body: lines end with CR LF, and a size has only hexadecimal digits.
struct ChunkedBody: Sendable {
    /// The maximum number of hexadecimal digits of a chunk's size.
    private static let maximumSizeDigits = 8
    /// The maximum length of a line with a chunk's size and its extensions, or with one trailer field, in bytes.
    static let maximumLine = 1 << 10
    /// The maximum length of all such lines of a body. A body in chunks of a kilobyte has some 4 KiB of them.
    private static let maximumLines = 64 << 10

    private enum State { case size, data(Int), dataEnd, trailer }

    private var state = State.size
    private var body: [UInt8] = []
    private var lineBytes = 0

    /// Takes the available bytes from `buffer`.
    /// - Returns: the whole body; nil if more bytes must come.
    fileprivate mutating func take(from buffer: inout [UInt8]) throws(RequestParser.Refusal) -> [UInt8]? {
        var start = 0
        defer { buffer.removeFirst(start) }
        while true {
            switch state {
            case .size:
                guard let line = try line(of: buffer, from: &start) else { return nil }
                let size = try Self.size(line)
                guard body.count + size <= RequestParser.maximumBody else {
                    throw RequestParser.Refusal(
                        status: 413, reason: "the body is over \(RequestParser.maximumBody) bytes")
                }
                state = size == 0 ? .trailer : .data(size)
            case .data(let left):
                let count = min(left, buffer.count - start)
                body += buffer[start..<(start + count)]
                start += count
                state = left == count ? .dataEnd : .data(left - count)
                guard left == count else { return nil }
            case .dataEnd:
                guard let line = try line(of: buffer, from: &start) else { return nil }
                guard line.isEmpty else { throw Self.malformed("a chunk is longer than its size") }
                state = .size
            case .trailer:
                // Trailer fields are checked and dropped. No header of a request is taken from after its body.
                guard let line = try line(of: buffer, from: &start) else { return nil }
                if line.isEmpty { return body }
                _ = try RequestParser.header(line)
            }
        }
    }

    /// Returns the next line without its end; nil if it is incomplete.
    private mutating func line(
        of buffer: [UInt8], from start: inout Int
    ) throws(RequestParser.Refusal) -> ArraySlice<UInt8>? {
        let end = buffer[start...].firstIndex(of: 0x0A)
        guard (end ?? buffer.count) - start <= Self.maximumLine else { throw Self.malformed("a line is too long") }
        guard let end else { return nil }
        guard end > start, buffer[end - 1] == 0x0D else { throw Self.malformed("a line does not end with CR LF") }
        defer { start = end + 1 }
        lineBytes += end + 1 - start
        guard lineBytes <= Self.maximumLines else { throw Self.malformed("its lines are too many") }
        return buffer[start..<(end - 1)]
    }

    /// Reads the size from a line such as `1a;name=value`.
    private static func size(_ line: ArraySlice<UInt8>) throws(RequestParser.Refusal) -> Int {
        let digits = line.prefix { Hex.value(of: $0) != nil }
        let rest = line[digits.endIndex...].drop { $0 == 0x20 || $0 == 0x09 }
        guard (1...maximumSizeDigits).contains(digits.count), rest.isEmpty || rest.first == UInt8(ascii: ";"),
            rest.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
        else { throw malformed("a chunk has no size") }
        return digits.reduce(0) { $0 << 4 | Int(Hex.value(of: $1) ?? 0) }
    }

    private static func malformed(_ what: String) -> RequestParser.Refusal {
        RequestParser.Refusal(status: 400, reason: "the chunked body is malformed: \(what)")
    }
}
