// SPDX-License-Identifier: Apache-2.0

/// User and password of an `Authorization: Basic` header (RFC 7617).
struct BasicCredentials: Equatable {
    var user: String
    var password: String

    init(user: String, password: String) { (self.user, self.password) = (user, password) }

    /// - Parameter isFormEncoded: as OAuth clients do it (RFC 6749, 2.3.1).
    init?(_ header: String, isFormEncoded: Bool = false) {
        guard header.lowercased().hasPrefix("basic ") else { return nil }
        // base64 of the standard alphabet, padded, as base64url without.
        let digits = header.dropFirst(6).filter { $0 != "=" && $0 != " " }
            .map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
        guard let bytes = decodedBase64URL(String(digits)), let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else {
            return nil
        }
        let text = { (part: ArraySlice<UInt8>) in
            let text = String(decoding: part, as: UTF8.self)
            return isFormEncoded ? percentDecoded(Substring(text)) : text
        }
        (user, password) = (text(bytes[..<colon]), text(bytes[(colon + 1)...]))
    }
}
