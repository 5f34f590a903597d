// SPDX-License-Identifier: Apache-2.0

/// RFC 4648, section 4: the standard alphabet, padded.
func base64(_ bytes: [UInt8]) -> String {
    let text = base64URL(bytes).map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
    return String(text) + String(repeating: "=", count: (4 - text.count % 4) % 4)
}

/// Nil for what is not padded, canonical base64. Line breaks in between are skipped, as some encoders make them.
func decodedBase64(_ text: some StringProtocol) -> [UInt8]? {
    let digits = text.utf8.filter { $0 != 0x0A && $0 != 0x0D }
    guard digits.count.isMultiple(of: 4), !digits.contains(UInt8(ascii: "-")), !digits.contains(UInt8(ascii: "_"))
    else {
        return nil
    }
    let padding = digits.suffix(2).count { $0 == UInt8(ascii: "=") }
    let url = digits.dropLast(padding).map {
        $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0
    }
    return decodedBase64URL(String(decoding: url, as: UTF8.self))
}
