// SPDX-License-Identifier: Apache-2.0

/// The first line of a request, as far as `http_parser` takes it (ESP-IDF's `components/http_parser`, in its strict build).
///
/// The parser looks at each byte as it comes: the first one that no request can have is answered with 400 at once, without waiting for
/// the line's end. So is the hello of a TLS client, whose first byte is 0x16.
struct HTTPRequestLine: Equatable {
    enum Reading: Equatable {
        /// So far it can become one.
        case incomplete
        case impossible
        case line(HTTPRequestLine)
    }

    var method: [UInt8]
    var target: [UInt8]
    /// Major and minor; 0 and 9 where the line names none.
    var version: [Int]

    /// `http_method` of `http_parser.h`. Another word is no request; what the endpoint's handler was not registered for is 405.
    private static let methods: [[UInt8]] = [
        "ACL", "BIND", "CHECKOUT", "CONNECT", "COPY", "DELETE", "GET", "HEAD", "LINK", "LOCK", "M-SEARCH", "MERGE",
        "MKACTIVITY",
        "MKCALENDAR", "MKCOL", "MOVE", "NOTIFY", "OPTIONS", "PATCH", "POST", "PROPFIND", "PROPPATCH", "PURGE", "PUT",
        "QUERY",
        "REBIND", "REPORT", "SEARCH", "SUBSCRIBE", "TRACE", "UNBIND", "UNLINK", "UNLOCK", "UNSUBSCRIBE",
    ].map { Array($0.utf8) }
    static let connect = Array("CONNECT".utf8)

    /// - Parameter bytes: the line without its LF, or what has come of it so far.
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
        // No version at all is HTTP/0.9.
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
        // A version that begins with 0 is none to this parser.
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

    /// What becomes of a CR: only a LF may follow. Nil where the line is whole.
    private static func ending(_ bytes: ArraySlice<UInt8>, _ isWhole: Bool) -> Reading? {
        guard bytes.count == 1 else { return .impossible }
        return isWhole ? nil : .incomplete
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
