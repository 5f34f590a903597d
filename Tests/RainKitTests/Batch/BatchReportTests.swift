// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainJSON
import TestSupport
import Testing

@testable import RainKit

/// The reports about a batch. Python reads them in the end-to-end tests.
@Suite("Reports about batches")
struct BatchReportTests {
    private static let batch = Batch(
        id: 7, file: "/srv/boards.csv", sha256: "ab12", deployment: "global", user: "u1",
        created: UnixTime(seconds: 1_700_000_000))

    private static func board(
        _ line: Int, _ state: LedgerBoard.State, name: String = "Bench", failure: LedgerFailure? = nil
    ) -> LedgerBoard {
        var board = LedgerBoard(
            id: Int64(line), batch: 7, line: line, name: name, address: "ble:\(name)", state: state, attempt: 1)
        board.failure = failure
        if state == .done {
            board.nodeID = "N\(line)"
            (board.started, board.ended) = (UnixTime(seconds: 1_700_000_000), UnixTime(seconds: 1_700_000_012.4))
        }
        return board
    }

    private static func report(_ boards: [LedgerBoard], abandoned: Int = 0) -> BatchReport {
        BatchReport(batch, boards: boards, abandoned: abandoned, at: UnixTime(seconds: 1_700_000_900))
    }

    @Test("counts are those of the boards in the report")
    func counts() {
        let boards = [
            Self.board(2, .done), Self.board(3, .failed), Self.board(4, .running), Self.board(5, .waiting),
            Self.board(6, .done),
        ]
        let report = Self.report(boards, abandoned: 5)
        #expect(report.counts == BatchCounts(waiting: 1, running: 1, done: 2, failed: 1, abandoned: 1))
    }

    @Test("pages become one report")
    func pages() async throws {
        let pages = AsyncStream<[LedgerBoard]> { continuation in
            continuation.yield([Self.board(2, .done), Self.board(3, .done)])
            continuation.yield([])
            continuation.yield([Self.board(4, .failed)])
            continuation.finish()
        }
        let report = try await BatchReport(Self.batch, pages: pages, at: UnixTime(seconds: 0))
        #expect(report.boards.map(\.line) == [2, 3, 4])
        #expect(report.counts.total == 3)
    }

