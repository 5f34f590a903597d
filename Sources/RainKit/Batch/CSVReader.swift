// SPDX-License-Identifier: Apache-2.0

/// Splits CSV into records: RFC 4180, with the line ends and separators of spreadsheets.
///
/// A line ends with LF, CRLF or CR. A quotation mark inside a field that does not begin with one is literal.
struct CSVReader {
    /// What is wrong with a field.
    enum Problem: Sendable, Equatable { case textAfterQuote, blankBeforeQuote, unclosedQuote, tooLong }

    struct Record: Sendable {
        var place: BatchPlace
        /// The fields without their quotation marks, at most ``CSVReader/maximumFields``.
        var fields: [[UInt8]] = []
        /// The problems, by the index of their field.
        var problems: [(field: Int, problem: Problem)] = []
        /// Whether a field beyond the last that is kept has a value.
        var hasFurtherValues = false

        /// Whether it has nothing but separators and blanks.
        var isBlank: Bool { problems.isEmpty && !hasFurtherValues && fields.allSatisfy(\.isBlankField) }
    }

    /// How many fields of a record are kept.
    let maximumFields: Int
    /// How many bytes of a field are kept.
    let maximumFieldBytes: Int
    private let text: [UInt8]
    let separator: UInt8
    private var position: Int
    private var line: Int
    private var row = 0

    /// - Parameters:
    ///   - position: where the first record begins.
    ///   - line: the number of the line there.
    init(
        _ text: [UInt8], separator: UInt8, from position: Int = 0, line: Int = 1, maximumFields: Int,
        maximumFieldBytes: Int
    ) {
        self.text = text
        self.separator = separator
        self.position = position
        self.line = line
        self.maximumFields = maximumFields
        self.maximumFieldBytes = maximumFieldBytes
    }

    /// Returns the next record, also a blank one; nil at the end.
    mutating func next() -> Record? {
        guard position < text.count else { return nil }
        row += 1
        var record = Record(place: BatchPlace(line: line, row: row))
        var index = 0
        while true {
            let (bytes, problem) = field()
            if index < maximumFields {
                record.fields.append(bytes)
                if let problem { record.problems.append((index, problem)) }
            } else if !bytes.isBlankField || problem != nil {
                record.hasFurtherValues = true
            }
            index += 1
            guard position < text.count, text[position] == separator else { break }
            position += 1
        }
        takeLineEnd()
        return record
    }

    /// Reads up to the next separator or line end outside quotation marks.
    private mutating func field() -> ([UInt8], Problem?) {
        if position < text.count, text[position] == Self.quote { return quotedField() }
        let start = position
        while position < text.count, text[position] != separator, !isLineEnd(text[position]) { position += 1 }
        let bytes = text[start..<position]
        guard bytes.count <= maximumFieldBytes else { return (Array(bytes.prefix(maximumFieldBytes)), .tooLong) }
        let isIndented = bytes.first == 0x20 && bytes.first { $0 != 0x20 } == Self.quote
        return (Array(bytes), isIndented ? .blankBeforeQuote : nil)
    }

    private mutating func quotedField() -> ([UInt8], Problem?) {
        position += 1
        var bytes: [UInt8] = []
        var isTooLong = false
        func keep(_ range: Range<Int>) {
            let room = maximumFieldBytes - bytes.count
            if range.count > room { isTooLong = true }
            bytes += text[range.prefix(room)]
        }
        var start = position
        while true {
            guard position < text.count else {
                keep(start..<position)
                return (bytes, .unclosedQuote)
            }
            let byte = text[position]
            if byte == Self.quote {
                guard position + 1 < text.count, text[position + 1] == Self.quote else { break }
                keep(start..<(position + 1))
                position += 2
                start = position
            } else {
                let isPair = byte == 0x0D && position + 1 < text.count && text[position + 1] == 0x0A
                if isLineEnd(byte), !isPair { line += 1 }
                position += 1
            }
        }
        keep(start..<position)
        position += 1
        let end = position
        while position < text.count, text[position] != separator, !isLineEnd(text[position]) { position += 1 }
        if isTooLong { return (bytes, .tooLong) }
        return (bytes, text[end..<position].contains { $0 != 0x20 } ? .textAfterQuote : nil)
    }

    private mutating func takeLineEnd() {
        guard position < text.count, isLineEnd(text[position]) else { return }
        if text[position] == 0x0D, position + 1 < text.count, text[position + 1] == 0x0A { position += 1 }
        position += 1
        line += 1
    }

    private func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }

    private static let quote = UInt8(ascii: "\"")
}

extension [UInt8] {
    /// Whether it is empty, or spaces and tabs only.
    var isBlankField: Bool { allSatisfy { $0 == 0x20 || $0 == 0x09 } }
}
