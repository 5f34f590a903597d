// SPDX-License-Identifier: Apache-2.0

/// Texts that people scan or give in the place of a board's QR code.
enum ForeignCode {
    private static let prefixes: [(String, String)] = [
        ("WIFI:", "the code of a Wi-Fi network, which phones scan to join it"), ("MT:", "a Matter setup code"),
        ("X-HM://", "a HomeKit setup code"), ("DPP:", "a code of Wi-Fi Easy Connect"),
        ("otpauth:", "a code for one-time passwords"),
        ("BEGIN:VCARD", "a contact card"), ("<", "a web page, or another document with tags"),
    ]

    /// What the text is instead; nil if it may be a board's code.
    /// - Parameter text: without white space around it.
    static func name(of text: ArraySlice<UInt8>) -> String? {
        if text.isEmpty { return "empty" }
        if text.contains(0) || String(validating: text, as: UTF8.self) == nil { return "not text" }
        return prefixes.first { prefix, _ in
            text.prefix(prefix.utf8.count).map(Self.lowercase) == prefix.utf8.map(Self.lowercase)
        }?.1
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

    /// Whether a text can be a code's own, and is not the name of a file: a board's in any form, or one with another scheme.
    static func mayBeCode(_ text: String) -> Bool {
        text.contains { "{|\"<".contains($0) }
            || text.firstIndex(of: ":").map { colon in
                text[..<colon].count > 1
                    && text[..<colon].utf8.allSatisfy { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ".") }
            } ?? false
    }
}

extension QRPayload {
    /// Whether a text can be a code's own, a board's or another's, and is not the name of a file.
    public static func mayBeCode(_ text: String) -> Bool { ForeignCode.mayBeCode(text) }
}
