// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainHTTP
import RainJSON

/// The secrets of a request, so that a server's text can be shown without them. Some servers repeat what they received.
package struct RequestSecrets {
    private let texts: [[UInt8]]

    /// The minimum length in bytes. Shorter secrets would remove ordinary words from sentences.
    private static let minimumLength = 4

    /// - Parameter others: secrets that the request carries under other names.
    package init(_ request: HTTPRequest, and others: [Secret] = []) {
        var found = others.map { $0.revealString() }
        for header in request.headers
        where ["authorization", "proxy-authorization", "cookie", "x-csrf-token"].contains(header.name.lowercased()) {
            found.append(header.value)
            let pieces = header.value.split(whereSeparator: { " ,;\"".contains($0) })
            found += pieces.map(String.init)
            guard header.name.lowercased() == "cookie" else { continue }
            // A cookie's value alone counts too, unless it is short enough to be a switch.
            let values = pieces.compactMap { piece in piece.firstIndex(of: "=").map { piece[piece.index(after: $0)...] }
            }
            found += values.filter { $0.utf8.count >= 8 }.map(String.init)
        }
        if let json = try? JSONValue(parsing: request.body, limits: TokenResponse.limits) {
            Self.collect(json, named: "", &found)
        } else if let form = try? ParameterList(parsing: request.body) {
            Self.collect(form, &found)
        }
        if let query = request.url.firstIndex(of: "?"),
            let parameters = try? ParameterList(parsing: request.url[request.url.index(after: query)...].utf8)
        {
            Self.collect(parameters, &found)
        }
        found += found.flatMap { [FormEncoding.encoded($0), FormEncoding.encodedForQuery($0)] }
        // Longer secrets come first, so that no piece of one remains. Bytes are compared, because two spellings of an accent are equal as
        // text.
        texts = Set(found.map { Array($0.utf8) }.filter { $0.count >= Self.minimumLength }).sorted {
            $0.count == $1.count ? $0.lexicographicallyPrecedes($1) : $0.count > $1.count
        }
    }

    private static func collect(_ parameters: ParameterList, _ found: inout [String]) {
        for name in parameters.names where isSecret(name) { found.append(parameters[name] ?? "") }
    }

    private static func collect(_ json: JSONValue, named name: String, _ found: inout [String]) {
        switch json {
        case .string(let text): if isSecret(name) { found.append(text) }
        case .object(let members): for member in members { collect(member.value, named: member.name, &found) }
        case .array(let values): for value in values { collect(value, named: name, &found) }
        default: break
        }
    }

    private static func isSecret(_ name: String) -> Bool {
        let name = name.lowercased()
        if ["token_type_hint", "grant_type", "token_type", "code_challenge_method"].contains(name) { return false }
        let bytes = Array(name.utf8)
        return secretNames.contains { bytes.firstIndex(of: $0, from: 0) != nil }
    }

    private static let secretNames = ["pass", "secret", "token", "code", "assertion", "session", "jwt"].map {
        Array($0.utf8)
    }

    /// Returns the text without the secrets, for logs.
    package func removed(from text: String) -> String { cut(from: text) }

    /// Returns the text without the secrets, and without the rest of a secret that was cut off.
    ///
    /// It compares bytes. As characters, a secret with an accent after it would be another word.
    fileprivate func cut(from words: String) -> String { Self.cut(texts, from: words) }

    /// Removes only the secrets that cannot be ordinary words, so that our own sentences do not lose words.
    fileprivate func cutUnmistakable(from words: String) -> String {
        let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        return Self.cut(texts.filter { $0.count >= 16 || $0.count >= 8 && $0.contains(where: isDigit) }, from: words)
    }

    /// Returns the answer as the server would have sent it without the secrets.
    fileprivate func cut(from response: HTTPResponse) -> HTTPResponse {
        var response = response
        for (index, header) in response.headers.enumerated() { response.headers[index].value = cut(from: header.value) }
        if let json = try? JSONValue(parsing: response.body, limits: JSONLimits(maximumBytes: 4 << 20)) {
            response.body = cut(from: json).serialized()
        } else {
            response.body = Array(cut(from: String(decoding: response.body, as: UTF8.self)).utf8)
        }
        return response
    }

    private func cut(from json: JSONValue) -> JSONValue {
        switch json {
        case .string(let text): .string(cut(from: text))
        case .array(let values): .array(values.map { cut(from: $0) })
        case .object(let members):
            .object(members.map { JSONValue.Member(cut(from: $0.name), cut(from: $0.value)) })
        default: json
        }
    }

    private static func cut(_ texts: [[UInt8]], from words: String) -> String {
        var bytes = Array(words.utf8)
        for secret in texts { bytes = bytes.replacing(secret, with: mark) }
        // A server's text may be anywhere in a sentence.
        var (result, start) = ([UInt8](), 0)
        while let end = bytes.firstIndex(of: mark, from: start) {
            let shown = bytes[start..<end]
            let rest = texts.lazy.map { beginning(of: $0, endsIn: shown) }.max() ?? 0
            result += shown.dropLast(rest) + mark
            start = end + mark.count
        }
        return String(decoding: result + bytes[start...], as: UTF8.self)
    }

    private static let mark = Array("…".utf8)

    /// Returns how many bytes at the end are the beginning of a secret, or 0 if they are too few to differ from ordinary words.
    private static func beginning(of secret: [UInt8], endsIn words: ArraySlice<UInt8>) -> Int {
        let longest = min(secret.count, words.count)
        guard longest >= minimumLength else { return 0 }
        return (minimumLength...longest).last { words.suffix($0).elementsEqual(secret.prefix($0)) } ?? 0
    }
}

extension AccountError {
    /// Returns this error without the secrets of the request, which servers, proxies and gateways may quote.
    ///
    /// Our own sentences remain whole, even if the password is one of their words. To separate them from the server's text, `read` reads
    /// the answer again without the secrets.
    /// - Parameters:
    ///   - response: the answer.
    ///   - read: the function that made this error from the answer.
    package func without<Result>(
        _ secrets: RequestSecrets, in response: HTTPResponse, _ read: (HTTPResponse) throws(AccountError) -> Result
    ) -> AccountError {
        var error = self
        error.message = secrets.cut(from: message)
        if error.message != message {
            do throws(AccountError) {
                _ = try read(secrets.cut(from: response))
            } catch let again {
                if again.code == code { error.message = secrets.cutUnmistakable(from: again.message) }
            }
        }
        error.serverMessage = serverMessage.map(secrets.cut)
        error.serverCause = serverCause.map(secrets.cut)
        return error
    }
}

extension [UInt8] {
    fileprivate func firstIndex(of other: [UInt8], from start: Int) -> Int? {
        guard let first = other.first, count - start >= other.count else { return nil }
        return (start...count - other.count).first { index in
            self[index] == first && self[index..<index + other.count].elementsEqual(other)
        }
    }

    fileprivate func replacing(_ other: [UInt8], with mark: [UInt8]) -> [UInt8] {
        guard var found = firstIndex(of: other, from: 0) else { return self }
        var (result, start) = ([UInt8](), 0)
        while true {
            result += self[start..<found] + mark
            start = found + other.count
            guard let next = firstIndex(of: other, from: start) else { return result + self[start...] }
            found = next
        }
    }
}
