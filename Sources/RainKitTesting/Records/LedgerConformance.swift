// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainKit

/// Checks the promises of every `Ledger`. Run it on a new ledger before a program uses it.
///
///     try await LedgerConformance.check {
///         LedgerConformance.Subject(MyLedger(at: emptyPlace), other: MyLedger(at: emptyPlace)) { _ in }
///     }
public enum LedgerConformance {
    /// A ledger to check, on its own empty place.
    public struct Subject: Sendable {
        /// The checked ledger; it must be empty.
        public var ledger: any Ledger
        /// A second ledger on the same place, like that of another station.
        public var other: any Ledger
        /// Returns when the ledger's clock has advanced by at least that much.
        public var pass: @Sendable (Duration) async throws -> Void

        public init(
            _ ledger: any Ledger, other: any Ledger, pass: @escaping @Sendable (Duration) async throws -> Void
        ) {
            self.ledger = ledger
            self.other = other
            self.pass = pass
        }
    }

    /// A broken promise, and the ledger's behaviour.
    public struct Failure: Error, CustomStringConvertible {
        /// The promise, as one sentence.
        public var promise: String
        /// The ledger's actual behaviour.
        public var detail: String
        public var description: String { "\(promise): \(detail)" }
    }

    /// Runs all checks, each on a separate subject. Throws the first ``Failure``, or the ledger's error.
    public static func check(_ make: @Sendable () async throws -> Subject) async throws {
        for check in LedgerChecks.all {
            let subject = try await make()
            try await check(LedgerChecks(subject))
            await subject.ledger.close()
            await subject.other.close()
        }
    }
}

/// The promises. Most checks write with one ledger and read with the other.
private struct LedgerChecks: Sendable {
    let one: any Ledger
    let other: any Ledger
    let pass: @Sendable (Duration) async throws -> Void

    init(_ subject: LedgerConformance.Subject) {
        (one, other, pass) = (subject.ledger, subject.other, subject.pass)
    }

    static var all: [@Sendable (Self) async throws -> Void] {
        [
            { try await $0.batches() }, { try await $0.texts() }, { try await $0.manyBoards() },
            { try await $0.paging() }, { try await $0.adding() }, { try await $0.addingAtOnce() },
            { try await $0.addingBesideOthers() }, { try await $0.leasesInOrder() }, { try await $0.leasesAtOnce() },
            { try await $0.leasesOfOneAddress() }, { try await $0.expiry() }, { try await $0.renewal() },
            { try await $0.closing() }, { try await $0.unknownNumbers() }, { try await $0.results() },
            { try await $0.steps() }, { try await $0.repetition() }, { try await $0.endedLeases() },
            { try await $0.duplicates() }, { try await $0.duplicatesAtOnce() }, { try await $0.retry() },
            { try await $0.cancellation() },
        ]
    }

    // MARK: Batches

    private func batches() async throws {
        let promise = "batches come back as they were made, the newest first"
        try expect(try await one.batches(limit: 10), [], promise)
        var made: [Batch] = []
        for number in 1...3 {
            let new = Self.batch(boards: number, user: number == 2 ? "" : "user-\(number)")
            let batch = try await [one, other][number % 2].create(new)
            let expected = Batch(
                id: batch.id, file: new.file, sha256: new.sha256, deployment: new.deployment, user: new.user,
                created: new.created)
            try expect(batch, expected, promise)
            made.insert(batch, at: 0)
        }
        for ledger in [one, other] {
            try expect(try await ledger.batches(limit: 10), made, promise)
            try expect(try await ledger.batches(limit: 2), Array(made[..<2]), promise)
            try expect(try await ledger.batches(limit: 0), [], promise)
            try expect(try await ledger.batch(made[1].id), made[1], promise)
            try expect(try await ledger.batch(made[0].id + 1000), nil, promise)
            try expect(try await ledger.counts(of: made[1].id), BatchCounts(waiting: 2), promise)
        }
    }

