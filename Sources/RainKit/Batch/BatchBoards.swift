// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainIO
import RainMaker
import Synchronization

/// Provisions single boards of a batch: one run of ``RainKitClient`` for each attempt, with each step in the ledger.
struct BatchBoards: Sendable {
    let client: RainKitClient
    /// Nil if boards are not put into the account.
    let cloud: Onboarder.Cloud?
    let ledger: any Ledger
    let writer: LedgerWriter
    let options: BatchOptions
    let stop: BatchStop
    let time: Timekeeper
    let stoppedTime: StoppedTime
    /// Nil if boards are not put into the account.
    let outage: CloudOutage?
    let groups: BatchGroups
    /// Nil if the client has stores of its own.
    let records: BatchRecords?
    let report: @Sendable (BatchEvent) -> Void

    /// Puts a board back that this station has not begun with.
    func release(_ board: LeasedBoard) async throws {
        _ = try await journal(of: board).record([.released])
    }

    /// Provisions a board. Never throws: what happened is in the ledger.
    func provision(_ board: LeasedBoard, _ entry: BatchEntry?) async -> BatchEnding {
        let journal = journal(of: board)
        do {
            return try await provision(board, entry, journal)
        } catch {
            switch error {
            case .lost:
                report(.lost(board.board))
                return .lost
            case .ledger(let error): return .broken(RainKitError(error))
            case .cloud(let error):
                // The board waits again, and the batch ends with this error.
                let ending = await give(board, up: .cancelled, journal)
                if case .stopped = ending, !stop.isSet { return .broken(error) }
                return ending
            case .run(let error): return await give(board, up: error, journal)
            }
        }
    }

    private func journal(of board: LeasedBoard) -> BoardJournal {
        BoardJournal(board, writer, client.configuration.tools.clock)
    }

    private func provision(
        _ board: LeasedBoard, _ entry: BatchEntry?, _ journal: BoardJournal
    ) async throws(BatchFault) -> BatchEnding {
        guard let entry else {
            throw .run(
                RainKitError(
                    .request(.usage, reason: "not_in_file"),
                    message:
                        "The batch has this board in line \(board.board.line), but the file has no board in that line."
                ))
        }
        report(.began(board.board))
        let began = time.elapsed()
        var schedule = PollSchedule(from: .seconds(1), to: .seconds(5))
        _ = schedule.next()
        var tries = BatchTries(maximum: options.tries)
        while true {
            let attempt = time.elapsed()
            let isSearching = tries.isSearching
            let failure: RainKitError
            do throws(BatchFault) {
                let node: OnboardedNode
                let earlier = try await earlier(board, journal)
                if earlier?.isOnline == true, let id = earlier?.node, try await hasJoined(board) {
                    let joined = OnboardedNode(
                        nodeID: id, network: nil, mapping: .confirmed, resumed: true, elapsed: time.elapsed() - began)
                    node = await name(joined, board, entry)
                } else {
                    // The time in which a board has to be found is that of the first attempt.
                    let limit = isSearching ? options.deadline - (attempt - began) : options.deadline
                    node = try await run(board, entry, journal, mapped: earlier?.node, within: limit)
                }
                // A cancelled run has not named its board, so the next run does that.
                if node.nameProblem?.code == .cancelled { throw BatchFault.run(.cancelled) }
                try await join(entry.group, node, journal)
                try await journal.write(.done(nodeID: node.nodeID?.rawValue))
                report(.done(board.board, node))
                return .done
            } catch {
                guard case .run(let error) = error, !stop.isSet else { throw error }
                failure = error
            }
            switch await verdict(on: failure) {
            case .over:
                report(.again(board.board, failure))
                continue
            case .lasting: throw .cloud(failure)
            case .none: break
            }
            let next = tries.failed(
                failure, hadStopped: stoppedTime.happened(since: attempt),
                timeLeft: options.deadline - (time.elapsed() - began), of: options.deadline)
            switch next {
            case .end: throw .run(failure)
            case .again: report(.again(board.board, failure))
            case .search: break
            }
            guard (try? await time.sleep(schedule.next())) != nil else { throw .run(.cancelled) }
        }
    }

    private func verdict(on failure: RainKitError) async -> CloudOutage.Verdict {
        guard let outage, failure.mayBeOutage else { return .none }
        return await outage.verdict(after: failure)
    }

    /// Records why the board is given up, or that it was not decided.
    private func give(_ board: LeasedBoard, up error: RainKitError, _ journal: BoardJournal) async -> BatchEnding {
        var ending = BatchEnding.stopped
        var event = LedgerChange.Event.released
        if error.code != .cancelled {
            ending = .failed
            event = .failed(
                LedgerFailure(
                    code: Int(error.code.rawValue), reason: error.reason, message: error.sentence,
                    remedy: error.advice))
        }
        do throws(BatchFault) {
            if let step = error.step, case .failed = event {
                try await journal.write(.step(step.rawValue, .failed), event)
            } else {
                try await journal.write(event)
            }
        } catch {
            switch error {
            case .ledger(let error): return .broken(RainKitError(error))
            case .lost, .run, .cloud:
                report(.lost(board.board))
                return .lost
            }
        }
        if case .stopped = ending { report(.stopped(board.board)) } else { report(.failed(board.board, error)) }
        return ending
    }

