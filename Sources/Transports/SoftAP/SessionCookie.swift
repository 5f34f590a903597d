// SPDX-License-Identifier: Apache-2.0
import RainHTTP

/// The cookie by which a board recognises a conversation over several connections: `session=` and a 32-bit number.
///
/// The firmware compares the whole `Cookie` header with that text in a buffer of 20 bytes, so nothing else may stand in it
/// (`protocomm_httpd.c` of ESP-IDF, from 4.3 on).
struct SessionCookie: Sendable, Equatable {
    let number: UInt32

    /// What belongs into the `Cookie` header.
    var headerValue: String { "session=\(number)" }

    init(number: UInt32) { self.number = number }

    /// Reads one `Set-Cookie` value; nil unless it is a session cookie. Attributes after a semicolon are left aside.
    init?(setCookie: String) {
        let name = Array("session=".utf8)
        let text = Array(setCookie.utf8.prefix(256))
        let pair = text.prefix { $0 != UInt8(ascii: ";") }.filter {
            $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t")
        }
        guard pair.starts(with: name) else { return nil }
        let digits = pair.dropFirst(name.count)
        guard (1...10).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = UInt32(String(decoding: digits, as: UTF8.self))
        else { return nil }
        self.number = number
    }

    /// The session cookie that a response sets, if it does. The last one counts.
    init?(_ response: HTTPResponse) {
        let cookies = response.headers.filter { $0.name.lowercased() == "set-cookie" }
            .compactMap { SessionCookie(setCookie: $0.value) }
        guard let last = cookies.last else { return nil }
        self = last
    }
}
