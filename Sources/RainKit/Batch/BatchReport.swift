// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore

/// The report about a batch, as a table for spreadsheets, as JSON, or as a page to print.
///
/// ```swift
/// if let report = try await BatchReport(of: batch.id, in: ledger, at: SystemWallClock().now) { print(report.html()) }
/// ```
///
/// Names and messages come from boards and servers. No form has their control characters, and none lets them act as anything but text.
public struct BatchReport: Sendable {
    /// The batch that the report is about.
    public let batch: Batch
    /// How many of ``boards`` are in which state.
    public let counts: BatchCounts
    /// The boards in the order of their lines.
    public let boards: [LedgerBoard]
    /// When the report was made.
    public let time: UnixTime

    /// - Parameters:
    ///   - boards: all boards of the batch, in the order of their lines.
    ///   - abandoned: how many of the running boards no station works on (``BatchCounts/abandoned``).
    public init(_ batch: Batch, boards: [LedgerBoard], abandoned: Int = 0, at time: UnixTime) {
        self.batch = batch
        self.boards = boards
        self.time = time
        var counts = BatchCounts()
        for board in boards {
            switch board.state {
            case .waiting: counts.waiting += 1
            case .running: counts.running += 1
            case .done: counts.done += 1
            case .failed: counts.failed += 1
            }
        }
        counts.abandoned = min(abandoned, counts.running)
        self.counts = counts
    }

    /// Creates the report from pages of boards, in the order of their lines. Rethrows what the pages throw.
    public init<Pages: AsyncSequence>(
        _ batch: Batch, pages: Pages, abandoned: Int = 0, at time: UnixTime
    ) async throws where Pages.Element == [LedgerBoard] {
        var boards: [LedgerBoard] = []
        for try await page in pages { boards += page }
        self.init(batch, boards: boards, abandoned: abandoned, at: time)
    }

    /// Reads the report of a batch from its ledger, page by page; nil if the ledger has no batch with this number.
    ///
    /// Boards may change while the report is read. Each is in it once, and the counts are those of the report.
    public init?(of id: BatchID, in ledger: any Ledger, at time: UnixTime) async throws(LedgerError) {
        guard let batch = try await ledger.batch(id) else { return nil }
        let abandoned = try await ledger.counts(of: id).abandoned
        var boards: [LedgerBoard] = []
        while true {
            let page = try await ledger.boards(of: id, after: boards.last?.line ?? 0, limit: Self.pageSize)
            // A ledger that repeats a page must not be read forever.
            guard let last = page.last, last.line > boards.last?.line ?? 0 else { break }
            boards += page
        }
        self.init(batch, boards: boards, abandoned: abandoned, at: time)
    }

    static let pageSize = 1000

    /// Returns a JSON document (`docs/schema/batch-report.json`) with a line end. All times are in UTC.
    public func json() -> String { JSONText.document(BatchReportResult(self)) }

    /// Returns a table: a line with the columns' names, and a line for each board. It is CSV by RFC 4180, in UTF-8.
    ///
    /// A text that a spreadsheet would take for a formula, because it begins with `=`, `+`, `-` or `@`, begins with an apostrophe here.
    public func csv() -> String {
        var lines = [
            "line,name,address,state,attempts,station,node_id,mac,step,started,ended,duration_s,exit,reason,message,remedy"
        ]
        for board in boards {
            let fields: [String?] = [
                "\(board.line)", board.name, board.address, board.state.rawValue, "\(board.attempt)", board.station,
                board.nodeID, board.mac, board.step, board.started?.inUTC, board.ended?.inUTC,
                board.seconds.map { "\(Int($0.rounded()))" }, board.failure.map { "\($0.code)" }, board.failure?.reason,
                board.failure?.message, board.failure?.remedy,
            ]
            lines.append(fields.map { CSVField.text($0 ?? "") }.joined(separator: ","))
        }
        return lines.map { $0 + "\r\n" }.joined()
    }
}

/// A field of CSV.
enum CSVField {
    /// Returns the text as a field that no spreadsheet calculates, without control characters.
    static func text(_ text: String) -> String {
        var field = text.withoutControls
        // Some spreadsheets accept the wide forms of these characters too, and a formula after blanks.
        if let first = field.unicodeScalars.first(where: { $0 != " " }), "=+-@＝＋－＠".unicodeScalars.contains(first) {
            field = "'" + field
        }
        let needsQuotes =
            field.unicodeScalars.contains { $0 == "\"" || $0 == "," } || field.first == " " || field.last == " "
        guard needsQuotes else { return field }
        var quoted = String.UnicodeScalarView("\"".unicodeScalars)
        for scalar in field.unicodeScalars {
            quoted.append(scalar)
            if scalar == "\"" { quoted.append(scalar) }
        }
        quoted.append("\"")
        return String(quoted)
    }
}