    /// Returns the node that an earlier attempt has put into the account, and whether the cloud sees it; nil if no attempt got that far.
    private func earlier(
        _ board: LeasedBoard, _ journal: BoardJournal
    ) async throws(BatchFault) -> (node: NodeID, isOnline: Bool)? {
        guard let cloud, let node = journal.nodeID ?? board.board.nodeID else { return nil }
        do throws(AccountError) {
            let said = try await cloud.mapping.connectivity(of: NodeID(node))
            return said.map { (NodeID(node), $0.isConnected) }
        } catch {
            // A cloud that does not answer says nothing about the node. Without its answer the node might be mapped twice.
            guard !error.isTransient, error.code != .cancelled else { throw .run(RainKitError(error)) }
            // The cloud refuses the question about a node of nobody, or of another user.
            return nil
        }
    }

    /// Whether the board may have got its network in an earlier attempt. Before that it is online, if at all, in another network.
    private func hasJoined(_ board: LeasedBoard) async throws(BatchFault) -> Bool {
        let after = [OnboardingStep.join, .connect, .confirm, .name].map(\.rawValue) + [Self.groupStep]
        do throws(LedgerError) {
            return try await ledger.steps(of: board.board.id).contains { after.contains($0.step) }
        } catch {
            throw .ledger(error)
        }
    }

    private func run(
        _ board: LeasedBoard, _ entry: BatchEntry, _ journal: BoardJournal, mapped: NodeID?, within limit: Duration
    ) async throws(BatchFault) -> OnboardedNode {
        let (report, stop) = (report, stop)
        var request = OnboardingRequest(
            network: entry.network.map { .given($0) } ?? .none, mapsToUser: options.mapsToUser, notes: entry.notes,
            label: entry.label, deadline: limit)
        request.customData = entry.customData
        request.nodeName = entry.nodeName
        request.mappedNode = mapped
        request.expectedNode = entry.nodeID
        var cloud = cloud
        let own = records?.records(of: "\(ledger.place)#\(board.board.batch)#\(board.board.line)")
        if let own {
            cloud?.pending = own.pending
            cloud?.claimed = own.claimed
            // All mappings that are left there are of this board.
            request.endsWithFinishedMapping = true
        }
        let fault = Mutex<BatchFault?>(nil)
        let hasBegun = Atomic(false)
        request.checkpoint = { point throws(RainKitError) in
            hasBegun.store(true, ordering: .relaxed)
            do throws(BatchFault) {
                try await journal.write(point)
            } catch {
                if case .run(let error) = error { throw error }
                // The run needs an error of its own, and ends with the journal's.
                fault.withLock { $0 = error }
                throw .cancelled
            }
            if stop.isSet, case .started = point.state { throw .cancelled }
        }
        do {
            let turn = await turn(at: entry.address)
            defer { withExtendedLifetime(turn) {} }
            do {
                return try await client.provision(
                    entry.address, with: entry.credentials, request, account: cloud
                ) { report(.step(board.board, $0)) }
            } catch {
                // A board that is gone, such as from its cable, may have been set up except for the cloud's part.
                guard !hasBegun.load(ordering: .relaxed), let absence = RainKitError(wrapping: error).board,
                    let left = try await own?.pending.all().last
                else { throw error }
                let absent = UnopenedBoard(peer: left.peer) { () async throws(BoardError) in throw absence }
                return try await client.provision(absent, request, account: cloud) { report(.step(board.board, $0)) }
            }
        } catch {
            if let fault = fault.withLock({ $0 }) { throw fault }
            throw .run(RainKitError(wrapping: error))
        }
    }

    /// Gives its name to a board that an earlier run has put into the account. That run may have ended before it named the board.
    private func name(_ node: OnboardedNode, _ board: LeasedBoard, _ entry: BatchEntry) async -> OnboardedNode {
        var request = OnboardingRequest(network: .none, deadline: node.elapsed + options.deadline)
        request.nodeName = entry.nodeName
        return await client.name(node, request) { report(.step(board.board, $0)) }
    }

    /// Waits until the board's transport has room for it, or the station stops.
    private func turn(at address: BoardAddress) async -> BoardTurn? {
        let configuration = client.configuration
        guard let transport = configuration.transports.first(where: { $0.scheme == address.scheme }) else { return nil }
        let held = HeldTurn()
        // A task keeps its result as long as it is known, and `stop` knows it until the batch ends.
        let waiting = Task {
            let turn = await transport.turn(at: address, logger: configuration.logger)
            held.turn.withLock { $0 = turn }
        }
        stop.whenSet { waiting.cancel() }
        await withTaskCancellationHandler {
            await waiting.value
        } onCancel: {
            waiting.cancel()
        }
        return held.turn.withLock { turn in
            defer { turn = nil }
            return turn
        }
    }

    private final class HeldTurn: Sendable {
        let turn = Mutex<BoardTurn?>(nil)
    }