    @Test("the table has a line for each board, and no field is a formula")
    func csv() {
        let failure = LedgerFailure(
            code: 11, reason: "wifi_auth_failed", message: "It said \"no\", twice.", remedy: "=1+1")
        let report = Self.report([
            Self.board(2, .done), Self.board(3, .failed, name: "=cmd|' /C calc'!A0", failure: failure),
            Self.board(4, .waiting, name: "a\u{1B}[2J\r\nb"),
        ])
        let lines = report.csv().split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init)
        #expect(
            lines == [
                "line,name,address,state,attempts,station,node_id,mac,step,started,ended,duration_s,exit,reason,message,remedy",
                "2,Bench,ble:Bench,done,1,,N2,,,2023-11-14T22:13:20Z,2023-11-14T22:13:32Z,12,,,,",
                "3,'=cmd|' /C calc'!A0,ble:=cmd|' /C calc'!A0,failed,1,,,,,,,,11,wifi_auth_failed,\"It said \"\"no\"\", twice.\",'=1+1",
                "4,a [2J  b,ble:a [2J  b,waiting,1,,,,,,,,,,,", "",
            ])
    }

    @Test(
        "a field that begins like a formula begins with an apostrophe",
        arguments: ["=", "+", "-", "@", " =", "\t=", "＝", "\u{202E}"])
    func formula(_ start: String) {
        let field = CSVField.text("\(start)1")
        #expect(start == "\u{202E}" ? field == "\\u{202E}1" : field.trimmingPrefix("\"").hasPrefix("'"))
    }

    @Test("the page has failed boards first, and nothing of a board is markup")
    func html() throws {
        let attack = "<script>alert(1)</script>\"'&\u{202E}\u{7}"
        let failure = LedgerFailure(code: 11, reason: attack, message: attack, remedy: attack)
        let page = Self.report([Self.board(2, .done), Self.board(3, .failed, name: attack, failure: failure)]).html()
        #expect(!page.contains("<script") && !page.contains("\u{202E}") && !page.contains("\u{7}"))
        #expect(occurrences(of: "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;\\u{202E} ", in: page) == 4)
        let failed = try #require(page.firstRange(of: "class=\"failed\""))
        let done = try #require(page.firstRange(of: "class=\"done\""))
        #expect(failed.lowerBound < done.lowerBound)
        #expect(page.contains("<html lang=\"en\">") && page.contains("<caption>") && page.contains("<td>12 s</td>"))
        #expect(page.contains("2 boards: 1 done, 1 failed."))
        #expect(!page.contains("http://") && !page.contains("https://") && !page.contains("url("))
    }

    @Test("the document has every board")
    func json() throws {
        let failure = LedgerFailure(code: 11, reason: "wifi_auth_failed", message: "No.", remedy: "")
        let text = Self.report([Self.board(2, .done), Self.board(3, .failed, failure: failure)]).json()
        let document = try JSONValue(parsing: Array(text.utf8))
        let members = try #require(document.members)
        #expect(members.map(\.name) == ["schema_version", "batch", "reported", "counts", "boards"])
        let boards = try #require(members.last?.value.array)
        #expect(boards.count == 2)
        let error = boards[1].members?.last?.value
        #expect(error == ["code": "wifi_auth_failed", "exit": 11, "reason": "wifi_auth_failed", "message": "No."])
    }

    @Test("times that no calendar has become the nearest that it has")
    func times() {
        var board = Self.board(2, .done)
        (board.started, board.ended) = (UnixTime(seconds: -.infinity), UnixTime(seconds: .greatestFiniteMagnitude))
        let text = Self.report([board]).json()
        #expect(text.contains("1970-01-01T00:00:00Z") && text.contains("9999-12-31T23:59:59Z"))
        board.started = UnixTime(seconds: .nan)
        #expect(Self.report([board]).html().contains("class=\"done\""))
    }

    // MARK: Labels

    private static func entries(_ text: String) throws -> [BatchEntry] { try BatchFile(Array(text.utf8)).entries }

    @Test("a sheet has a label for each board whose QR code or name the file has")
    func labels() throws {
        let entries = try Self.entries(
            """
            qr,name,transport,port,pop
            NP:PROV_1|one|b,<Bench>,,,
            ,PROV_2,softap,,two
            ,,,/dev/ttyUSB0,three
            NP:PROV_4|four|s,,serial,/dev/ttyUSB1,other

            """)
        let labels = BatchLabels(entries, boards: [Self.board(2, .done)], layout: try .init(columns: 2, rows: 1))
        #expect(labels.linesWithoutLabel == [4])
        let codes = try labels.labels.map { try QRPayload($0.code.revealBytes()) }
        #expect(codes.map(\.name) == ["PROV_1", "PROV_2", "PROV_4"])
        #expect(codes.map(\.proofOfPossession) == ["one", "two", "other"])
        #expect(codes.map(\.transport) == [.ble, .softap, .softap])
        #expect(codes.map(\.username) == ["wifiprov", nil, "wifiprov"])
        #expect(labels.labels.map(\.node) == ["N2", nil, nil])
    }

    @Test("sheets have so many columns and rows that codes are large enough for a camera")
    func layout() throws {
        for (columns, rows) in [(0, 1), (1, 0), (9, 1), (1, 13), (-1, 4)] {
            #expect(throws: RainKitError.self) { try BatchLabels.Layout(columns: columns, rows: rows) }
        }
        for columns in 1...8 {
            for rows in 1...12 { #expect(try BatchLabels.Layout(columns: columns, rows: rows).side >= 15) }
        }
    }
}
