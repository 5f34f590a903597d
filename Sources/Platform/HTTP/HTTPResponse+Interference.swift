// SPDX-License-Identifier: Apache-2.0

/// A sign that a response is not the service's own, or that somebody has changed it on the way.
package enum Interference: Sendable, Equatable {
    /// A network's sign-in portal (RFC 6585, section 6).
    case portal
    /// The service is blocked by law here (RFC 7725).
    case legalBlock
    /// The address is gone for good (RFC 9110, section 15.5.11).
    case gone
    /// The body is compressed by this method, which no request of ours asks for.
    case encoded(String)
    /// A web page, with its title if it has one.
    case page(title: String?)
    /// The port expects TLS, and the request was plain HTTP.
    case wantsTLS
}

extension HTTPResponse {
    /// What the status alone says, whatever the body is.
    package var interference: Interference? {
        switch status {
        case 511: .portal
        case 451: .legalBlock
        default: nil
        }
    }

    /// What a response is that should have been JSON and is not.
    package var unreadableBody: Interference? {
        if let known = interference { return known }
        let encoding = header("Content-Encoding").map { $0.lowercased() } ?? "identity"
        if encoding != "identity", !encoding.isEmpty { return .encoded(String(encoding.prefix(20))) }
        if status == 410 { return .gone }
        if status == 400, wantsTLS { return .wantsTLS }
        return isMarkup ? .page(title: title) : nil
    }

    /// In the words of nginx, Apache, Go's net/http and Tomcat.
    private var wantsTLS: Bool {
        let text = String(decoding: body.prefix(4096), as: UTF8.self).lowercased()
        return [
            "plain http request was sent to https port", "speaking plain http to an ssl-enabled server port",
            "client sent an http request to an https server", "combination of host and port requires tls",
        ].contains { text.contains($0) }
    }

    /// Whether a successful answer begins with a letter, as neither an object, a list nor a page does.
    package var isPlainText: Bool {
        guard 200..<300 ~= status, let first = body.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) else {
            return false
        }
        return UInt8(ascii: "a")...UInt8(ascii: "z") ~= first | 0x20
    }

    private var isMarkup: Bool {
        let start = body.starts(with: [0xEF, 0xBB, 0xBF]) ? body.dropFirst(3) : body[...]
        return start.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "<")
    }

    /// Of a page's beginning, at most 60 characters of it.
    private var title: String? {
        let text = String(decoding: body.prefix(4096), as: UTF8.self)
        let lower = Array(text.unicodeScalars)
        func index(of word: String, from start: Int) -> Int? {
            let word = Array(word.unicodeScalars)
            guard lower.count >= start + word.count else { return nil }
            return (start...(lower.count - word.count)).first { start in
                word.indices.allSatisfy { lower[start + $0].properties.lowercaseMapping == String(word[$0]) }
            }
        }
        guard let tag = index(of: "<title", from: 0), let open = index(of: ">", from: tag),
            let end = index(of: "</title", from: open)
        else { return nil }
        let words = String(String.UnicodeScalarView(lower[(open + 1)..<end])).split(whereSeparator: \.isWhitespace)
        let title = String(words.joined(separator: " ").prefix(60))
        return title.isEmpty ? nil : title
    }
}
