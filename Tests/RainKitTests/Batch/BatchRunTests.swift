// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainKitTesting
import RainMaker
import Synchronization
import TestSupport
import Testing

@testable import RainKit

/// A ledger of a station that dies at one of its records. After that, nothing that the station writes arrives.
private final class DyingLedger: Ledger {
    enum Moment: String, CaseIterable { case before, after }

    private let ledger: any Ledger
    private let death: (number: Int, moment: Moment)
    private let state = Mutex((records: 0, isDead: false))

    init(_ ledger: any Ledger, at number: Int, _ moment: Moment) {
        self.ledger = ledger
        death = (number, moment)
    }

    var isDead: Bool { state.withLock { $0.isDead } }
    var place: String { ledger.place }

    private func check() throws(LedgerError) {
        if isDead { throw LedgerError(.cannotWrite, "The station is dead.") }
    }

    func record(_ changes: [LedgerChange]) async throws(LedgerError) -> [LedgerChange.Outcome] {
        try check()
        let dies = state.withLock { state in
            state.records += 1
            guard state.records == death.number else { return false }
            if death.moment == .before { state.isDead = true }
            return true
        }
        try check()
        let outcomes = try await ledger.record(changes)
        if dies { state.withLock { $0.isDead = true } }
        try check()
        return outcomes
    }

    func create(_ batch: NewBatch) async throws(LedgerError) -> Batch { try await ledger.create(batch) }
    func batches(limit: Int) async throws(LedgerError) -> [Batch] { try await ledger.batches(limit: limit) }
    func batch(_ id: BatchID) async throws(LedgerError) -> Batch? { try await ledger.batch(id) }
    func counts(of batch: BatchID) async throws(LedgerError) -> BatchCounts { try await ledger.counts(of: batch) }
    func boards(of batch: BatchID, after line: Int, limit: Int) async throws(LedgerError) -> [LedgerBoard] {
        try await ledger.boards(of: batch, after: line, limit: limit)
    }
    func steps(of board: LedgerBoard.ID) async throws(LedgerError) -> [LedgerStep] { try await ledger.steps(of: board) }
    func add(
        _ board: DiscoveredAddress, to batch: BatchID, for session: LedgerSession.ID
    ) async throws(LedgerError) -> Int? {
        try check()
        return try await ledger.add(board, to: batch, for: session)
    }
    func retry(_ batch: BatchID, lines: [Int]?) async throws(LedgerError) -> Int {
        try await ledger.retry(batch, lines: lines)
    }
    func openSession(_ station: String, for duration: Duration) async throws(LedgerError) -> LedgerSession.ID {
        try await ledger.openSession(station, for: duration)
    }
    func renew(_ session: LedgerSession.ID, for duration: Duration) async throws(LedgerError) {
        try check()
        try await ledger.renew(session, for: duration)
    }
    func closeSession(_ session: LedgerSession.ID) async throws(LedgerError) {
        try check()
        try await ledger.closeSession(session)
    }
    func lease(_ count: Int, of batch: BatchID, for session: LedgerSession.ID) async throws(LedgerError)
        -> [LeasedBoard]
    {
        try check()
        return try await ledger.lease(count, of: batch, for: session)
    }
    func close() {}
}

private final class Counter: Sendable {
    private let count = Atomic(0)

    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}

