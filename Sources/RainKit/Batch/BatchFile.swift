// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore
import RainCrypto
import RainCryptoOpenSSL
import RainJSON

/// The file that lists the boards of a batch: CSV as spreadsheets write it, or JSON Lines (`docs/batch.md`).
///
/// ```swift
/// var defaults = BatchDefaults()
/// defaults.network = try WiFiNetwork("Plant", passphrase: "…")
/// let file = try BatchFile(bytes, defaults: defaults)
/// for entry in file.entries { print(entry.line, entry.name, entry.address) }
/// ```
public struct BatchFile: Sendable {
    /// The form of a file.
    public enum Form: String, Sendable, CaseIterable {
        /// A line with the columns' names, and a line for each board. The separator is a comma, a semicolon or a tab.
        case csv
        /// A JSON object for each board, on a line of its own.
        case jsonLines = "jsonl"
        /// A folder that esp-rainmaker-admin-cli made (``BatchFile/init(premade:defaults:)``).
        case premade
    }

    /// The names of the columns, and of the members of JSON Lines.
    public static let columns = BatchColumn.allCases.map(\.rawValue)
    /// The maximum size of a file: 64 MiB.
    public static let maximumBytes = 64 << 20
    /// The maximum number of boards, and of lines that are not blank.
    public static let maximumLines = 100_000
    /// The maximum number of columns, known or not.
    public static let maximumColumns = 32
    /// The maximum size of a value: 64 KiB.
    public static let maximumFieldBytes = 64 << 10

    /// The boards, in the order of their lines; at least one.
    public let entries: [BatchEntry]
    /// The form that was read.
    public let form: Form
    /// The SHA-256 of the bytes, in lower-case hex digits.
    public let sha256: String

    /// Reads the bytes of a file: UTF-8, or UTF-16 with a byte order mark.
    ///
    /// - Parameters:
    ///   - form: nil for the one that the first character tells.
    ///   - defaults: what applies to lines that say nothing else.
    /// - Throws: all faults of the file.
    public init(
        _ bytes: [UInt8], form: Form? = nil, defaults: BatchDefaults = BatchDefaults()
    ) throws(BatchFileError) {
        var reader = BatchReader(defaults)
        self.form = reader.read(bytes, form: form)
        if let error = reader.faults.error { throw error }
        entries = reader.entries
        sha256 = Hex.text(OpenSSLHashes.sha256(bytes))
    }

    init(entries: [BatchEntry], form: Form, sha256: String) {
        (self.entries, self.form, self.sha256) = (entries, form, sha256)
    }
}

/// Reads a file of either form, and collects its boards and its faults.
private struct BatchReader {
    let defaults: BatchDefaults
    private(set) var entries: [BatchEntry] = []
    private(set) var faults = BatchFaults()
    private var seen = SeenBoards()
    private var lines = 0
    /// The fields of the first line that are no known column. Their faults are reported there.
    private var unknown: Set<Int> = []

    init(_ defaults: BatchDefaults) { self.defaults = defaults }

