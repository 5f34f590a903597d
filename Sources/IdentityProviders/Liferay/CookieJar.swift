// SPDX-License-Identifier: Apache-2.0
import RainHTTP
import RainCore

/// The cookies of one host (RFC 6265). Their values are as powerful as passwords.
///
/// Cookies of another host, or for another host, are ignored. Paths are ignored too, because a portal's session is valid for the whole
/// host.
struct CookieJar: Sendable, Equatable {
    struct Cookie: Sendable, Equatable {
        var name: String
        var value: Secret
    }

    private var cookies: [Cookie] = []

    /// The maximum number of cookies. Browsers keep 180 of a host; a portal sets about ten.
    private static let maximumCount = 50
    /// The maximum size of a cookie (RFC 6265, section 6.1).
    private static let maximumBytes = 4096

    init(_ cookies: [Cookie] = []) { self.cookies = cookies }

    mutating func set(_ name: String, _ value: Secret) {
        guard let index = cookies.firstIndex(where: { $0.name == name }) else {
            if cookies.count < Self.maximumCount { cookies.append(Cookie(name: name, value: value)) }
            return
        }
        cookies[index].value = value
    }

    private mutating func remove(_ name: String) { cookies.removeAll { $0.name == name } }

    /// Stores the cookies that a response of `host` sets, and removes those that it ends.
    mutating func take(from response: HTTPResponse, host: String) {
        for header in response.headers where header.name.lowercased() == "set-cookie" {
            take(header.value, host: host)
        }
    }

    private mutating func take(_ line: String, host: String) {
        let pieces = line.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map {
            Self.trimmed($0)
        }
        guard line.utf8.count <= Self.maximumBytes, let pair = pieces.first,
            let equals = pair.firstIndex(of: UInt8(ascii: "="))
        else { return }
        let name = Self.trimmed(pair[..<equals])
        let value = Self.trimmed(pair[pair.index(after: equals)...])
        guard !name.isEmpty, name.allSatisfy(Self.isNameByte), value.allSatisfy(Self.isValueByte) else { return }
        var ends = false
        for piece in pieces.dropFirst() {
            let cut = piece.firstIndex(of: UInt8(ascii: "=")) ?? piece.endIndex
            let attribute = Self.text(Self.trimmed(piece[..<cut])).lowercased()
            let setting = cut == piece.endIndex ? "" : Self.text(Self.trimmed(piece[piece.index(after: cut)...]))
            switch attribute {
            case "domain":
                let domain = setting.lowercased().drop { $0 == "." }
                guard domain == Self.withoutPort(host) else { return }
            case "max-age": ends = Int64(setting).map { $0 <= 0 } ?? ends
            // Servers delete a cookie by an expiry in the past. They write 1970 or 1994.
            case "expires": if setting.contains("1970") || setting.contains("1994") { ends = true }
            default: break
            }
        }
        let text = Self.text(name)
        if ends { remove(text) } else { set(text, Secret(Array(value))) }
    }

    /// The value of the `Cookie` header; nil for an empty jar.
    var header: Secret? {
        guard !cookies.isEmpty else { return nil }
        var bytes: [UInt8] = []
        for cookie in cookies {
            if !bytes.isEmpty { bytes += "; ".utf8 }
            bytes += cookie.name.utf8
            bytes.append(UInt8(ascii: "="))
            cookie.value.reveal { bytes += $0 }
        }
        return Secret(bytes)
    }

    // MARK: Bytes

    private static func trimmed(_ bytes: Substring.UTF8View) -> Substring.UTF8View {
        var rest = bytes
        while rest.first == 0x20 || rest.first == 0x09 { rest = rest.dropFirst() }
        while rest.last == 0x20 || rest.last == 0x09 { rest = rest.dropLast() }
        return rest
    }

    private static func text(_ bytes: Substring.UTF8View) -> String { String(Substring(bytes)) }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !#"()<>@,;:\"/[]?={}"#.utf8.contains(byte)
    }

    private static func isValueByte(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && byte != UInt8(ascii: ";") && byte != UInt8(ascii: ",") && byte != 0x5C
    }

    private static func withoutPort(_ authority: String) -> String {
        guard let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") else { return authority }
        return String(authority[..<colon])
    }
}
