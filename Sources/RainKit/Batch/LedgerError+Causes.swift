// SPDX-License-Identifier: Apache-2.0

/// The errors that both ledgers have.
extension LedgerError {
    static func newer(_ place: String) -> LedgerError {
        LedgerError(.newer, "The ledger \(place) was written by a newer version of this program. Update the program.")
    }

    static func missing(_ place: String) -> LedgerError {
        var error = LedgerError(.unavailable, "There is no ledger at \(place).")
        error.isMissing = true
        return error
    }

    static func noBatch(_ id: BatchID, place: String) -> LedgerError {
        LedgerError(.unavailable, "The ledger \(place) has no batch \(id).")
    }

    static func noSession(_ id: LedgerSession.ID, place: String) -> LedgerError {
        LedgerError(.unavailable, "This station's session \(id) in the ledger \(place) has ended: it was closed.")
    }

    /// Decodes all rows. Throws `damaged` if one of them is not as this program writes it.
    static func decoded<Row: LedgerRow, Value>(
        _ rows: [Row], place: String, _ decode: (Row) -> Value?
    ) throws(LedgerError) -> [Value] {
        var values: [Value] = []
        for row in rows {
            guard let value = decode(row) else {
                throw LedgerError(
                    .damaged, "The ledger \(place) is damaged: a row has values that this program does not write.")
            }
            values.append(value)
        }
        return values
    }
}

extension LedgerRow {
    var counts: BatchCounts? {
        guard let waiting = integer(0), let running = integer(1), let done = integer(2), let failed = integer(3),
            let abandoned = integer(4)
        else { return nil }
        return BatchCounts(
            waiting: Int(waiting), running: Int(running), done: Int(done), failed: Int(failed),
            abandoned: Int(abandoned))
    }
}