    private func texts() async throws {
        let promise = "texts come back as they were given; U+FFFD replaces the NUL character"
        let texts = [
            "", "'", "''", "\"", "\\", "\\'", "\\N", "{}", "{\"a\",NULL}", "NULL", "null", "$1", "?1", "%s", "a,b",
            "two\nlines\r\n\ttab", " space ", "Küche", "台所", "e\u{301}", "\u{1F510}", "\u{FEFF}x", "\u{7F}\u{1}",
            "'; drop table boards; --", String(repeating: "long ü ", count: 2_000),
        ]
        var new = Self.batch(boards: 0)
        (new.file, new.deployment, new.user) = ("/tmp/'a\"\n\\ü", "d'\\", "ü'\"@example.com")
        new.boards = texts.enumerated().map { .init(line: $0 + 1, name: $1, address: "serial:" + $1) }
        new.boards.append(.init(line: texts.count + 1, name: "a\0b", address: "\0"))
        let batch = try await one.create(new)
        try expect([batch.file, batch.deployment, batch.user], [new.file, new.deployment, new.user], promise)
        let boards = try await other.boards(of: batch.id, after: 0, limit: 100)
        // Texts are compared byte by byte: Swift takes "é" and "e" with an accent as equal.
        try expect(boards.map { Array($0.name.utf8) }, (texts + ["a\u{FFFD}b"]).map { Array($0.utf8) }, promise)
        try expect(boards.map(\.address), texts.map { "serial:" + $0 } + ["\u{FFFD}"], promise)

        let session = try await one.openSession("station 'ü'", for: .seconds(600))
        for (leased, text) in zip(try await one.lease(texts.count, of: batch.id, for: session), texts) {
            let failure = LedgerFailure(code: 11, reason: text, message: text + "\0", remedy: text)
            let outcomes = try await one.record([
                Self.change(leased, 1, .step(text, .started)),
                Self.change(leased, 2, .identified(nodeID: "node " + text, mac: nil)),
                Self.change(leased, 3, .failed(failure)),
            ])
            try expect(outcomes, [.recorded, .recorded, .recorded], promise)
        }
        for (board, text) in zip(try await other.boards(of: batch.id, after: 0, limit: texts.count), texts) {
            let failure = LedgerFailure(code: 11, reason: text, message: text + "\u{FFFD}", remedy: text)
            try expect(board.failure, failure, promise)
            try expect([board.step, board.nodeID, board.station], [text, "node " + text, "station 'ü'"], promise)
            try expect(try await other.steps(of: board.id).map(\.step), [text], promise)
        }
    }

    private func manyBoards() async throws {
        let promise = "a batch of 10,000 boards works like a small one"
        let batch = try await one.create(Self.batch(boards: 10_000))
        try expect(try await other.counts(of: batch.id), BatchCounts(waiting: 10_000), promise)
        let boards = try await other.boards(of: batch.id, after: 0, limit: 20_000)
        try expect(boards.map(\.line), Array(1...10_000), promise)
        let session = try await one.openSession("station-1", for: .seconds(600))
        let leased = try await one.lease(3, of: batch.id, for: session)
        try expect(leased.map(\.board.line), [1, 2, 3], promise)
    }

    private func paging() async throws {
        let promise = "boards come in pages, in the order of their lines"
        var new = Self.batch(boards: 0)
        new.boards = [7, 3, 12, 1, 9].map(Self.board)
        let batch = try await one.create(new)
        let elsewhere = try await one.create(Self.batch(boards: 2))
        for (after, limit, lines) in [
            (0, 2, [1, 3]), (3, 2, [7, 9]), (9, 2, [12]), (12, 2, []), (2, 0, []), (-1, 100, [1, 3, 7, 9, 12]),
        ] {
            let found = try await other.boards(of: batch.id, after: after, limit: limit)
            try expect(found.map(\.line), lines, promise)
            try expect(found.map(\.name), lines.map { Self.board($0).name }, promise)
        }
        try expect(
            try await other.boards(of: elsewhere.id, after: 0, limit: 10).map(\.batch),
            [elsewhere.id, elsewhere.id], promise)
    }

