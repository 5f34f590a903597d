// SPDX-License-Identifier: Apache-2.0
import RainCore

/// The token by which a portal knows requests of its own pages from those that other sites make a browser send (`p_auth`): it stands in
/// a script of every page, `Liferay.authToken = '…';`, and goes back in `X-CSRF-Token`.
enum LiferayAuthToken {
    static let header = "X-CSRF-Token"
    /// What the token is called in a form.
    static let parameter = "p_auth"
    /// Pages of portals are some hundred kilobytes.
    static let maximumPageBytes = 2 << 20

    /// The token in a page; nil if it has none.
    static func find(in page: [UInt8]) -> Secret? {
        let name = Array("Liferay.authToken".utf8)
        var rest = page.prefix(maximumPageBytes)[...]
        while let start = firstIndex(of: name, in: rest) {
            rest = rest[(start + name.count)...]
            if let token = value(after: rest) { return token }
        }
        return nil
    }

    /// What is assigned right here, in quotation marks of either kind.
    private static func value(after rest: ArraySlice<UInt8>) -> Secret? {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        var text = rest.drop(while: isSpace)
        guard text.popFirst() == UInt8(ascii: "=") else { return nil }
        text = text.drop(while: isSpace)
        guard let mark = text.popFirst(), mark == UInt8(ascii: "'") || mark == UInt8(ascii: "\"") else { return nil }
        let token = text.prefix { $0 != mark }
        // Eight letters and digits everywhere; no more is asked of it than to fit a header.
        guard (1...64).contains(token.count), text.dropFirst(token.count).first == mark,
            token.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return Secret(Array(token))
    }

    private static func firstIndex(of pattern: [UInt8], in text: ArraySlice<UInt8>) -> Int? {
        guard text.count >= pattern.count, let first = pattern.first else { return nil }
        var index = text.startIndex
        while index <= text.endIndex - pattern.count {
            if text[index] == first, text[index..<index + pattern.count].elementsEqual(pattern) { return index }
            index += 1
        }
        return nil
    }
}
