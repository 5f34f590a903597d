// SPDX-License-Identifier: Apache-2.0

/// Puts a body together that comes in chunks (RFC 9112, section 7.1), as its bytes come.
///
/// Strict where two readers could differ on where the body ends: lines end with CR LF, a size is hexadecimal digits and nothing else.
struct ChunkedBody: Sendable {
    /// Most hexadecimal digits of a chunk's size.
    static let maximumSizeDigits = 8
    /// Longest line with a chunk's size and its extensions, or with one trailer field, in bytes.
    static let maximumLine = 1 << 10
    /// All such lines of a body together; one in chunks of a kilobyte has some 4 KiB of them.
    static let maximumLines = 64 << 10

    private enum State { case size, data(Int), dataEnd, trailer }

    private var state = State.size
    private var body: [UInt8] = []
    private var lineBytes = 0

    /// Takes what there is out of `buffer`.
    /// - Returns: the whole body; nil while more of it is to come.
    mutating func take(from buffer: inout [UInt8]) throws(RequestParser.Refusal) -> [UInt8]? {
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
                // What stands here is checked and dropped: no header of a request is taken from behind its body.
                guard let line = try line(of: buffer, from: &start) else { return nil }
                if line.isEmpty { return body }
                _ = try RequestParser.header(line)
            }
        }
    }

    /// The next line without its end; nil while it is not there.
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

    /// Of `1a;name=value`.
    private static func size(_ line: ArraySlice<UInt8>) throws(RequestParser.Refusal) -> Int {
        let digits = line.prefix { hexDigit($0) != nil }
        let rest = line[digits.endIndex...].drop { $0 == 0x20 || $0 == 0x09 }
        guard (1...maximumSizeDigits).contains(digits.count), rest.isEmpty || rest.first == UInt8(ascii: ";"),
            rest.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
        else { throw malformed("a chunk has no size") }
        return digits.reduce(0) { $0 << 4 | Int(hexDigit($1) ?? 0) }
    }

    private static func malformed(_ what: String) -> RequestParser.Refusal {
        RequestParser.Refusal(status: 400, reason: "the chunked body is malformed: \(what)")
    }
}
