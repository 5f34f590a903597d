// SPDX-License-Identifier: Apache-2.0

/// The headers of a request, as far as the board's server looks at them, by the rules of `http_parser`.
struct HTTPHeaderBlock: Equatable {
    struct Malformed: Error {}

    private(set) var contentLength = 0
    private(set) var isChunked = false
    /// Of the first `Cookie` header.
    private(set) var cookie: [UInt8]?
    private(set) var isUpgrade = false
    /// Whether anything is to follow.
    private(set) var hasBody = false

    /// - Parameter lines: up to and with the empty line.
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
                // More than one is refused, and a number that 64 bits do not hold.
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
