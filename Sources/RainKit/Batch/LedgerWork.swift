// SPDX-License-Identifier: Apache-2.0
import RainIO

/// A ledger's database, used by one thread at a time, one call after the other. A call runs even if its task has been cancelled: a station
/// that stops still has to record it.
struct LedgerWork<Database: Sendable>: Sendable {
    private let database: Database
    private let place: String
    private let work = BlockingWork()
    private let queue = LockQueue<LedgerError>()

    init(_ database: Database, place: String) {
        self.database = database
        self.place = place
    }

    func run<Answer: Sendable>(
        _ body: @escaping @Sendable (Database) throws(LedgerError) -> Answer
    ) async throws(LedgerError) -> Answer {
        let (database, place, queue, number) = (database, place, queue, queue.enter())
        return try await work.run(
            noThread: { _ in LedgerError(.temporary, "The system could not start a thread for the ledger \(place).") },
            { () throws(LedgerError) in
                if let failure = queue.failure(of: number) { throw failure }
                do throws(LedgerError) {
                    return try body(database)
                } catch {
                    if error.hasWaited { queue.failAll(error) }
                    throw error
                }
            })
    }
}
