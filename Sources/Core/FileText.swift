// SPDX-License-Identifier: Apache-2.0

/// Reads text that a person has put into a file, as editors of several systems write it.
public enum FileText {
    /// Why bytes are not the text that was meant. The description is a part of a sentence that begins with the file.
    public enum Fault: Error, Hashable, CustomStringConvertible {
        /// The text is encoded as UTF-16, has NUL bytes, or has more lines than one.
        case utf16, nul, severalLines

        public var description: String {
            switch self {
            case .utf16: "it is UTF-16 text: save it as UTF-8"
            case .nul: "it has NUL bytes, as text in UTF-16 does: save it as UTF-8"
            case .severalLines: "it has more than one line, and only one is expected"
            }
        }
    }

    /// Returns a document, such as JSON, without the byte order mark that some editors put before UTF-8.
    ///
    /// Throws ``Fault/utf16`` and ``Fault/nul``.
    public static func document(_ bytes: [UInt8]) throws(Fault) -> [UInt8] {
        let text = try withoutMark(bytes[...])
        return text.count == bytes.count ? bytes : Array(text)
    }

    /// Returns the one line of a file that holds a secret and nothing else, without a byte order mark and without line ends behind it.
    ///
    /// Blanks at either end stay: they are legal in passwords. Nothing is copied. Throws ``Fault/severalLines`` as well.
    public static func secret(_ bytes: ArraySlice<UInt8>) throws(Fault) -> ArraySlice<UInt8> {
        var line = try withoutMark(bytes)
        while let last = line.last, isLineEnd(last) { line.removeLast() }
        guard !line.contains(where: isLineEnd) else { throw .severalLines }
        return line
    }

    private static func withoutMark(_ bytes: ArraySlice<UInt8>) throws(Fault) -> ArraySlice<UInt8> {
        if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) { throw .utf16 }
        guard !bytes.contains(0) else { throw .nul }
        return bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes
    }

    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }
}