    private func adding() async throws {
        let promise =
            "a discovered board gets the next line, and an address that the batch already has is not added again"
        let batch = try await one.create(Self.batch(boards: 2))
        let empty = try await one.create(Self.batch(boards: 0))
        let session = try await other.openSession("station-1", for: .seconds(600))
        try expect(try await other.add(Self.found(1), to: batch.id, for: session), 3, promise)
        try expect(try await other.add(Self.found(2), to: batch.id, for: session), 4, promise)
        for address in [Self.found(1).address, Self.found(2).address + "?adapter=hci1", Self.board(1).address] {
            let again = DiscoveredAddress(name: "again", address: address)
            try expect(try await other.add(again, to: batch.id, for: session), nil, promise)
        }
        try expect(try await one.add(Self.found(3), to: empty.id, for: session), 1, promise)
        let boards = try await one.boards(of: batch.id, after: 0, limit: 10)
        try expect(
            boards.map(\.name), [1, 2].map { Self.board($0).name } + [1, 2].map { Self.found($0).name }, promise)
        try expect(boards.suffix(2).map(\.address), [1, 2].map { Self.found($0).address }, promise)
        try expect(try await one.counts(of: batch.id), BatchCounts(waiting: 4), promise)
        for leased in try await other.lease(4, of: batch.id, for: session) {
            _ = try await other.record([Self.change(leased, 1, .done(nodeID: nil))])
        }
        try expect(try await other.add(Self.found(1), to: batch.id, for: session), nil, promise)
        try await one.closeSession(session)
        try await refuses(.unavailable, promise) {
            _ = try await one.add(Self.found(9), to: batch.id, for: session)
        }
    }

    private func addingAtOnce() async throws {
        let promise = "stations that discover the same boards at once add each of them once"
        let batches = [try await one.create(Self.batch(boards: 0)).id, try await one.create(Self.batch(boards: 0)).id]
        let sessions = [
            try await one.openSession("station-1", for: .seconds(600)),
            try await other.openSession("station-2", for: .seconds(600)),
        ]
        let added = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let ledger = [one, other][number % 2]
                    let board = Self.found(number / 2)
                    return try await ledger.add(board, to: batches[number % 2], for: sessions[number % 2]) != nil
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        try expect(added, 20, promise)
        let counts = [try await one.counts(of: batches[0]).total, try await one.counts(of: batches[1]).total]
        try expect(counts[0] + counts[1], 20, promise)
    }

    private func addingBesideOthers() async throws {
        let promise = "a board that another session works on, or is going to, is not added to another batch"
        let batches = [try await one.create(Self.batch(boards: 0)).id, try await one.create(Self.batch(boards: 0)).id]
        let session = try await one.openSession("station-1", for: .seconds(600))
        let second = try await other.openSession("station-2", for: .seconds(600))
        try expect(try await one.add(Self.found(1), to: batches[0], for: session), 1, promise)
        try expect(try await one.add(Self.found(2), to: batches[0], for: session), 2, promise)
        // One of them is leased, the other one waits for its turn.
        try expect(try await one.lease(1, of: batches[0], for: session).count, 1, promise)
        for number in 1...2 {
            try expect(try await other.add(Self.found(number), to: batches[1], for: second), nil, promise)
        }
        // A board that is done may be in range for a while.
        let done = try await one.lease(1, of: batches[0], for: session)
        _ = try await one.record(done.map { Self.change($0, 1, .done(nodeID: nil)) })
        try expect(try await other.add(Self.found(2), to: batches[1], for: second), nil, promise)
        // Each machine has a port of this name.
        let port = DiscoveredAddress(name: "port", address: "serial:/dev/ttyUSB0")
        try expect(try await one.add(port, to: batches[0], for: session), 3, promise)
        try expect(try await other.add(port, to: batches[1], for: second), 1, promise)
        let sameMachine = try await other.openSession("station-1", for: .seconds(600))
        let third = try await one.create(Self.batch(boards: 0)).id
        try expect(try await other.add(port, to: third, for: sameMachine), nil, promise)
        // Nobody works on the boards of a session that has ended, or run out.
        try await one.closeSession(session)
        try expect(try await other.add(Self.found(1), to: batches[1], for: second), 2, promise)
        let short = try await one.openSession("station-1", for: .seconds(1))
        try expect(try await one.lease(9, of: batches[0], for: short).map(\.board.line), [1, 3], promise)
        try await pass(.seconds(2))
        try expect(try await other.add(Self.found(2), to: batches[1], for: second), 3, promise)
    }

    private func leasesOfOneAddress() async throws {
        let promise = "a board waits while another session has leased a board of another batch at its address"
        let batches = [try await one.create(Self.batch(boards: 2)).id, try await one.create(Self.batch(boards: 3)).id]
        let session = try await one.openSession("station-1", for: .seconds(600))
        let second = try await other.openSession("station-1", for: .seconds(600))
        let first = try await one.lease(2, of: batches[0], for: session)
        try expect(first.map(\.board.line), [1, 2], promise)
        try expect(try await other.lease(9, of: batches[1], for: second).map(\.board.line), [3], promise)
        _ = try await one.record([Self.change(first[0], 1, .done(nodeID: nil))])
        try expect(try await other.lease(9, of: batches[1], for: second).map(\.board.line), [1], promise)
        try await one.closeSession(session)
        try expect(try await other.lease(9, of: batches[1], for: second).map(\.board.line), [2], promise)
    }

