// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainJSON
import RainKit
import RainQRCode
import TestSupport
import Testing

/// The reports about a batch, read by Python, Chromium, zbar and a JSON Schema validator.
@Suite("Reports about batches and foreign programs")
struct BatchReportTests {
    private static let hostile = ["<b>&amp;", "=1+1", "\"quoted\", \u{7}bell", "a\r\nb", "Küche 日本", "'; DROP", "]]>"]

    private static var report: BatchReport {
        var boards: [LedgerBoard] = []
        for number in 0..<140 {
            let state: LedgerBoard.State = [.done, .failed, .waiting, .running][number % 4]
            var board = LedgerBoard(
                id: Int64(number), batch: 7, line: number + 2, name: "\(hostile[number % hostile.count]) \(number)",
                address: "ble:PROV_\(number)", state: state, attempt: 1)
            if state == .failed {
                let text = hostile[number / 4 % hostile.count]
                board.failure = LedgerFailure(code: 11, reason: "wifi_auth_failed", message: text, remedy: text)
            }
            boards.append(board)
        }
        let batch = Batch(
            id: 7, file: "/srv/<boards>.csv", sha256: "ab12", deployment: "global", user: "u",
            created: UnixTime(seconds: 1_700_000_000))
        return BatchReport(batch, boards: boards, at: UnixTime(seconds: 1_700_000_900))
    }

    /// The name as a report shows it.
    private static func shown(_ name: String) -> String {
        String(String.UnicodeScalarView(name.unicodeScalars.map { $0.value < 0x20 ? " " : $0 }))
    }

    @Test("the page has each board once, failed ones first, in elements that close, and neither scripts nor links")
    func page() async throws {
        let script = """
            import html.parser, json, sys
            class Page(html.parser.HTMLParser):
                # Elements without an end.
                void = {"meta"}
                def __init__(self):
                    super().__init__()
                    self.open, self.rows, self.tags, self.attributes = [], [], set(), set()
                # Keeps the texts of cells.
                def handle_starttag(self, tag, attributes):
                    self.tags.add(tag); self.attributes |= {name for name, _ in attributes}
                    if tag not in self.void: self.open.append(tag)
                    if tag == "tr": self.rows.append([])
                    if tag in ("td", "th"): self.rows[-1].append("")
                def handle_endtag(self, tag): assert self.open.pop() == tag, tag
                def handle_data(self, data):
                    if self.open and self.open[-1] in ("td", "th"): self.rows[-1][-1] += data
            page = Page(); page.feed(sys.stdin.read()); page.close()
            assert page.open == [], page.open
            print(json.dumps({"rows": page.rows, "tags": sorted(page.tags), "attributes": sorted(page.attributes)}))
            """
        let report = Self.report
        let finished = try await run(
            "python3", ["-c", script], environment: ["PYTHONIOENCODING": "utf-8"], input: .text(report.html()))
        #expect(finished.status == .exited(0), "\(finished.standardError)")
        let found = try #require(try JSONValue(parsing: Array(finished.standardOutput.utf8)).members)
        func member(_ name: String) -> [JSONValue] { found.first { $0.name == name }?.value.array ?? [] }
        let rows = member("rows").compactMap { $0.array?.compactMap(\.string) }
        #expect(rows.count == 141)
        let failed = report.boards.filter { $0.state == .failed }
        #expect(rows.dropFirst().prefix(failed.count).map { $0[3] } == failed.map { _ in "failed" })
        #expect(Set(rows.dropFirst().map { $0[1] }) == Set(report.boards.map { Self.shown($0.name) }))
        let tags = Set(member("tags").compactMap(\.string))
        #expect(tags.isDisjoint(with: ["script", "link", "img", "iframe", "a", "b", "object", "form"]))
        #expect(Set(member("attributes").compactMap(\.string)).isDisjoint(with: ["src", "href", "onclick", "style"]))
        #expect(member("attributes").contains("scope") && member("attributes").contains("lang"))
    }

    @Test("Python's csv reads each field, and no field is a formula")
    func table() async throws {
        let script =
            "import csv, io, json, sys; print(json.dumps(list(csv.reader(io.StringIO(sys.stdin.buffer.read().decode(), newline='')))))"
        let report = Self.report
        let finished = try await run("python3", ["-c", script], input: .text(report.csv()))
        #expect(finished.status == .exited(0), "\(finished.standardError)")
        let rows = try #require(try JSONValue(parsing: Array(finished.standardOutput.utf8)).array)
            .compactMap { $0.array?.compactMap(\.string) }
        #expect(rows.count == 141 && rows.allSatisfy { $0.count == rows[0].count })
        let names = report.boards.map { Self.shown($0.name) }.map { $0.hasPrefix("=") ? "'\($0)" : $0 }
        #expect(rows.dropFirst().map { $0[1] } == names)
        #expect(rows.joined().allSatisfy { field in !["=", "+", "-", "@"].contains { field.hasPrefix($0) } })
    }

    @Test("a validator accepts the document")
    func document() async throws {
        try await withTemporaryFolder { folder in
            let validator = ForeignValidator(folder: folder)
            let complaints = try await validator.complaints([Self.report.json()], against: "batch-report.json")
            #expect(complaints.isEmpty, "\(complaints)")
            let other = Self.report.json().replacing("\"line\": 2,", with: "\"line\": \"2\",")
            #expect(other != Self.report.json())
            let others = try await validator.complaints([other], against: "batch-report.json")
            #expect(!others.isEmpty)
        }
    }

    @Test("zbar reads every printed label", .enabled(if: QRScanner.missingPackages.isEmpty))
    func labels() async throws {
        try await withTemporaryFolder { folder in
            let text = (0..<8).map {
                "{\"qr\":{\"name\":\"PROV_\($0)\",\"pop\":\"proof<\($0)\",\"transport\":\"ble\"},\"name\":\"Bench <\($0)>\"}"
            }
            let entries = try BatchFile(Array(text.joined(separator: "\n").utf8)).entries
            let labels = BatchLabels(entries, layout: try .init(columns: 2, rows: 4))
            try folder.write(try labels.html(), to: "labels.html")
            let shot = try await run(
                "chromium",
                [
                    "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=\(folder.file("profile"))",
                    "--screenshot=\(folder.file("labels.png"))", "--window-size=800,1200",
                    "file://\(folder.file("labels.html"))",
                ])
            #expect(shot.status == .exited(0), "\(shot.standardError)")
            let read = try QRScanner.payloads(inPicture: folder.readBytes("labels.png")).map { try QRPayload($0) }
            #expect(Set(read.map(\.name)) == Set((0..<8).map { "PROV_\($0)" }))
            #expect(read.allSatisfy { $0.proofOfPossession == ProofOfPossession("proof<\($0.name.dropFirst(5))") })
        }
    }
}
