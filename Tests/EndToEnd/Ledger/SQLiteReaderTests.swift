// SPDX-License-Identifier: Apache-2.0
import RainKit
import TestSupport
import Testing

/// Debian's `sqlite3` beside a ledger that is open.
@Suite("sqlite3 and a ledger")
struct SQLiteReaderTests {
    @Test("it shows what is documented while a station works, and finds no damage")
    func documentation() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.file("ledger.db")
            let ledger = try await SQLiteLedger.open(path: path)
            let batch = try await ledger.create(LedgerScene.batch(3)).id
            _ = try await LedgerScene.work(on: batch, of: ledger, station: "station-ü")
            let commands = try DocumentedLedger.commands(of: "sqlite3")
            #expect(commands.count == 2)
            for command in commands {
                let shown = try await run("sh", ["-c", command], environment: ["LEDGER": path])
                #expect(shown.status == .exited(0), "\(shown.standardError)")
                #expect(shown.standardOutput.contains(command.contains("steps s") ? "station-ü" : "lamp 2"))
            }
            let check = try await run(
                "sqlite3", ["-readonly", path, "pragma integrity_check; pragma foreign_key_check;"])
            #expect(check.standardOutput == "ok\n")
        }
    }
}