    mutating func read(_ bytes: [UInt8], form wanted: BatchFile.Form?) -> BatchFile.Form {
        let usual = wanted ?? .csv
        guard bytes.count <= BatchFile.maximumBytes else {
            faults.add(
                .tooLarge, nil, "The file of boards has more than \(BatchFile.maximumBytes >> 20) MiB. Split it.")
            return usual
        }
        let text: [UInt8]
        do throws(BatchText.Fault) {
            text = try BatchText.decoded(bytes)
        } catch {
            faults.add(.unusable, nil, error.message)
            return usual
        }
        let first = text.first { !Self.isSpace($0) }
        let isJSON = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        let form = wanted ?? (isJSON ? .jsonLines : .csv)
        switch form {
        case .csv: readCSV(text)
        case .jsonLines: readJSONLines(text)
        case .premade:
            faults.add(.unusable, nil, "The path is a file. Give the folder that esp-rainmaker-admin-cli has written.")
        }
        if lines == 0, faults.count == 0 {
            faults.add(.unusable, nil, "The file lists no boards. Add a line for each board.")
        }
        return form
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    /// Returns whether one more line may be read.
    private mutating func countLine(_ place: BatchPlace) -> Bool {
        lines += 1
        guard lines > BatchFile.maximumLines else { return true }
        faults.add(
            .tooLarge, place, "The file lists more than \(BatchFile.maximumLines) boards. Split it into several files.")
        return false
    }

    private mutating func add(_ place: BatchPlace, _ values: [BatchColumn: BatchValue]) {
        var row = BatchRow(place, values, defaults: defaults)
        let entry = row.entry()
        for problem in row.problems {
            faults.add(problem.reason, place, column: problem.column?.rawValue, problem.message)
        }
        guard let entry else { return }
        if let earlier = seen.add(entry) {
            faults.add(
                .duplicateBoard, place, column: earlier.column.rawValue,
                "This is the same board as in line \(earlier.line): \(earlier.sameness). Remove one of the two lines.")
        } else {
            entries.append(entry)
        }
    }
}

/// CSV.
extension BatchReader {
    private mutating func readCSV(_ text: [UInt8]) {
        let start = Self.separatorLine(text)
        let header = Self.header(text, start)
        guard let record = header.record else { return }
        guard let columns = columns(record) else { return }
        let headerLine = record.place.line
        var reader = header.reader
        var namelessTold: Set<Int> = []
        while let record = reader.next() {
            guard !record.isBlank else { continue }
            guard countLine(record.place) else { return }
            // A quotation mark in the wrong place shifts the values after it, so nothing else is said about the line.
            if let (field, problem) = record.problems.first {
                addProblem(problem, columns, field, record.place)
                continue
            }
            if let other = Self.otherSeparator(record, columns, reader.separator) {
                faults.add(
                    .unusable, record.place,
                    "The line is separated by \(Self.name(other)), but line \(headerLine) is separated by \(Self.name(reader.separator)). "
                        + "Use the same separator in all lines.")
                continue
            }
            let before = faults.count
            if record.hasFurtherValues {
                faults.add(
                    .tooLarge, record.place,
                    "The line has more than \(BatchFile.maximumColumns) columns. \(Self.quoting)")
            }
            var values: [BatchColumn: BatchValue] = [:]
            for (index, field) in record.fields.enumerated() {
                if index < columns.count, let column = columns[index] {
                    values[column] = .text(field)
                } else if !field.isBlankField, index >= columns.count {
                    faults.add(
                        .unusable, record.place,
                        "The line has more values than the first line has columns. \(Self.quoting)")
                    break
                } else if !field.isBlankField, !unknown.contains(index), namelessTold.insert(index).inserted {
                    faults.add(
                        .unusable, record.place,
                        "Column \(index + 1) has a value, but no name. Name the column in the first line."
                    )
                }
            }
            if faults.count == before { add(record.place, values) }
        }
    }

    /// Returns the separator of a line that has all its values in one field, because it is another one than in the first line; nil for
    /// other lines.
    private static func otherSeparator(
        _ record: CSVReader.Record, _ columns: [BatchColumn?], _ separator: UInt8
    ) -> UInt8? {
        guard columns.count > 1, record.fields.count == 1, let field = record.fields.first,
            field.first != UInt8(ascii: "{"),
            columns[0] != BatchColumn.tags
        else { return nil }
        return separators.first { other in
            other != separator && field.count(where: { $0 == other }) == columns.count - 1
        }
    }

    private static let separators = Array(",;\t".utf8)

    private static func name(_ separator: UInt8) -> String {
        switch separator {
        case UInt8(ascii: ","): "commas"
        case UInt8(ascii: ";"): "semicolons"
        case UInt8(ascii: "\t"): "tabs"
        default: "vertical bars"
        }
    }

    private static let quoting = "Put values that contain the separator in quotation marks."

    private mutating func addProblem(
        _ problem: CSVReader.Problem, _ columns: [BatchColumn?], _ field: Int, _ place: BatchPlace
    ) {
        let column = field < columns.count ? columns[field]?.rawValue : nil
        switch problem {
        case .tooLong:
            faults.add(
                .tooLarge, place, column: column,
                "The value has more than \(BatchFile.maximumFieldBytes >> 10) KiB. Shorten it.")
        case .unclosedQuote:
            faults.add(
                .unusable, place, column: column,
                "The value begins with a quotation mark, but has no closing quotation mark. Add one, and double each quotation mark inside "
                    + "the value."
            )
        case .textAfterQuote:
            faults.add(
                .unusable, place, column: column,
                "There is text after the value's closing quotation mark. Put the whole value in quotation marks, and double each quotation mark inside it."
            )
        case .blankBeforeQuote:
            faults.add(.unusable, place, column: column, "Remove the space before the quotation mark.")
        }
    }