    // MARK: Leases

    private func leasesInOrder() async throws {
        let promise = "boards are leased in the order of their lines, each once"
        let batch = try await one.create(Self.batch(boards: 5))
        let elsewhere = try await one.create(Self.batch(boards: 1))
        let sessions = [
            try await one.openSession("station-1", for: .seconds(600)),
            try await other.openSession("station-2", for: .seconds(600)),
        ]
        let first = try await one.lease(2, of: batch.id, for: sessions[0])
        let second = try await other.lease(2, of: batch.id, for: sessions[1])
        try expect((first + second).map(\.board.line), [1, 2, 3, 4], promise)
        try expect(
            first.map(\.session) + second.map(\.session), [sessions[0], sessions[0], sessions[1], sessions[1]], promise)
        for leased in first + second {
            try expect(leased.board.state, .running, promise)
            try expect([leased.board.attempt, Int(leased.fence)], [1, 1], promise)
            guard leased.board.started != nil else { throw failure(promise, "a leased board has no start time") }
        }
        try expect(second[0].board.station, "station-2", promise)
        try expect(try await one.lease(0, of: batch.id, for: sessions[0]), [], promise)
        try expect(
            try await one.lease(10, of: batch.id, for: sessions[0]).map(\.board.line), [5], promise)
        try expect(try await other.lease(10, of: batch.id, for: sessions[1]), [], promise)
        try expect(try await other.counts(of: batch.id), BatchCounts(running: 5), promise)
        try expect(try await other.counts(of: elsewhere.id), BatchCounts(waiting: 1), promise)
        try expect(
            try await other.boards(of: batch.id, after: 0, limit: 2), first.map(\.board), promise)
    }

