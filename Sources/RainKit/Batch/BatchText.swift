// SPDX-License-Identifier: Apache-2.0
import RainCore

/// The text of a file of boards, in any of the encodings that spreadsheets write.
enum BatchText {
    /// Returns the text in UTF-8 without a byte order mark. UTF-16 with a mark is converted; UTF-8 is not checked.
    ///
    /// Throws the sentence about a file that is not such text.
    static func decoded(_ bytes: [UInt8]) throws(Fault) -> [UInt8] {
        if bytes.starts(with: [0xFF, 0xFE]) { return try utf16(bytes, low: 0) }
        if bytes.starts(with: [0xFE, 0xFF]) { return try utf16(bytes, low: 1) }
        if bytes.starts(with: [0x50, 0x4B, 0x03, 0x04]) {
            throw Fault(message: "This is a spreadsheet, not text. Save it in the spreadsheet program as CSV (UTF-8).")
        }
        do throws(FileText.Fault) {
            return try FileText.document(bytes)
        } catch {
            if error == .nul, let place = bytes.firstIndex(of: 0) {
                let line = bytes[..<place].count(where: { $0 == UInt8(ascii: "\n") }) + 1
                throw Fault(
                    message:
                        "Line \(line) of the file of boards contains NUL bytes: the file is damaged, or it is UTF-16 text without a byte "
                        + "order mark. Save it again, as CSV (UTF-8).")
            }
            throw Fault(message: "The file of boards cannot be read: \(error).")
        }
    }

    struct Fault: Error { var message: String }

    /// - Parameter low: the index of the less significant byte in each pair.
    private static func utf16(_ bytes: [UInt8], low: Int) throws(Fault) -> [UInt8] {
        let damaged = Fault(
            message: "The file is damaged UTF-16 text: its end may be missing. Save the file again, as CSV (UTF-8).")
        guard bytes.count.isMultiple(of: 2) else { throw damaged }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        let units = stride(from: 2, to: bytes.count, by: 2).lazy
            .map { UInt16(bytes[$0 + low]) | UInt16(bytes[$0 + 1 - low]) << 8 }
        var codec = UTF16()
        var iterator = units.makeIterator()
        while true {
            switch codec.decode(&iterator) {
            case .scalarValue(let scalar):
                guard scalar.value != 0 else { throw damaged }
                text += UTF8.encode(scalar).map(Array.init) ?? []
            case .emptyInput: return text
            case .error: throw damaged
            }
        }
    }
}