    /// Where the text begins after Excel's first line (`sep=;`), and the separator that it names.
    private static func separatorLine(_ text: [UInt8]) -> (position: Int, separator: UInt8?) {
        let end = text.prefix(9).firstIndex { $0 == 0x0A || $0 == 0x0D } ?? text.count
        var line = text[..<end]
        if line.first == UInt8(ascii: "\""), line.last == UInt8(ascii: "\"") { line = line.dropFirst().dropLast() }
        guard line.count == 5, line.prefix(4).map({ $0 | 0x20 }) == Array("sep=".utf8).map({ $0 | 0x20 }),
            let separator = line.last, ",;\t|".utf8.contains(separator)
        else { return (0, nil) }
        let isPair = end + 1 < text.count && text[end] == 0x0D && text[end + 1] == 0x0A
        return (min(text.count, end + (isPair ? 2 : 1)), separator)
    }

    /// Reads the first line that is not blank, with the separator by which most of it are known columns.
    private static func header(
        _ text: [UInt8], _ start: (position: Int, separator: UInt8?)
    ) -> (record: CSVReader.Record?, reader: CSVReader) {
        let candidates = start.separator.map { [$0] } ?? separators
        var best: (record: CSVReader.Record?, reader: CSVReader)?
        var most = -1
        for separator in candidates {
            var reader = CSVReader(
                text, separator: separator, from: start.position, line: start.separator == nil ? 1 : 2,
                maximumFields: BatchFile.maximumColumns, maximumFieldBytes: BatchFile.maximumFieldBytes)
            var record = reader.next()
            while let blank = record, blank.isBlank { record = reader.next() }
            let known = record?.fields.count { BatchColumn(spelled: String(decoding: $0, as: UTF8.self)) != nil } ?? 0
            // If none is known, the message names the fields of the separator that there is.
            let count = known * 100 + min(record?.fields.count ?? 0, 99)
            if count > most { (best, most) = ((record, reader), count) }
        }
        return best ?? (nil, CSVReader(text, separator: 0x2C, maximumFields: 1, maximumFieldBytes: 1))
    }

    /// Returns the column of each field; nil for a field without a name. Returns nil if the line does not name columns.
    private mutating func columns(_ record: CSVReader.Record) -> [BatchColumn?]? {
        guard !record.hasFurtherValues else {
            faults.add(
                .tooLarge, record.place, "The file has more than \(BatchFile.maximumColumns) columns. Remove some.")
            return nil
        }
        if let (_, problem) = record.problems.first {
            addProblem(problem, [], 0, record.place)
            return nil
        }
        var fields = record.fields.map { String(decoding: $0, as: UTF8.self).trimmed }
        while fields.last?.isEmpty == true { fields.removeLast() }
        let spelled = fields.compactMap { BatchColumn(spelled: $0) }
        let isHeader =
            !spelled.isEmpty || fields.allSatisfy { $0.isEmpty || BatchColumn.nearest(to: $0) != nil }
        guard isHeader else {
            // It may be a board's line, so nothing of it is quoted.
            faults.add(
                .unknownColumn, record.place,
                "The first line must name the columns, separated by commas, semicolons or tabs. The known columns are \(BatchColumn.list)."
            )
            return nil
        }
        var columns: [BatchColumn?] = []
        for (index, name) in fields.enumerated() {
            let known = BatchColumn(spelled: name)
            let column = known ?? BatchColumn.nearest(to: name)
            if known == nil, !name.isEmpty {
                addUnknown(name, beside: spelled, record.place)
                if column == nil { unknown.insert(index) }
            }
            if let column, columns.contains(column) {
                if known != nil {
                    faults.add(
                        .unusable, record.place, column: column.rawValue, "The column occurs twice. Remove one of them."
                    )
                }
                unknown.insert(index)
                columns.append(nil)
            } else {
                columns.append(column)
            }
        }
        return columns
    }