    private func leasesAtOnce() async throws {
        let promise = "no board is leased twice by sessions that lease at once"
        let count = 60
        let batch = try await one.create(Self.batch(boards: count)).id
        let lines = try await withThrowingTaskGroup(of: [Int].self) { group in
            for number in 0..<8 {
                group.addTask {
                    let ledger = [one, other][number % 2]
                    let session = try await ledger.openSession("station-\(number)", for: .seconds(600))
                    var lines: [Int] = []
                    while true {
                        let leased = try await ledger.lease(3, of: batch, for: session)
                        if leased.isEmpty { break }
                        lines += leased.map(\.board.line)
                        let changes = leased.map { Self.change($0, 1, .done(nodeID: "node-\($0.board.line)")) }
                        let outcomes = try await ledger.record(changes)
                        try expect(outcomes, changes.map { _ in .recorded }, promise)
                    }
                    return lines
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        try expect(lines.sorted(), Array(1...count), promise)
        try expect(try await one.counts(of: batch), BatchCounts(done: count), promise)
    }

    private func expiry() async throws {
        let promise = "boards of a session that has run out are leased again, and the old session's records are lost"
        let batch = try await one.create(Self.batch(boards: 3)).id
        let late = try await one.openSession("station-1", for: .seconds(1))
        let old = try await one.lease(2, of: batch, for: late)
        try expect(try await one.record([Self.change(old[0], 1, .step("open", .started))]), [.recorded], promise)
        try await pass(.seconds(2))
        try expect(
            try await other.counts(of: batch), BatchCounts(waiting: 1, running: 2, abandoned: 2), promise)
        // Until another session leases it, the board is still the old session's.
        try expect(try await one.record([Self.change(old[0], 2, .step("open", .finished))]), [.recorded], promise)

        let session = try await other.openSession("station-2", for: .seconds(600))
        let new = try await other.lease(2, of: batch, for: session)
        try expect(new.map(\.board.line), [1, 2], promise)
        try expect(new.map(\.fence), [2, 2], promise)
        try expect(try await other.counts(of: batch), BatchCounts(waiting: 1, running: 2), promise)
        let outcomes = try await one.record([
            Self.change(old[0], 3, .step("scan", .started)), Self.change(old[1], 1, .done(nodeID: "stale")),
            Self.change(old[0], 2, .step("open", .finished)),
        ])
        try expect(outcomes, [.lost, .lost, .recorded], promise)
        var forged = Self.change(new[0], 1, .step("open", .started))
        forged.session = late
        try expect(try await one.record([forged]), [.lost], promise)
        let boards = try await one.boards(of: batch, after: 0, limit: 2)
        try expect(boards.map(\.station), ["station-2", "station-2"], promise)
        try expect(boards.map(\.nodeID), [nil, nil], promise)
        try expect(try await one.steps(of: boards[0].id).map(\.attempt), [1, 1], promise)
    }

    private func renewal() async throws {
        let promise = "a renewed session keeps its boards, also if it had run out"
        let batch = try await one.create(Self.batch(boards: 1)).id
        let session = try await one.openSession("station-1", for: .seconds(1))
        let leased = try await one.lease(1, of: batch, for: session)
        try await pass(.seconds(2))
        // It works on the board: another lease of it would make its own records stale.
        try expect(try await one.lease(1, of: batch, for: session), [], promise)
        try await one.renew(session, for: .seconds(600))
        try expect(try await other.counts(of: batch), BatchCounts(running: 1), promise)
        let second = try await other.openSession("station-2", for: .seconds(600))
        try expect(try await other.lease(1, of: batch, for: second), [], promise)
        try expect(try await one.record([Self.change(leased[0], 1, .done(nodeID: nil))]), [.recorded], promise)
    }

    private func closing() async throws {
        let promise = "a closed session's boards wait again, and its records are lost"
        let batch = try await one.create(Self.batch(boards: 3)).id
        let session = try await one.openSession("station-1", for: .seconds(600))
        let leased = try await one.lease(2, of: batch, for: session)
        _ = try await one.record([Self.change(leased[0], 1, .done(nodeID: "a"))])
        try await one.closeSession(session)
        try await one.closeSession(session)
        try expect(try await other.counts(of: batch), BatchCounts(waiting: 2, done: 1), promise)
        try expect(try await one.record([Self.change(leased[1], 1, .done(nodeID: "b"))]), [.lost], promise)
        try expect(try await one.record([Self.change(leased[0], 1, .done(nodeID: "a"))]), [.recorded], promise)
        try await refuses(.unavailable, promise) { try await other.renew(session, for: .seconds(600)) }
        try await refuses(.unavailable, promise) { _ = try await one.lease(1, of: batch, for: session) }
        let second = try await other.openSession("station-2", for: .seconds(600))
        try expect(try await other.lease(5, of: batch, for: second).map(\.board.line), [2, 3], promise)
    }

    private func unknownNumbers() async throws {
        let promise = "a number that the ledger does not have causes an error or an empty result"
        let session = try await one.openSession("station-1", for: .seconds(600))
        try await refuses(.unavailable, promise) { _ = try await one.add(Self.found(1), to: 1000, for: session) }
        try expect(try await one.counts(of: 1000), BatchCounts(), promise)
        try expect(try await one.boards(of: 1000, after: 0, limit: 10), [], promise)
        try expect(try await one.steps(of: 1000), [], promise)
        try expect(try await one.retry(1000, lines: nil), 0, promise)
        try expect(try await one.lease(10, of: 1000, for: session), [], promise)
        let board = LedgerBoard(id: 1000, batch: 1000, line: 1, name: "", address: "")
        let leased = LeasedBoard(board: board, session: session, fence: 1)
        try expect(try await one.record([Self.change(leased, 1, .released)]), [.lost], promise)
        try expect(try await one.record([]), [], promise)
    }

    // MARK: Records

    private func results() async throws {
        let promise = "a board shows what was recorded about it last"
        let batch = try await one.create(Self.batch(boards: 3)).id
        let session = try await one.openSession("station-1", for: .seconds(600))
        let leased = try await one.lease(3, of: batch, for: session)
        let reason = LedgerFailure(code: 11, reason: "wrong_pop", message: "Wrong proof.", remedy: "")
        let outcomes = try await one.record([
            Self.change(leased[0], 1, .identified(nodeID: "n1", mac: nil)),
            Self.change(leased[1], 1, .step("open", .failed)),
            Self.change(leased[0], 2, .identified(nodeID: nil, mac: "a1b2c3d4e5f6")),
            Self.change(leased[2], 1, .identified(nodeID: "n3", mac: "000000000003")),
            Self.change(leased[1], 2, .failed(reason)), Self.change(leased[0], 3, .step("account", .deferred)),
            Self.change(leased[2], 2, .released), Self.change(leased[0], 4, .done(nodeID: nil)),
        ])
        try expect(outcomes, Array(repeating: .recorded, count: 8), promise)
        var expected = leased.map(\.board)
        (expected[0].state, expected[0].nodeID, expected[0].mac) = (.done, "n1", "a1b2c3d4e5f6")
        (expected[0].step, expected[0].stepState, expected[0].ended) = ("account", .deferred, Self.time(4))
        (expected[1].state, expected[1].failure, expected[1].ended) = (.failed, reason, Self.time(2))
        (expected[1].step, expected[1].stepState) = ("open", .failed)
        (expected[2].state, expected[2].nodeID, expected[2].mac) = (.waiting, "n3", "000000000003")
        try expect(try await other.boards(of: batch, after: 0, limit: 3), expected, promise)
        try expect(
            try await other.counts(of: batch), BatchCounts(waiting: 1, done: 1, failed: 1), promise)
        let again = try await other.lease(
            3, of: batch, for: try await other.openSession("station-2", for: .seconds(600)))
        try expect(again.map(\.board.line), [3], promise)
        try expect(again.map(\.board.attempt), [2], promise)
        try expect(again.map(\.board.nodeID), ["n3"], promise)
    }

    private func steps() async throws {
        let promise = "the steps of a board come back in the order in which they were recorded"
        let batch = try await one.create(Self.batch(boards: 2)).id
        let session = try await one.openSession("station-1", for: .seconds(600))
        let leased = try await one.lease(2, of: batch, for: session)
        let names = ["open", "session", "scan", "apply", "online", "account"]
        let states: [LedgerStep.State] = [.started, .finished, .deferred, .failed]
        var changes: [LedgerChange] = []
        for (index, name) in names.enumerated() {
            for board in leased { changes.append(Self.change(board, 2 * index + 1, .step(name, .started))) }
            for board in leased.reversed() {
                changes.append(Self.change(board, 2 * index + 2, .step(name, states[index % 4])))
            }
        }
        // Rounds of different sizes.
        var rest = changes[...]
        var size = 0
        while !rest.isEmpty {
            size += 1
            let round = Array(rest.prefix(size))
            rest = rest.dropFirst(round.count)
            try expect(try await one.record(round), round.map { _ in .recorded }, promise)
        }
        for board in leased {
            let expected = changes.filter { $0.board == board.board.id }.compactMap { change -> LedgerStep? in
                guard case .step(let step, let state) = change.event else { return nil }
                return LedgerStep(attempt: 1, station: "station-1", step: step, state: state, time: change.time)
            }
            try expect(try await other.steps(of: board.board.id), expected, promise)
        }
        let last = try await other.boards(of: batch, after: 0, limit: 2)
        try expect(last.map(\.step), ["account", "account"], promise)
        try expect(last.map(\.stepState), [.finished, .finished], promise)
    }

    private func repetition() async throws {
        let promise = "recording the same change again changes nothing, and succeeds"
        let batch = try await one.create(Self.batch(boards: 2)).id
        let session = try await one.openSession("station-1", for: .seconds(600))
        let leased = try await one.lease(2, of: batch, for: session)
        let round = [
            Self.change(leased[0], 1, .step("open", .started)), Self.change(leased[1], 1, .step("open", .started)),
            Self.change(leased[0], 2, .identified(nodeID: "n1", mac: "0")),
            Self.change(leased[0], 3, .done(nodeID: "n1")),
        ]
        let recorded = round.map { _ in LedgerChange.Outcome.recorded }
        try expect(try await one.record(round), recorded, promise)
        let boards = try await one.boards(of: batch, after: 0, limit: 2)
        let steps = try await one.steps(of: leased[0].board.id)
        for _ in 0..<2 { try expect(try await one.record(round), recorded, promise) }
        let next = Self.change(leased[1], 2, .step("open", .finished))
        try expect(try await one.record(round + [next, next]), recorded + [.recorded, .recorded], promise)
        try expect(try await other.boards(of: batch, after: 0, limit: 1), [boards[0]], promise)
        try expect(try await other.steps(of: leased[0].board.id), steps, promise)
        try expect(try await other.steps(of: leased[1].board.id).count, 2, promise)
        let atOnce = Self.change(leased[1], 3, .step("scan", .started))
        let outcomes = try await withThrowingTaskGroup(of: [LedgerChange.Outcome].self) { group in
            for ledger in [one, other, one, other] { group.addTask { try await ledger.record([atOnce]) } }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        try expect(outcomes, Array(repeating: .recorded, count: 4), promise)
        try expect(try await other.steps(of: leased[1].board.id).count, 3, promise)
    }

    private func endedLeases() async throws {
        let promise = "a lease ends with its last change, and later changes are lost"
        let batch = try await one.create(Self.batch(boards: 3)).id
        let session = try await one.openSession("station-1", for: .seconds(600))
        let leased = try await one.lease(3, of: batch, for: session)
        let reason = LedgerFailure(code: 1, reason: "r", message: "m", remedy: "")
        for (board, end) in zip(leased, [.done(nodeID: nil), .failed(reason), .released] as [LedgerChange.Event]) {
            let outcomes = try await one.record([
                Self.change(board, 1, end), Self.change(board, 2, .step("late", .started)),
            ])
            try expect(outcomes, [.recorded, .lost], promise)
            try expect(
                try await other.record([Self.change(board, 3, .identified(nodeID: "late", mac: nil))]), [.lost], promise
            )
        }
        let boards = try await one.boards(of: batch, after: 0, limit: 3)
        try expect(boards.map(\.state), [.done, .failed, .waiting], promise)
        try expect(boards.map(\.step), [nil, nil, nil], promise)
    }

    private func duplicates() async throws {
        let promise =
            "an identity that another board of the batch already has is a duplicate, and the other changes are recorded"
        let batch = try await one.create(Self.batch(boards: 5)).id
        let elsewhere = try await one.create(Self.batch(boards: 1)).id
        let session = try await one.openSession("station-1", for: .seconds(600))
        let leased = try await one.lease(5, of: batch, for: session)
        let outcomes = try await one.record([
            Self.change(leased[0], 1, .identified(nodeID: "n1", mac: "m1")),
            Self.change(leased[1], 1, .step("open", .started)),
            Self.change(leased[1], 2, .identified(nodeID: "n1", mac: "m2")),
            Self.change(leased[2], 1, .identified(nodeID: "n3", mac: "m1")),
            Self.change(leased[3], 1, .identified(nodeID: "n4", mac: nil)),
            Self.change(leased[4], 1, .done(nodeID: "n4")),
            Self.change(leased[1], 3, .step("open", .finished)),
            Self.change(leased[0], 2, .identified(nodeID: "n1", mac: "m1")),
        ])
        try expect(
            outcomes,
            [
                .recorded, .recorded, .duplicate(line: 1), .duplicate(line: 1), .recorded, .duplicate(line: 4),
                .recorded, .recorded,
            ], promise)
        let boards = try await other.boards(of: batch, after: 0, limit: 5)
        try expect(boards.map(\.nodeID), ["n1", nil, nil, "n4", nil], promise)
        try expect(boards.map(\.mac), ["m1", nil, nil, nil, nil], promise)
        try expect(boards.map(\.state), Array(repeating: .running, count: 5), promise)
        try expect(try await other.steps(of: leased[1].board.id).map(\.state), [.started, .finished], promise)
        // Nothing was recorded, so the number is free.
        try expect(
            try await one.record([Self.change(leased[1], 2, .identified(nodeID: "n2", mac: "m2"))]), [.recorded],
            promise)
        let second = try await one.lease(1, of: elsewhere, for: session)
        try expect(
            try await one.record([Self.change(second[0], 1, .identified(nodeID: "n1", mac: "m1"))]), [.recorded],
            promise)
    }

    private func duplicatesAtOnce() async throws {
        let promise = "if several stations record one identity at once, only one gets it"
        let pairs = 12
        let batch = try await one.create(Self.batch(boards: 2 * pairs)).id
        let ledgers = [one, other]
        let outcomes = try await withThrowingTaskGroup(of: [LedgerChange.Outcome].self) { group in
            for number in 0..<2 {
                group.addTask {
                    let session = try await ledgers[number].openSession("station-\(number)", for: .seconds(600))
                    let leased = try await ledgers[number].lease(pairs, of: batch, for: session)
                    let changes = leased.enumerated().map { index, board in
                        // The stations have the identities in opposite orders.
                        Self.change(
                            board, 1,
                            .identified(nodeID: "n\(number == 0 ? index : pairs - 1 - index)", mac: nil))
                    }
                    return try await ledgers[number].record(changes)
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let recorded = outcomes.filter { $0 == .recorded }.count
        let found = try await one.boards(of: batch, after: 0, limit: 100).compactMap(\.nodeID)
        try expect(Set(found), Set((0..<pairs).map { "n\($0)" }), promise)
        try expect([recorded, found.count, outcomes.count], [pairs, pairs, 2 * pairs], promise)
    }

    private func retry() async throws {
        let promise = "failed boards wait again: all of them, or only those of the given lines"
        let batch = try await one.create(Self.batch(boards: 5)).id
        let session = try await one.openSession("station-1", for: .seconds(600))
        let leased = try await one.lease(5, of: batch, for: session)
        let reason = LedgerFailure(code: 7, reason: "r", message: "m", remedy: "try")
        _ = try await one.record(
            leased[..<3].map { Self.change($0, 1, .failed(reason)) } + [Self.change(leased[3], 1, .done(nodeID: nil))])
        try expect(try await other.retry(batch, lines: [2, 4, 5, 77]), 1, promise)
        try expect(try await other.retry(batch, lines: []), 0, promise)
        let boards = try await one.boards(of: batch, after: 0, limit: 5)
        try expect(boards.map(\.state), [.failed, .waiting, .failed, .done, .running], promise)
        guard boards[1].failure == nil, boards[1].ended == nil else {
            throw failure(promise, "a board that waits again still has a failure")
        }
        try expect(try await other.retry(batch, lines: nil), 2, promise)
        try expect(try await other.retry(batch, lines: nil), 0, promise)
        try expect(
            try await other.counts(of: batch), BatchCounts(waiting: 3, running: 1, done: 1), promise)
        let again = try await one.lease(5, of: batch, for: session)
        try expect(again.map(\.board.line), [1, 2, 3], promise)
        try expect(again.map(\.fence), [2, 2, 2], promise)
    }

    private func cancellation() async throws {
        let promise = "a call from a cancelled task ends, and has written all or nothing"
        let batch = try await one.create(Self.batch(boards: 1)).id
        let session = try await one.openSession("station-1", for: .seconds(600))
        let leased = try await one.lease(1, of: batch, for: session)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await one.record([
                Self.change(leased[0], 1, .step("open", .started)), Self.change(leased[0], 2, .step("open", .finished)),
            ])
        }
        do {
            try expect(try await task.value, [.recorded, .recorded], promise)
        } catch let error as LedgerError {
            guard error.code == .cancelled else { throw error }
        }
        let steps = try await other.steps(of: leased[0].board.id).count
        guard steps == 0 || steps == 2 else { throw failure(promise, "it has written \(steps) of 2 changes") }
    }

    // MARK: Steps

    private static func time(_ number: Int) -> UnixTime {
        UnixTime(seconds: 1_800_000_000 + Double(number) + Double(number % 1000) / 1000)
    }

    private static func board(_ line: Int) -> NewBatch.Board {
        NewBatch.Board(line: line, name: "lamp \(line)", address: "ble:PROV_\(line)")
    }

    private static func found(_ number: Int) -> DiscoveredAddress {
        DiscoveredAddress(name: "found \(number)", address: "ble:7C:DF:A1:00:00:\(number + 10)")
    }

    private static func batch(boards: Int, user: String = "user-1") -> NewBatch {
        NewBatch(
            file: "/tmp/boards.csv", sha256: String(repeating: "0f", count: 32), deployment: "global", user: user,
            created: time(125), boards: boards == 0 ? [] : (1...boards).map(board))
    }

    private static func change(_ leased: LeasedBoard, _ number: Int, _ event: LedgerChange.Event) -> LedgerChange {
        LedgerChange(
            board: leased.board.id, session: leased.session, fence: leased.fence, number: number, time: time(number),
            event: event)
    }

    private func failure(_ promise: String, _ detail: String) -> LedgerConformance.Failure {
        LedgerConformance.Failure(promise: promise, detail: detail)
    }

    private func expect<Value: Equatable>(_ found: Value, _ expected: Value, _ promise: String) throws {
        guard found != expected else { return }
        throw failure(promise, "expected \(expected), got \(found)")
    }

    private func refuses(_ code: LedgerError.Code, _ promise: String, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch let error as LedgerError {
            return try expect(error.code, code, promise)
        }
        throw failure(promise, "a call that must fail did not fail")
    }
}
