// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainKitTesting
import Synchronization
import TestSupport
import Testing

@testable import RainKit

private func leased(_ id: Int64) -> LeasedBoard {
    LeasedBoard(
        board: LedgerBoard(id: id, batch: 1, line: Int(id), name: "board \(id)", address: "ble:\(id)"), session: 1,
        fence: 1)
}

@Suite("Which boards of a batch run")
struct BatchScheduleTests {
    @Test("as many as may run at once begin, in the order of their leases")
    func order() {
        var schedule = BatchSchedule(atOnce: 2)
        #expect(schedule.isIdle && schedule.room == 2)
        for id in 1...3 { schedule.add(leased(Int64(id)), place: nil) }
        #expect(schedule.room == 0)
        #expect(schedule.next()?.board.id == 1 && schedule.next()?.board.id == 2 && schedule.next() == nil)
        schedule.ended(1)
        #expect(schedule.next()?.board.id == 3 && schedule.next() == nil)
        schedule.ended(2)
        schedule.ended(3)
        #expect(schedule.isIdle && schedule.room == 2)
    }

    @Test("boards of one port run one after the other, and keep no other board waiting")
    func places() {
        var schedule = BatchSchedule(atOnce: 3)
        schedule.add(leased(1), place: "port")
        schedule.add(leased(2), place: "port")
        schedule.add(leased(3), place: nil)
        #expect(schedule.next()?.board.id == 1 && schedule.next()?.board.id == 3 && schedule.next() == nil)
        // The one that waits for the port counts, so that another station finds work.
        #expect(schedule.room == 0)
        schedule.ended(1)
        #expect(schedule.next()?.board.id == 2)
    }

    @Test("boards that have not begun can be taken out")
    func waiting() {
        var schedule = BatchSchedule(atOnce: 1)
        for id in 1...3 { schedule.add(leased(Int64(id)), place: nil) }
        _ = schedule.next()
        #expect(schedule.removeWaiting().map(\.board.id) == [2, 3])
        #expect(!schedule.isIdle)
        schedule.ended(1)
        #expect(schedule.isIdle)
    }

    @Test(
        "a serial port and this machine's Wi-Fi are for one board at a time",
        arguments: [
            ("serial:/dev/ttyUSB0", "serial:/dev/ttyUSB0"), ("softap:", "this machine's Wi-Fi"),
            ("softap:?device-name=PROV_1", "this machine's Wi-Fi"), ("softap:10.0.0.1:80", nil), ("ble:PROV_1", nil),
            ("on-network:lamp", nil),
        ])
    func exclusive(address: String, place: String?) throws {
        #expect(try BoardAddress(address).exclusivePlace == place)
    }
}

/// A ledger that records into a list, slowly or not at all.
private final class ScriptedLedger: Ledger {
    struct State {
        var rounds: [[LedgerChange]] = []
        var failures: [LedgerError] = []
    }

    let state = Mutex(State())
    let gate: Gate?
    let place = "here"

    init(failures: [LedgerError] = [], gate: Gate? = nil) {
        state.withLock { $0.failures = failures }
        self.gate = gate
    }

    func record(_ changes: [LedgerChange]) async throws(LedgerError) -> [LedgerChange.Outcome] {
        await gate?.wait()
        let failure = state.withLock { state in
            state.rounds.append(changes)
            return state.failures.isEmpty ? nil : state.failures.removeFirst()
        }
        if let failure { throw failure }
        return changes.map { $0.number == 99 ? .lost : .recorded }
    }

    func create(_ batch: NewBatch) throws(LedgerError) -> Batch { throw LedgerError(.unavailable, "") }
    func batches(limit: Int) -> [Batch] { [] }
    func batch(_ id: BatchID) -> Batch? { nil }
    func counts(of batch: BatchID) -> BatchCounts { BatchCounts() }
    func boards(of batch: BatchID, after line: Int, limit: Int) -> [LedgerBoard] { [] }
    func steps(of board: LedgerBoard.ID) -> [LedgerStep] { [] }
    func add(_ board: DiscoveredAddress, to batch: BatchID, for session: LedgerSession.ID) -> Int? { nil }
    func retry(_ batch: BatchID, lines: [Int]?) -> Int { 0 }
    func openSession(_ station: String, for duration: Duration) -> LedgerSession.ID { 1 }
    func renew(_ session: LedgerSession.ID, for duration: Duration) {}
    func closeSession(_ session: LedgerSession.ID) {}
    func lease(_ count: Int, of batch: BatchID, for session: LedgerSession.ID) -> [LeasedBoard] { [] }
    func close() {}
}

