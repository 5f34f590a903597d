// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore

extension RainKitClient {
    /// Opens a ledger of batches.
    ///
    /// - Parameters:
    ///   - place: the path of a SQLite file, or a `postgresql://` URL of a database that several stations share. Nil for the file
    ///     `ledger.sqlite` in the client's folder.
    ///   - creates: whether a ledger that does not exist is created.
    /// - Throws: `RainKitError`: `usage` for a URL of another kind; `no_ledger` if the ledger does not exist; the ledger's errors.
    public func ledger(at place: String? = nil, creates: Bool = true) async throws -> any Ledger {
        let place = place ?? "\(configuration.state)/ledger.sqlite"
        let isDatabase = ["postgresql://", "postgres://"].contains(where: place.hasPrefix)
        guard isDatabase || !(place.contains("://") || place.contains("password=")) else {
            // The place may have a password, so the message does not show it.
            throw RainKitError.usage(
                "A ledger must be the path of a file, or a URL that begins with postgresql://. The given ledger is neither."
            )
        }
        return try await RainKitError.rethrowing { () async throws(LedgerError) -> any Ledger in
            if isDatabase {
                return try await PostgreSQLLedger.open(url: place, creates: creates)
            }
            return try await SQLiteLedger.open(path: place, creates: creates, clock: configuration.tools.clock)
        }
    }

    /// Returns all batches of a ledger, newest first, at most 1,000, with the states of their boards.
    public func batches(in ledger: any Ledger) async throws -> [(Batch, BatchCounts)] {
        try await RainKitError.rethrowing { () async throws(LedgerError) in
            var batches: [(Batch, BatchCounts)] = []
            for batch in try await ledger.batches(limit: 1000) {
                batches.append((batch, try await ledger.counts(of: batch.id)))
            }
            return batches
        }
    }

    /// Puts failed boards of a batch back, so that ``provision(batch:in:file:options:)`` tries them again.
    ///
    /// - Parameter lines: the lines of the boards; nil for all that failed. Boards that have not failed stay as they are.
    /// - Returns: how many boards were put back.
    /// - Throws: `RainKitError`: `unknown_line` if the batch has no board in one of the lines; the ledger's errors.
    public func retry(_ batch: Batch, lines: [Int]? = nil, in ledger: any Ledger) async throws -> Int {
        if let lines {
            let known = Set(try await report(on: batch, in: ledger).boards.map(\.line))
            let unknown = Set(lines).subtracting(known).sorted()
            if !unknown.isEmpty { throw RainKitError.unknownLines(unknown, of: batch) }
        }
        return try await RainKitError.rethrowing { () async throws(LedgerError) in
            try await ledger.retry(batch.id, lines: lines)
        }
    }

    /// Returns the report about a batch.
    public func report(on batch: Batch, in ledger: any Ledger) async throws -> BatchReport {
        let now = configuration.tools.clock.now
        let report = try await RainKitError.rethrowing { () async throws(LedgerError) in
            try await BatchReport(of: batch.id, in: ledger, at: now)
        }
        guard let report else {
            throw RainKitError(
                LedgerError(.damaged, "The ledger \(ledger.place) does not have batch \(batch.id) any more."))
        }
        return report
    }

    /// Returns how far a batch is, with the boards that are running or have failed.
    package func status(of batch: Batch, in ledger: any Ledger) async throws -> BatchResult {
        let report = try await report(on: batch, in: ledger)
        return BatchResult(batch, report.counts, boards: report.boards)
    }
}

extension BatchFile {
    /// Checks that the file has the content with which a batch began.
    ///
    /// - Parameter path: the file's path for the message, `-` for standard input; nil if it is unknown.
    /// - Throws: `RainKitError`: `changed_batch_file`.
    public func check(isFileOf batch: Batch, readFrom path: String? = nil) throws {
        guard sha256 == batch.sha256 else { throw RainKitError.changedFile(of: batch, givenAs: path) }
    }
}

extension RainKitError {
    fileprivate static func unknownLines(_ lines: [Int], of batch: Batch) -> RainKitError {
        let list = lines.prefix(20).map(String.init).joined(separator: ", ") + (lines.count > 20 ? ", …" : "")
        return RainKitError(
            .request(.usage, reason: "unknown_line"),
            message:
                "Batch \(batch.id) has no board in line\(lines.count == 1 ? "" : "s") \(list). Nothing was started.")
    }
}
