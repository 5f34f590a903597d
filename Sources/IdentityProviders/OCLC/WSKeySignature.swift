// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCrypto

/// Signs requests with a WSKey, OCLC's key and secret for an application (WSKey HMAC, version 2).
///
/// The signature does not cover the request's own host and path. The scheme uses constants for both, and for the port
/// (OCLC-Developer-Network/oclc-auth-python, `wskey.py`).
struct WSKeySignature: Sendable {
    static let scheme = "http://www.worldcat.org/wskey/v2/hmac/v1"

    /// The key's public half, which OCLC calls the WSKey.
    private let key: String
    private let hash: KeyedHash

    init(key: String, secret: Secret, hashes: any Hashes.Type) {
        self.key = key
        hash = KeyedHash(key: secret, hashes: hashes)
    }

    /// A time and a number that is used once, so that nobody else can send a signed request again.
    struct Stamp: Sendable, Equatable {
        /// The seconds since 1970, as text.
        var timestamp: String
        var nonce: String

        init(timestamp: String, nonce: String) {
            self.timestamp = timestamp
            self.nonce = nonce
        }

        init(at now: UnixTime, random: inout some RandomSource) {
            timestamp = "\(Int64(now.seconds))"
            nonce = Hex.text(random.bytes(16))
        }
    }

    /// Returns the value of the `Authorization` header, with the user of the request if there is one.
    func authorization(
        method: String, query: [QueryItem], stamp: Stamp, principal: OCLCPrincipal? = nil
    ) -> Secret {
        let signature = Base64.text(hash(Self.signed(key: key, method: method, query: query, stamp: stamp)))
        let fields = [
            ("clientId", key), ("timestamp", stamp.timestamp), ("nonce", stamp.nonce), ("signature", signature),
        ].map { "\($0.0)=\"\($0.1)\"" }
        let all = fields + [principal?.headerFields].compactMap { $0 }
        return Secret(Self.scheme + " " + all.joined(separator: ", "))
    }

    /// Returns the signed text. The line for the body's hash is empty, because OCLC uses none.
    static func signed(key: String, method: String, query: [QueryItem], stamp: Stamp) -> [UInt8] {
        var lines = [key, stamp.timestamp, stamp.nonce, "", method, "www.oclc.org", "443", "/wskey"]
        // The order is by name, and by value if a name is repeated, by their bytes.
        let sorted = query.sorted { left, right in
            left.name == right.name
                ? left.value.utf8.lexicographicallyPrecedes(right.value.utf8)
                : left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
        }
        lines += sorted.map { PercentEncoding.encoded($0.name) + "=" + PercentEncoding.encoded($0.value) }
        return lines.flatMap { Array($0.utf8) + [UInt8(ascii: "\n")] }
    }
}

/// One parameter of a URL's query. Neither half is escaped.
struct QueryItem: Sendable, Equatable {
    fileprivate var name: String
    fileprivate var value: String

    init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Returns the query of a URL in its order, with repeated names. A plus sign is a plus sign, because OCLC's queries are not forms.
    static func items(of url: String) -> [QueryItem] {
        guard let mark = url.firstIndex(of: "?") else { return [] }
        let query = url[url.index(after: mark)...].prefix { $0 != "#" }
        return query.split(separator: "&").map { piece in
            let equals = piece.firstIndex(of: "=")
            let value = equals.map { piece[piece.index(after: $0)...] } ?? ""
            return QueryItem(unescaped(piece[..<(equals ?? piece.endIndex)]), unescaped(value))
        }
    }

    private static func unescaped(_ text: Substring) -> String {
        FormEncoding.decoded(text.utf8.flatMap { $0 == UInt8(ascii: "+") ? Array("%2B".utf8) : [$0] }) ?? String(text)
    }
}
