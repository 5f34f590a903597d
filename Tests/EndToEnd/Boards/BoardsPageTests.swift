// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// docs/boards.md says what `rainctl` makes of each log: it is tried with the log.
@Suite("docs/boards.md")
struct BoardsPageTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let log: String
        let ending: String
        var testDescription: String { "\(log): \(ending)" }
    }

    /// The rows of the last table, by its first and last column.
    static func rows() throws -> [Row] {
        let page = try readFile(Repository.path("docs/boards.md"))
        let table = page.split(separator: "\n").drop { !$0.hasPrefix("| log |") }.dropFirst(2)
        return table.compactMap { line in
            let cells = line.split(separator: "|").map { $0.filter { $0 != " " && $0 != "`" } }
            return cells.count == 3 ? Row(log: cells[0], ending: cells[2]) : nil
        }
    }

    @Test("each log ends as the page says")
    func logs() async throws {
        let rows = try Self.rows()
        #expect(rows.count >= 12)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for row in rows { group.addTask { try await Self.check(row) } }
            try await group.waitForAll()
        }
    }

    private static func check(_ row: Row) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let console = ["--console", folder.file("tty"), "--console-dialect", "log-only", "--boot-log", row.log]
            let more = ["--console-noise", "none", "--mapping", "user", "--join-delay", "0.2"]
            // The log of older firmware does not say which transport it has; Bluetooth is taken then.
            guard row.log != "older" else {
                let radio = try await SimulatedBluetooth.start(console + more + ["--security", "1"], in: folder)
                try await expect(row, maker, [], radio.environment)
                try await radio.process.terminate()
                return try await radio.bus.end()
            }
            let board = try await SimulatedBoard.start(
                console + more + ["--security", "2", "--http", "127.0.0.1:0"], in: folder)
            defer { board.process.kill() }
            try await expect(row, maker, ["--device-host", board.http ?? ""], [:])
        }
    }

    private static func expect(
        _ row: Row, _ maker: Maker, _ way: [String], _ environment: [String: String]
    ) async throws {
        let outcome = try await maker.rainctl(
            ["provision", "--no-mapping", "--port", maker.folder.file("tty"), "--ssid", SimulatedBoard.ssid, "--json"]
                + ["--passphrase-file", maker.folder.file("wifi")] + way, environment: environment)
        let ending = outcome.failure?["reason"]?.string ?? (outcome.status == 0 ? "ok" : "")
        #expect(ending == row.ending, "\(row): \(outcome.standardOutput)")
    }
}
