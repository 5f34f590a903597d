// SPDX-License-Identifier: Apache-2.0

/// A sign that the response does not come from the service, or that it was changed on the way.
package enum Interference: Sendable, Equatable {
    /// A network's sign-in portal (RFC 6585, section 6).
    case portal
    /// The service is legally blocked here (RFC 7725).
    case legalBlock
    /// The address is permanently gone (RFC 9110, section 15.5.11).
    case gone
    /// The body is compressed by this method, although no request of ours accepts that.
    case encoded(String)
    /// A web page, and its title if it has one.
    case page(title: String?)
    /// The port expects TLS, and the request was plain HTTP.
    case wantsTLS
}

extension HTTPResponse {
    /// The interference that the status alone shows, whatever the body is.
    package var interference: Interference? {
        switch status {
        case 511: .portal
        case 451: .legalBlock
        default: nil
        }
    }

    /// The reason why a response that should be JSON cannot be read.
    package var unreadableBody: Interference? {
        if let known = interference { return known }
        let encoding = header("Content-Encoding").map { $0.lowercased() } ?? "identity"
        if encoding != "identity", !encoding.isEmpty { return .encoded(String(encoding.prefix(20))) }
        if status == 410 { return .gone }
        if status == 400, wantsTLS { return .wantsTLS }
        return isMarkup ? .page(title: title) : nil
    }

    /// Recognises the texts of nginx, Apache, Go's net/http and Tomcat.
    private var wantsTLS: Bool {
        let text = String(decoding: body.prefix(4096), as: UTF8.self).lowercased()
        return [
            "plain http request was sent to https port", "speaking plain http to an ssl-enabled server port",
            "client sent an http request to an https server", "combination of host and port requires tls",
        ].contains { text.contains($0) }
    }

    /// Whether a successful answer begins with a letter. Objects, lists and pages do not.
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

    /// The title of a page, at most 60 characters of it.
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