/// Holds calls until it is opened.
private final class Gate: Sendable {
    private let state = Mutex((isOpen: false, waiting: [CheckedContinuation<Void, Never>]()))

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            defer { state = (true, []) }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

@Suite("The writer of a ledger")
struct LedgerWriterTests {
    private func change(_ number: Int) -> LedgerChange {
        LedgerChange(board: 1, session: 1, fence: 1, number: number, time: UnixTime(seconds: 0), event: .released)
    }

    @Test(
        "each fault of a ledger has a code and a reason",
        arguments: [
            (LedgerError.Code.unavailable, 69, "no_ledger"), (.temporary, 75, "ledger_unreachable"),
            (.cannotWrite, 73, "ledger_not_writable"), (.auth, 77, "ledger_refused"), (.newer, 78, "newer_ledger"),
            (.damaged, 65, "damaged_ledger"), (.cancelled, 130, "cancelled"),
        ])
    func reasons(code: LedgerError.Code, status: Int, reason: String) {
        let error = RainKitError(LedgerError(code, "The ledger is away."))
        #expect(error.code.rawValue == Int32(status) && error.reason == reason)
        #expect(error.message == "The ledger is away.")
    }

    @Test("what comes while a commit is under way is one more commit, and each caller gets its own outcome")
    func rounds() async throws {
        let gate = Gate()
        let ledger = ScriptedLedger(gate: gate)
        let writer = LedgerWriter(ledger, time: .continuous, patience: .zero)
        async let first = writer.write([change(1)])
        async let others = withThrowingTaskGroup(of: [LedgerChange.Outcome].self) { group in
            for number in 2...40 { group.addTask { try await writer.write([change(number)]) } }
            group.addTask { try await writer.write([change(99), change(100)]) }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        gate.open()
        #expect(try await first == [.recorded])
        let outcomes = try await others
        #expect(outcomes.count { $0 == .lost } == 1 && outcomes.count == 41)
        let numbers = ledger.state.withLock { $0.rounds.flatMap { $0.map(\.number) } }
        #expect(Set(numbers) == Set(1...40).union([99, 100]) && numbers.count == 42)
    }

    @Test("a ledger that is out of reach is tried again with the same changes")
    func again() async throws {
        let clock = ManualClock()
        let ledger = ScriptedLedger(failures: [LedgerError(.temporary, "away"), LedgerError(.unavailable, "away")])
        let told = Mutex(0)
        let writer = LedgerWriter(ledger, time: Timekeeper(clock), patience: .seconds(60)) { _ in
            told.withLock { $0 += 1 }
        }
        let outcome = try await clock.run { try await writer.write([change(1)]) }
        #expect(outcome == [.recorded] && ledger.state.withLock { $0.rounds.count } == 3)
        #expect(told.withLock { $0 } == 1)
    }

    @Test("a fault that stays, and a writer that has to give up, end the write with the ledger's error")
    func ends() async throws {
        for error in [LedgerError(.cannotWrite, "full"), LedgerError(.damaged, "torn")] {
            let writer = LedgerWriter(ScriptedLedger(failures: [error]), time: .continuous, patience: .seconds(60))
            await #expect(throws: error) { try await writer.write([change(1)]) }
        }
        let away = LedgerError(.temporary, "away")
        let writer = LedgerWriter(
            ScriptedLedger(failures: Array(repeating: away, count: 5)), time: .continuous, patience: .seconds(60))
        writer.giveUp()
        await #expect(throws: away) { try await writer.write([change(1)]) }
    }
}
