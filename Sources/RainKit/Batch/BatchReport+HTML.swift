// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore

extension BatchReport {
    /// Returns a page for people: counts and a table, with the failed boards first. It has no scripts and loads nothing.
    public func html() -> String {
        let title = "Batch \(batch.id)"
        return HTMLPage.text(
            title: title, style: Self.style,
            body: """
                <main>
                <h1>\(title)</h1>
                <p>\(HTMLPage.escaped(summary))</p>
                <dl>
                \(facts.map { "<div><dt>\($0.name)</dt><dd>\(HTMLPage.escaped($0.value))</dd></div>" }.joined(separator: "\n"))
                </dl>
                \(table)
                </main>
                """)
    }

    /// The counts as a sentence: `3 boards: 2 done, 1 failed.`
    private var summary: String {
        let parts = [
            (counts.done, "done"), (counts.failed, "failed"), (counts.running, "running"), (counts.waiting, "waiting"),
        ]
        let states = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        let boards = "\(counts.total) board\(counts.total == 1 ? "" : "s")"
        let abandoned =
            counts.abandoned == 0 ? "" : " No station is working on \(counts.abandoned) of the running boards any more."
        return states.isEmpty ? "\(boards)." : "\(boards): \(states).\(abandoned)"
    }

    private var facts: [(name: String, value: String)] {
        [
            ("File", batch.file), ("SHA-256", batch.sha256), ("Deployment", batch.deployment), ("User", batch.user),
            ("Created", batch.created.inUTC), ("Reported", time.inUTC),
        ].filter { !$0.1.isEmpty }.map { (name: $0.0, value: $0.1) }
    }

    private var table: String {
        let order: [LedgerBoard.State] = [.failed, .running, .waiting, .done]
        let sorted = order.flatMap { state in boards.filter { $0.state == state } }
        let head = Self.columns.map { #"<th scope="col">\#($0)</th>"# }.joined()
        return """
            <table>
            <caption>Boards, failed ones first</caption>
            <thead><tr>\(head)</tr></thead>
            <tbody>
            \(sorted.map(Self.row).joined(separator: "\n"))
            </tbody>
            </table>
            """
    }

    private static let columns = [
        "Line", "Name", "Node ID", "State", "Attempts", "Duration", "Reason", "Message", "Remedy",
    ]

    private static func row(_ board: LedgerBoard) -> String {
        let cells = [
            board.nodeID ?? "", board.state.rawValue, "\(board.attempt)",
            board.seconds.map { PlainTime.span(seconds: Int64($0.rounded())) } ?? "", board.failure?.reason ?? "",
            board.failure?.message ?? "", board.failure?.remedy ?? "",
        ]
        let name = #"<th scope="row">\#(HTMLPage.escaped(board.name))</th>"#
        let rest = cells.map { "<td>\(HTMLPage.escaped($0))</td>" }.joined()
        return #"<tr class="\#(board.state.rawValue)"><td>\#(board.line)</td>\#(name)\#(rest)</tr>"#
    }

    /// Colours have a contrast of at least 4.5 to their background (WCAG 2.2, 1.4.3), and the state is a word as well.
    private static let style = """
        :root { color-scheme: light dark; }
        body { margin: 2rem; color: CanvasText; background: Canvas; font: 1rem/1.4 system-ui, sans-serif; }
        dl { display: grid; gap: 0.2rem; margin: 1rem 0; }
        dl div { display: grid; grid-template-columns: 8rem 1fr; }
        dt { font-weight: 600; }
        dd { margin: 0; overflow-wrap: anywhere; }
        table { width: 100%; border-collapse: collapse; font-size: 0.9rem; }
        caption { padding: 0.5rem 0; font-weight: 600; text-align: left; }
        th, td { padding: 0.3rem 0.5rem; border-bottom: 1px solid GrayText; text-align: left; vertical-align: top; }
        th, td { overflow-wrap: anywhere; }
        .failed td:nth-child(4) { color: #a40000; font-weight: 600; }
        .done td:nth-child(4) { color: #0a5c1f; }
        @media screen and (prefers-color-scheme: dark) {
          .failed td:nth-child(4) { color: #ff9b91; }
          .done td:nth-child(4) { color: #86dc9a; }
        }
        @media print {
          :root { color-scheme: light; }
          body { margin: 0; font-size: 9pt; }
          table { font-size: 8pt; }
          thead { display: table-header-group; }
          tr { break-inside: avoid; }
          @page { size: A4 landscape; margin: 12mm; }
        }
        """
}
