// SPDX-License-Identifier: Apache-2.0

extension Secret {
    /// One sentence about something in the secret that a person may not have meant, for the error of whoever refused it. Nil if there is
    /// nothing of the kind. It does not quote the secret.
    ///
    /// - Parameter name: what the sentence calls it, such as `Wi-Fi password`.
    public func remark(as name: String) -> String? {
        let text = revealString()
        guard reveal({ String(validating: $0, as: UTF8.self) }) != nil else {
            return "The \(name) that was given is not UTF-8 text, but perhaps Latin-1; save its file as UTF-8."
        }
        if text.first == "{", text.last == "}" {
            return "The \(name) that was given is JSON text; give the \(name) alone."
        }
        if text.unicodeScalars.isAssignment {
            return "The \(name) that was given has the form NAME=value and was sent whole; give the value alone."
        }
        if let first = text.first, let last = text.last, text.utf8.count >= 2, Self.quotes[first] == last {
            return "The \(name) that was given is in quotation marks, which were sent as a part of it."
        }
        let ends = [("begins", text.unicodeScalars.first), ("ends", text.unicodeScalars.last)]
            .compactMap { (verb, scalar) -> String? in scalar.map(Self.isBlank) == true ? verb : nil }
        if !ends.isEmpty {
            return
                "The \(name) that was given \(ends.joined(separator: " and ")) with a blank, which was sent as a part of it."
        }
        if text.hasSuffix("\\n") || text.hasSuffix("\\r") {
            return "The \(name) that was given ends with a backslash and a letter, which were sent as a part of it."
        }
        return nil
    }

    private static let quotes: [Character: Character] = [
        "\"": "\"", "'": "'", "`": "`", "\u{201C}": "\u{201D}", "\u{2018}": "\u{2019}", "\u{AB}": "\u{BB}",
    ]

    /// White space, and characters without a width.
    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x20, 0xA0, 0x2000...0x200F, 0x202F, 0x205F, 0x2060, 0x3000, 0xFEFF: true
        default: false
        }
    }
}

extension String {
    /// This message, with the remark as the cause in its first sentence: `It failed: the remark. Try again.`
    ///
    /// - Parameter remark: one sentence that begins with an article, such as a secret's ``Secret/remark(as:)``; nil leaves the message
    ///   as it is.
    package func because(of remark: String?) -> String {
        guard let remark else { return self }
        // Not the marks in a name that the message quotes.
        let marks: [String] = [": ", ". "]
        let ends: [Range<String.Index>] = marks.flatMap { ranges(of: $0) }.filter { range in
            self[..<range.lowerBound].count(where: { $0 == "\"" }).isMultiple(of: 2)
        }
        let end = ends.min { $0.lowerBound < $1.lowerBound }
        let event = end.map { self[..<$0.lowerBound] } ?? (last == "." ? dropLast() : self[...])
        let rest = end.map { self[$0.upperBound...] } ?? ""
        let cause = remark.prefix(1).lowercased() + remark.dropFirst()
        guard let first = rest.first else { return "\(event): \(cause)" }
        return "\(event): \(cause) \(first.uppercased())\(rest.dropFirst())"
    }
}

extension String.UnicodeScalarView {
    /// Whether this is a line of a file of variables: `NAME=value`, `export NAME=value`. Padding of Base64 is not one.
    fileprivate var isAssignment: Bool {
        guard let sign = firstIndex(of: "=") else { return false }
        var name = self[..<sign]
        if name.starts(with: "export ".unicodeScalars) { name = name.dropFirst(7) }
        let value = self[index(after: sign)...]
        guard let first = name.first, !("0"..."9").contains(first), let start = value.first, start != "=" else {
            return false
        }
        return name.allSatisfy {
            switch $0 {
            case "_", "a"..."z", "A"..."Z", "0"..."9": true
            default: false
            }
        }
    }
}
