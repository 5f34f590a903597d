// SPDX-License-Identifier: Apache-2.0
import RainCore

/// What a station's page shows, as a value: a row for each board, and the state of the run.
///
/// Each change gets the next number. A browser that knows everything up to a number gets the rows that have changed since, so it can be
/// away for any time, and a row that changes often costs it one row. A number that this page has never given means that the browser was
/// at an earlier station: it gets everything.
package struct StationPage: Sendable {
    /// One board.
    package struct Row: Sendable, Equatable, Encodable {
        package var line: Int
        package var name: String
        package var address: String
        package var state: String
        package var attempt: Int
        /// What happens now, such as "Joins the network"; nil if nothing does.
        package var step: String?
        /// How many percent of the steps are done.
        package var percent: Int
        package var node: String?
        package var message: String?
        package var remedy: String?
        /// What is wrong although the board is still tried.
        package var note: String?

        init(_ board: LedgerBoard) {
            line = board.line
            name = board.name
            address = board.address
            state = board.state.rawValue
            attempt = board.attempt
            node = board.nodeID
            percent = 0
            switch board.state {
            case .running:
                step = board.step.flatMap { StationPage.title(ofStep: $0) }
                percent = board.step.map { StationPage.percent(ofStep: $0) } ?? 0
            case .done: percent = 100
            case .failed:
                message = board.failure?.message
                remedy = board.failure.flatMap { $0.remedy.isEmpty ? nil : $0.remedy }
                step = board.step.flatMap { StationPage.title(ofStep: $0) }
            case .waiting: break
            }
        }
    }

    /// What the station does as a whole.
    package enum Activity: Sendable, Equatable {
        case working, idle, stopping
        /// The run has ended with an error; a retry continues it.
        case halted(message: String, remedy: String)
    }

    /// What is sent to a browser.
    package struct Update: Sendable, Equatable, Encodable {
        /// The number of the last change in it.
        package var number: Int64
        /// Whether rows that are not in it do not exist.
        package var isWhole: Bool
        package var batch: BatchID
        package var file: String?
        package var activity: String
        package var message: String?
        package var remedy: String?
        package var canScan: String
        package var total: Int
        package var waiting: Int
        package var running: Int
        package var done: Int
        package var failed: Int
        /// Boards that the page does not show, because it shows ``StationPage/maximumRows``.
        package var hidden: Int
        package var rows: [Row]
    }

    /// A page with more rows would be slow on a phone. All boards count, and are in the reports.
    package static let maximumRows = 5000

    private let batch: Batch
    private let first: Int64
    private var rows: [Int: (row: Row, number: Int64)] = [:]
    private var counts = BatchCounts()
    private var activityNumber: Int64
    private var lastShownLine = Int.max

    /// The number of the last change.
    package private(set) var number: Int64
    /// What the station does.
    package var activity = Activity.working {
        didSet { if activity != oldValue { touch() } }
    }
    /// Something that the whole page shows, such as a ledger that is out of reach; nil if nothing is wrong.
    package var notice: String? {
        didSet { if notice != oldValue { touch() } }
    }

    /// - Parameter now: milliseconds since 1970. A station makes fewer than a thousand changes a second known, so numbers of an earlier station
    ///   are smaller.
    package init(_ batch: Batch, now: Int64) {
        self.batch = batch
        (first, number, activityNumber) = (now, now, now)
    }

    private mutating func touch() {
        number += 1
        activityNumber = number
    }

    /// How many boards are in which state.
    package var total: BatchCounts { counts }

    /// Returns the line of a board with this name.
    package func line(named name: String) -> Int? {
        rows.values.filter { $0.row.name == name || $0.row.address.hasSuffix(":\(name)") }.map(\.row.line).min()
    }

    /// Returns the state of the board of a line.
    package func state(ofLine line: Int) -> String? { rows[line]?.row.state }

    /// Takes boards as the ledger has them. A board that this station works on keeps the step that it reported itself.
    package mutating func load(_ boards: [LedgerBoard]) {
        for board in boards {
            var row = Row(board)
            if let old = rows[board.line]?.row, old.state == row.state, old.attempt == row.attempt {
                if board.state == .running { (row.step, row.percent, row.note) = (old.step, old.percent, old.note) }
                row.node = row.node ?? old.node
            }
            put(row)
        }
    }

    /// Takes what happened to a board.
    package mutating func take(_ event: BatchEvent) {
        switch event {
        case .began(let board):
            change(board) {
                $0 = Row(board); $0.state = "running"; $0.step = "Begins"
            }
        case .step(let board, let event):
            change(board) { row in
                row.state = "running"
                row.step = Self.title(ofStep: event.step.rawValue)
                row.percent = Self.percent(ofStep: event.step.rawValue)
                if let node = event.nodeID { row.node = node.rawValue }
                switch event.state {
                case .progress(.waitingForBoard): row.note = "The board does not answer yet."
                case .progress(.waitingForCloud): row.note = "The cloud has not confirmed the board yet."
                case .deferred(let text): row.note = text.withoutControls
                case .started, .finished: row.note = nil
                default: break
                }
            }
        case .again(let board, let error):
            change(board) { $0.note = "Trying again, because: \(error.sentence)" }
        case .done(let board, let node):
            change(board) { row in
                (row.state, row.percent, row.step, row.note) = ("done", 100, nil, nil)
                (row.message, row.remedy) = (nil, nil)
                if let id = node.nodeID { row.node = id.rawValue }
            }
        case .failed(let board, let error):
            change(board) { row in
                (row.state, row.note) = ("failed", nil)
                (row.message, row.remedy) = (error.sentence, error.advice.isEmpty ? nil : error.advice)
            }
        case .stopped(let board), .lost(let board):
            change(board) { ($0.state, $0.step, $0.note, $0.percent) = ("waiting", nil, nil, 0) }
        case .counts, .alive: break
        case .ledgerUnreachable(let error):
            notice = "The ledger cannot be reached, so the boards wait: \(error.message)"
        case .cloudUnreachable(let error): notice = "The cloud cannot be reached, so the boards wait: \(error.message)"
        case .cloudAnswers: notice = nil
        case .searchFailed(let transport, let error):
            notice = "The search for boards over \(transport) does not work at the moment: \(error.message)"
        }
        if case .step = event, notice?.hasPrefix("The ledger") == true { notice = nil }
    }

    private mutating func change(_ board: LedgerBoard, _ change: (inout Row) -> Void) {
        var row = rows[board.line]?.row ?? Row(board)
        change(&row)
        put(row)
    }

    private mutating func put(_ row: Row) {
        let old = rows[row.line]?.row
        guard old != row else { return }
        number += 1
        rows[row.line] = (row, number)
        if let old { count(old.state, -1) }
        count(row.state, 1)
        if old == nil, rows.count > Self.maximumRows {
            lastShownLine = rows.keys.sorted()[Self.maximumRows - 1]
        }
    }

    private mutating func count(_ state: String, _ change: Int) {
        switch state {
        case "waiting": counts.waiting += change
        case "running": counts.running += change
        case "done": counts.done += change
        default: counts.failed += change
        }
    }

    /// Returns what has changed after a number; nil if nothing has. Everything counts as changed after a number of another page, and after
    /// nil.
    package func update(since known: Int64?, discovers: Bool) -> Update? {
        let isWhole = known.map { $0 < first || $0 > number } ?? true
        let after = isWhole ? first - 1 : known ?? first
        guard number > after else { return nil }
        var changed = rows.values.filter { $0.number > after && $0.row.line <= lastShownLine }.map(\.row)
        changed.sort { $0.line < $1.line }
        var update = Update(
            number: number, isWhole: isWhole, batch: batch.id, file: batch.file.isEmpty ? nil : batch.file,
            activity: "working", message: notice, remedy: nil, canScan: discovers ? "discovered" : "listed",
            total: counts.total, waiting: counts.waiting, running: counts.running, done: counts.done,
            failed: counts.failed, hidden: max(0, rows.count - Self.maximumRows), rows: changed)
        switch activity {
        case .working: break
        case .idle: update.activity = "idle"
        case .stopping: update.activity = "stopping"
        case .halted(let message, let remedy):
            (update.activity, update.message) = ("halted", message)
            update.remedy = remedy.isEmpty ? nil : remedy
        }
        return update
    }

    /// The steps in their order, in plain words.
    private static let steps: [(name: String, title: String)] = [
        (OnboardingStep.account.rawValue, "Checks the account"),
        (OnboardingStep.resume.rawValue, "Finishes earlier work"),
        (OnboardingStep.challenge.rawValue, "Asks the cloud for a challenge"),
        (OnboardingStep.identify.rawValue, "Finds the board"),
        (OnboardingStep.secure.rawValue, "Opens a secure session"),
        (OnboardingStep.claim.rawValue, "Gets the certificate"),
        (OnboardingStep.reset.rawValue, "Clears earlier Wi-Fi settings"),
        (OnboardingStep.scan.rawValue, "Looks for the network"),
        (OnboardingStep.associate.rawValue, "Associates the board with the account"),
        (OnboardingStep.verify.rawValue, "Verifies the board"),
        (OnboardingStep.customData.rawValue, "Sends data to the application"),
        (OnboardingStep.join.rawValue, "Sends the Wi-Fi settings"),
        (OnboardingStep.connect.rawValue, "Joins the network"),
        (OnboardingStep.confirm.rawValue, "Waits for the cloud"),
        (OnboardingStep.name.rawValue, "Gives the board its name"),
        (BatchBoards.groupStep, "Puts the board into its group"),
    ]

    static func title(ofStep name: String) -> String? { steps.first { $0.name == name }?.title }

    static func percent(ofStep name: String) -> Int {
        steps.firstIndex { $0.name == name }.map { $0 * 100 / steps.count } ?? 0
    }
}