    /// - Parameter known: the columns that the line has, so that no name is suggested twice.
    private mutating func addUnknown(_ name: String, beside known: [BatchColumn], _ place: BatchPlace) {
        let shown = String(String.UnicodeScalarView(name.unicodeScalars.prefix(40))).onOneLine
        let advice =
            BatchColumn.nearest(to: name).flatMap { known.contains($0) ? nil : "Write \($0.rawValue)." }
            ?? "Remove the column, or use one of \(BatchColumn.list)."
        faults.add(.unknownColumn, place, column: shown, "The column is unknown. \(advice)")
    }
}

/// JSON Lines.
extension BatchReader {
    private mutating func readJSONLines(_ text: [UInt8]) {
        var (line, position) = (0, 0)
        while position < text.count {
            line += 1
            let end = text[position...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? text.count
            let content = text[position..<end]
            let isPair = end + 1 < text.count && text[end] == 0x0D && text[end + 1] == 0x0A
            position = end + (isPair ? 2 : 1)
            guard !content.allSatisfy(Self.isSpace) else { continue }
            let place = BatchPlace(line: line, row: line)
            guard countLine(place) else { return }
            if let values = values(content, place) { add(place, values) }
        }
    }

    /// A line with a few values of the maximum size.
    private static let limits = JSONLimits(
        maximumBytes: 16 * BatchFile.maximumFieldBytes, maximumDepth: 16, maximumValues: 10_000)

    /// Returns the members of a line; nil if it has a fault.
    private mutating func values(_ text: ArraySlice<UInt8>, _ place: BatchPlace) -> [BatchColumn: BatchValue]? {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: Array(text), limits: Self.limits)
        } catch {
            let isTooLarge = error.code == .tooLarge || error.code == .tooDeep
            faults.add(
                isTooLarge ? .tooLarge : .unusable, place,
                "The line is not a JSON object: \(error.message). Write one object on each line.")
            return nil
        }
        guard let members = value.members else {
            faults.add(.unusable, place, "The line is \(value.kind). Write one JSON object on each line.")
            return nil
        }
        guard members.count <= BatchFile.maximumColumns else {
            faults.add(.tooLarge, place, "The object has more than \(BatchFile.maximumColumns) members. Remove some.")
            return nil
        }
        if let name = RepeatedMember.first(in: Array(text)) {
            let column = BatchColumn(spelled: name)?.rawValue ?? String(name.prefix(40)).onOneLine
            faults.add(.unusable, place, column: column, "The member occurs twice. Remove one of them.")
            return nil
        }
        let before = faults.count
        var values: [BatchColumn: BatchValue] = [:]
        for member in members where member.value != .null {
            guard let column = BatchColumn(spelled: member.name) else {
                addUnknown(member.name, beside: members.compactMap { BatchColumn(spelled: $0.name) }, place)
                continue
            }
            guard values[column] == nil else {
                faults.add(.unusable, place, column: column.rawValue, "The member occurs twice. Remove one of them.")
                continue
            }
            let bytes = member.value.string.map { Array($0.utf8) }
            guard (bytes ?? member.value.serialized()).count <= BatchFile.maximumFieldBytes else {
                addProblem(.tooLong, [column], 0, place)
                continue
            }
            values[column] = bytes.map(BatchValue.text) ?? .json(member.value)
        }
        return faults.count == before ? values : nil
    }
}

/// The boards of the lines so far, by what makes them the same.
private struct SeenBoards {
    struct Earlier {
        var line: Int
        var column: BatchColumn
        /// What is the same, as the end of a sentence.
        var sameness: String
    }

    private var labels: [String: Int] = [:]
    private var addresses: [String: Int] = [:]
    private var ports: [String: [String: Int]] = [:]
    private var namelessPorts: [String: Int] = [:]
    private var firstOfPort: [String: Int] = [:]

    /// Returns the earlier line of the same board; nil if the board is new.
    mutating func add(_ entry: BatchEntry) -> Earlier? {
        let code = entry.code?.name
        if let line = entry.label.flatMap({ labels[$0] }) {
            return Earlier(
                line: line, column: code == nil ? .name : .qr,
                sameness: code == nil ? "it has the same name" : "its QR code has the same name")
        }
        if entry.address.scheme == "serial" {
            if let earlier = addPort(entry) { return earlier }
        } else {
            let key = Self.key(of: entry.address)
            if let line = addresses[key] {
                return Earlier(line: line, column: .address, sameness: "it has the same address")
            }
            addresses[key] = entry.line
        }
        if let label = entry.label { labels[label] = entry.line }
        return nil
    }

    /// Boards are plugged into one port one after another. Their names tell them apart.
    private mutating func addPort(_ entry: BatchEntry) -> Earlier? {
        let port = entry.address.location ?? ""
        let name = entry.label ?? (entry.name == entry.address.location ? nil : entry.name)
        let same = name.flatMap { ports[port]?[$0] }
        let earlier = same ?? (name == nil ? firstOfPort[port] : namelessPorts[port])
        if let earlier {
            return Earlier(
                line: earlier, column: .port,
                sameness: same == nil
                    ? "it has the same port, and at least one of the two lines has no name"
                    : "it has the same port and name")
        }
        if firstOfPort[port] == nil { firstOfPort[port] = entry.line }
        if let name { ports[port, default: [:]][name] = entry.line } else { namelessPorts[port] = entry.line }
        return nil
    }

    private static func key(of address: BoardAddress) -> String {
        var address = address
        if ["softap", "on-network"].contains(address.scheme),
            let host = address.location.flatMap({ try? HostAndPort($0) })
        {
            address.location = "\(host.host.lowercased()):\(host.port)"
        }
        return address.description
    }
}