    /// Puts the node into its group, which is created if the account has none of this name.
    private func join(_ name: String?, _ node: OnboardedNode, _ journal: BoardJournal) async throws(BatchFault) {
        guard let name, let id = node.nodeID, node.mapping == .confirmed else { return }
        try await journal.write(.step(Self.groupStep, .started))
        do {
            try await groups.add(id, to: name)
        } catch {
            throw .run(RainKitError(wrapping: error))
        }
        try await journal.write(.step(Self.groupStep, .finished))
    }

    /// The ledger's name of the step that follows a run.
    static let groupStep = "group"
}

/// Puts the nodes of a batch into groups by name, and creates each missing group once.
actor BatchGroups {
    private let client: RainKitClient
    private var ids: [String: Task<String, any Error>] = [:]

    init(_ client: RainKitClient) { self.client = client }

    func add(_ node: NodeID, to name: String) async throws {
        let id = try await id(of: name)
        try await client.asking { cloud throws(AccountError) in
            // A node that is in the group already stays in it.
            try await cloud.addNodes([node], toGroup: id)
        }
    }

    private func id(of name: String) async throws -> String {
        let client = client
        let task =
            ids[name]
            ?? Task {
                do {
                    return try await client.group(named: name).id
                } catch let error as RainKitError where error.reason == "no_such_group" {
                    return try await client.asking { cloud throws(AccountError) in
                        try await cloud.createGroup(NodeGroupChange(name: name), nodes: [])
                    }
                }
            }
        ids[name] = task
        do {
            return try await task.value
        } catch {
            // The next board tries again.
            ids[name] = nil
            throw error
        }
    }
}

/// Why the work on a board ended without success.
enum BatchFault: Error {
    case run(RainKitError)
    /// Another station has the board.
    case lost
    case ledger(LedgerError)
    /// The cloud has not answered for longer than the patience.
    case cloud(RainKitError)
}

/// What happened to one leased board, numbered for the ledger.
private final class BoardJournal: Sendable {
    private let board: LeasedBoard
    private let writer: LedgerWriter
    private let clock: any WallClock
    private let state = Mutex(State())

    private struct State {
        var number = 0
        var node: String?
        var mac: String?
        /// A step's end. It is written with the beginning of the next step: nothing happens between them, and a commit costs a sync.
        var held: LedgerChange?
    }

    init(_ board: LeasedBoard, _ writer: LedgerWriter, _ clock: any WallClock) {
        (self.board, self.writer, self.clock) = (board, writer, clock)
    }

    /// The board's node id, once this lease knows it.
    var nodeID: String? { state.withLock { $0.node } }

    /// Writes what is held, and the events.
    func record(_ events: [LedgerChange.Event]) async throws(LedgerError) -> [LedgerChange.Outcome] {
        let now = clock.now
        let changes = state.withLock { state in
            defer { state.held = nil }
            return [state.held].compactMap { $0 } + events.map { change($0, now, &state) }
        }
        return try await writer.write(changes)
    }

    private func change(_ event: LedgerChange.Event, _ time: UnixTime, _ state: inout State) -> LedgerChange {
        state.number += 1
        return LedgerChange(
            board: board.board.id, session: board.session, fence: board.fence, number: state.number, time: time,
            event: event)
    }

    func write(_ events: LedgerChange.Event...) async throws(BatchFault) { try await write(events) }

    private func write(_ events: [LedgerChange.Event]) async throws(BatchFault) {
        let outcomes: [LedgerChange.Outcome]
        do throws(LedgerError) {
            outcomes = try await record(events)
        } catch {
            throw .ledger(error)
        }
        for outcome in outcomes {
            switch outcome {
            case .recorded: continue
            case .lost: throw .lost
            case .duplicate(let line):
                throw .run(
                    RainKitError(
                        .request(.badData, reason: "duplicate_board"),
                        message:
                            "This is the same board as in line \(line). Each board may be in only one line of the batch."
                    ))
            }
        }
    }

    /// Records a moment of a run, and who the board is once that is known.
    func write(_ point: OnboardingCheckpoint) async throws(BatchFault) {
        let (node, mac) = (point.nodeID?.rawValue, point.identity?.printed?.macAddress.flatMap(Self.digits))
        let isNew = state.withLock { state in
            guard (node, mac) != (state.node, state.mac) else { return false }
            (state.node, state.mac) = (node, mac)
            return node != nil || mac != nil
        }
        let end: LedgerStep.State
        switch point.state {
        case .started:
            let events: [LedgerChange.Event] = isNew ? [.identified(nodeID: node, mac: mac)] : []
            return try await write(events + [.step(point.step.rawValue, .started)])
        case .finished: end = .finished
        case .deferred: end = .deferred
        }
        if isNew { try await write(.identified(nodeID: node, mac: mac)) }
        let now = clock.now
        state.withLock { state in state.held = change(.step(point.step.rawValue, end), now, &state) }
    }

    /// Returns the address as twelve lower-case hex digits; nil for other text.
    private static func digits(_ address: String) -> String? {
        let digits = address.lowercased().filter { $0 != ":" && $0 != "-" }
        return Hex.decoded(digits.utf8)?.count == 6 ? digits : nil
    }
}