@Suite("A run of a batch", .timeLimit(.minutes(10)))
struct BatchRunTests {
    @Test(
        "a station that dies before or after any of its records loses no board, and no board is mapped twice",
        arguments: [(1, false), (1, true), (2, false)])
    func dying(atOnce: Int, staysReachable: Bool) async throws {
        var options = BatchOptions()
        options.atOnce = atOnce
        var deaths = 0
        for moment in DyingLedger.Moment.allCases {
            for number in 1... {
                let isDead = try await withTemporaryFolder { folder in
                    let bench = BatchBench(2, folder, staysReachable: staysReachable)
                    let (file, ledger) = (try bench.file(), try await bench.ledger())
                    let batch = try await bench.batch(file, in: ledger)
                    let dying = DyingLedger(ledger, at: number, moment)
                    _ = try? await bench.work(on: batch, file, in: dying, options: options)
                    guard dying.isDead else { return false }
                    // Its session runs out, and another station goes on.
                    bench.clock.advance(seconds: 60)
                    let earlier = await bench.cloud.confirmations
                    let counts = try await bench.work(on: batch, file, in: ledger, options: options)
                    let place = "\(moment) record \(number)"
                    #expect(counts == BatchCounts(done: 2), "\(place)")
                    let confirmations = await bench.cloud.confirmations
                    #expect(confirmations.count == 2 && confirmations.values.allSatisfy { $0 == 1 }, "\(place)")
                    #expect(earlier.allSatisfy { confirmations[$0.key] == $0.value })
                    let report = try #require(try await BatchReport(of: batch.id, in: ledger, at: bench.clock.now))
                    #expect(
                        Set(report.boards.compactMap(\.nodeID)) == Set(confirmations.keys.map(\.rawValue)), "\(place)")
                    await ledger.close()
                    return true
                }
                guard isDead else { break }
                deaths += 1
            }
        }
        // Each of two boards has several steps. Boards that work at once may share all their records.
        #expect(deaths > 20 / atOnce - 1, "\(deaths)")
    }

    @Test("a board that was mapped before its station died gets its name from the next station")
    func nameAfterDeath() async throws {
        var deaths = 0
        for number in 1... {
            let isDead = try await withTemporaryFolder { folder in
                let bench = BatchBench(1, folder)
                let (file, ledger) = (try bench.file(nodeName: "Lamp"), try await bench.ledger())
                let batch = try await bench.batch(file, in: ledger)
                let dying = DyingLedger(ledger, at: number, .before)
                _ = try? await bench.work(on: batch, file, in: dying)
                guard dying.isDead else { return false }
                bench.clock.advance(seconds: 60)
                let asked = Mutex(0)
                let counts = try await bench.work(on: batch, file, in: ledger) { event in
                    guard case .step(_, let step) = event, step.step == .name, case .started = step.state else {
                        return
                    }
                    asked.withLock { $0 += 1 }
                }
                #expect(counts == BatchCounts(done: 1), "record \(number)")
                #expect(asked.withLock { $0 } == 1, "record \(number)")
                await ledger.close()
                return true
            }
            guard isDead else { break }
            deaths += 1
        }
        #expect(deaths > 5, "\(deaths)")
    }

    @Test("a cloud that does not answer while a batch is resumed never leads to a second mapping")
    func outageWhileResuming() async throws {
        var cases = 0
        for number in 1... {
            let isDead = try await withTemporaryFolder { folder in
                let bench = BatchBench(1, folder, staysReachable: true)
                let (file, ledger) = (try bench.file(), try await bench.ledger())
                let batch = try await bench.batch(file, in: ledger)
                let dying = DyingLedger(ledger, at: number, .before)
                _ = try? await bench.work(on: batch, file, in: dying)
                bench.clock.advance(seconds: 60)
                // The board is in the account and on its network, and that is not recorded yet.
                if dying.isDead, await bench.cloud.confirmations.count == 1 {
                    cases += 1
                    await bench.cloud.goAway("connectivity", times: 2)
                    let counts = try await bench.work(on: batch, file, in: ledger)
                    #expect(counts == BatchCounts(done: 1), "before record \(number)")
                    #expect(await bench.cloud.confirmations.values.allSatisfy { $0 == 1 }, "before record \(number)")
                }
                await ledger.close()
                return dying.isDead
            }
            guard isDead else { break }
        }
        #expect(cases > 0)
    }

    @Test("while the cloud is away no board begins, none loses a try, and it is said once")
    func outage() async throws {
        try await withTemporaryFolder { folder in
            let bench = BatchBench(6, folder)
            let (file, ledger) = (try bench.file(), try await bench.ledger())
            let batch = try await bench.batch(file, in: ledger)
            var options = BatchOptions()
            (options.tries, options.atOnce) = (1, 2)
            await bench.cloud.goAway("all", times: 4)
            let events = Mutex<[String]>([])
            let counts = try await bench.work(on: batch, file, in: ledger, options: options) { event in
                switch event {
                case .cloudUnreachable: events.withLock { $0.append("away") }
                case .cloudAnswers: events.withLock { $0.append("back") }
                case .began: events.withLock { $0.append("began") }
                case .failed(_, let error): Issue.record(error)
                default: break
                }
            }
            #expect(counts == BatchCounts(done: 6))
            let seen = events.withLock { $0 }
            #expect(seen.filter { $0 != "began" } == ["away", "back"])
            #expect(seen.prefix { $0 != "back" }.count { $0 == "began" } <= 2, "\(seen)")
            await ledger.close()
        }
    }

    @Test("a cloud that stays away ends the batch with its error, and no board fails")
    func lastingOutage() async throws {
        try await withTemporaryFolder { folder in
            let bench = BatchBench(3, folder)
            let (file, ledger) = (try bench.file(), try await bench.ledger())
            let batch = try await bench.batch(file, in: ledger)
            var options = BatchOptions()
            options.cloudPatience = .zero
            await bench.cloud.goAway("all", times: .max)
            let error = await #expect(throws: RainKitError.self) {
                try await bench.work(on: batch, file, in: ledger, options: options)
            }
            #expect(error?.code == .temporary)
            #expect(try await ledger.counts(of: batch.id) == BatchCounts(waiting: 3))
            await bench.cloud.goAway("all", times: 0)
            #expect(try await bench.work(on: batch, file, in: ledger) == BatchCounts(done: 3))
            await ledger.close()
        }
    }

    @Test("a connection that was not made is tried again")
    func unconnected() async throws {
        try await withTemporaryFolder { folder in
            let bench = BatchBench(1, folder)
            let (file, ledger) = (try bench.file(), try await bench.ledger())
            let batch = try await bench.batch(file, in: ledger)
            await bench.boards.board(bench.boards.names[0])?.fail(with: [
                BoardError(.unavailable, message: "No connection was made.", reason: "connection_failed")
            ])
            #expect(try await bench.work(on: batch, file, in: ledger) == BatchCounts(done: 1))
            await ledger.close()
        }
    }

    // MARK: Boards that appear

    private static let discovery = BatchDiscovery { found, line in
        var entry = BatchEntry(line: line, name: found.name ?? "", address: found.address)
        entry.network = BatchBench.home
        return entry
    }

    @Test("a transport that cannot search is reported once, and is searched when it can")
    func searchLater() async throws {
        try await withTemporaryFolder { folder in
            let bench = BatchBench(2, folder)
            let ledger = try await bench.ledger()
            let batch = try await bench.batch(nil, in: ledger)
            var options = BatchOptions()
            options.discovery = Self.discovery
            let off = BoardError(.unavailable, message: "Bluetooth is switched off.", reason: "powered_off")
            bench.boards.failures.withLock { $0 = [off, off] }
            let stop = BatchStop()
            let told = Mutex<[String]>([])
            let done = Counter()
            let counts = try await bench.work(on: batch, nil, in: ledger, options: options, stop: stop) { event in
                switch event {
                case .searchFailed(let scheme, let error): told.withLock { $0.append("\(scheme) \(error.reason)") }
                case .done: if done.next() == 2 { stop.set() }
                default: break
                }
            }
            #expect(counts == BatchCounts(done: 2))
            #expect(told.withLock { $0 } == ["bench powered_off"])
            await ledger.close()
        }
    }

    @Test("two runs that discover the same boards provision each of them once")
    func twoDiscoveries() async throws {
        try await withTemporaryFolder { folder in
            let bench = BatchBench(20, folder, staysReachable: true)
            let ledgers = [try await bench.ledger(), try await bench.ledger()]
            let stops = [BatchStop(), BatchStop()]
            let done = Counter()
            let counts = try await withThrowingTaskGroup(of: BatchCounts.self) { group in
                for index in 0...1 {
                    let batch = try await bench.batch(nil, in: ledgers[index])
                    group.addTask {
                        var options = BatchOptions()
                        (options.discovery, options.atOnce) = (Self.discovery, 3)
                        return try await bench.work(
                            on: batch, nil, in: ledgers[index], options: options, stop: stops[index]
                        ) { event in
                            guard case .done = event, done.next() == 20 else { return }
                            for stop in stops { stop.set() }
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(counts[0].done + counts[1].done == 20 && counts[0].failed + counts[1].failed == 0, "\(counts)")
            #expect(await bench.cloud.confirmations.values.allSatisfy { $0 == 1 })
            for ledger in ledgers { await ledger.close() }
        }
    }

    @Test("a discovered batch is resumed with its own boards; those that appear now get further lines only on request")
    func resumedDiscovery() async throws {
        try await withTemporaryFolder { folder in
            let bench = BatchBench(3, folder)
            let ledger = try await bench.ledger()
            let batch = try await bench.batch(nil, in: ledger)
            let session = try await ledger.openSession("bench", for: .seconds(30))
            let first = DiscoveredAddress(name: bench.boards.names[2], address: "bench:\(bench.boards.names[2])")
            #expect(try await ledger.add(first, to: batch.id, for: session) == 1)
            try await ledger.closeSession(session)
            var options = BatchOptions()
            options.discovery = Self.discovery
            options.discovery?.searches = false
            #expect(try await bench.work(on: batch, nil, in: ledger, options: options) == BatchCounts(done: 1))
            options.discovery?.searches = true
            let stop = BatchStop()
            let done = Counter()
            let counts = try await bench.work(on: batch, nil, in: ledger, options: options, stop: stop) { event in
                if case .done = event, done.next() == 2 { stop.set() }
            }
            #expect(counts == BatchCounts(done: 3))
            let boards = try await ledger.boards(of: batch.id, after: 0, limit: 10)
            #expect(boards.map(\.line) == [1, 2, 3] && Set(boards.map(\.name)) == Set(bench.boards.names))
            await ledger.close()
        }
    }

    @Test("a board that is found without its name is provisioned, whatever name its log shows")
    func nameInLog() async throws {
        try await withTemporaryFolder { folder in
            let bench = BatchBench(1, folder)
            bench.boards.findsNames.withLock { $0 = false }
            await bench.boards.board(bench.boards.names[0])?.prints("PROV_444444")
            let ledger = try await bench.ledger()
            let batch = try await bench.batch(nil, in: ledger)
            var options = BatchOptions()
            options.discovery = BatchDiscovery { found, line in
                let name = found.name ?? found.address.description
                var entry = BatchEntry(line: line, name: name, address: found.address)
                entry.label = found.name
                entry.network = BatchBench.home
                return entry
            }
            let stop = BatchStop()
            let problems = Mutex<[String]>([])
            let counts = try await bench.work(on: batch, nil, in: ledger, options: options, stop: stop) { event in
                switch event {
                case .done: stop.set()
                case .failed(_, let error):
                    problems.withLock { $0.append(error.message) }
                    stop.set()
                default: break
                }
            }
            #expect(counts == BatchCounts(done: 1))
            #expect(problems.withLock { $0 } == [])
            let boards = try await ledger.boards(of: batch.id, after: 0, limit: 10)
            #expect(boards.map(\.name) == boards.map(\.address))
            await ledger.close()
        }
    }

    // MARK: The file

    @Test("a list with other lines is named as it was given")
    func otherFile() throws {
        let file = try BatchFile(Array("name,transport\nA,ble\n".utf8), defaults: BatchDefaults())
        let batch = Batch(
            id: 17, file: "/work/a.csv", sha256: "ab12", deployment: "bench", user: "user-1",
            created: UnixTime(seconds: 1_800_000_000))
        for (path, text) in [
            ("/work/a.csv", "The content of the file /work/a.csv has changed since batch 17 began."),
            (
                "OTHER.csv",
                "The lines of OTHER.csv differ from those of batch 17, which began with the file /work/a.csv."
            ),
            ("-", "The lines of the list from standard input differ from those of batch 17,"),
            (nil, "The given list of boards differs from that of batch 17,"),
        ] as [(String?, String)] {
            let error = #expect(throws: RainKitError.self) { try file.check(isFileOf: batch, readFrom: path) }
            #expect(error?.reason == "changed_batch_file")
            #expect(error?.message.hasPrefix(text) == true, "\(error?.message ?? "")")
        }
    }

    // MARK: Lines

    @Test("a retry of lines that the batch does not have names them, and changes nothing")
    func unknownLines() async throws {
        try await withTemporaryFolder { folder in
            let bench = BatchBench(2, folder)
            let (file, ledger) = (try bench.file(), try await bench.ledger())
            let batch = try await bench.batch(file, in: ledger)
            let client = RainKitClient(.inMemory())
            let error = await #expect(throws: RainKitError.self) {
                try await client.retry(batch, lines: [2, 77, 1], in: ledger)
            }
            #expect(error?.reason == "unknown_line" && error?.message.contains("lines 1, 77") == true)
            #expect(try await client.retry(batch, lines: [2], in: ledger) == 0)
            await ledger.close()
        }
    }
}
