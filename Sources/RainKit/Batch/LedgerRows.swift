// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore

/// A row that a ledger's database has returned. A column that is NULL, or has another type, gives nil.
protocol LedgerRow {
    func integer(_ column: Int) -> Int64?
    func text(_ column: Int) -> String?
}

/// Moments as both databases read and write them: ISO 8601 in UTC with milliseconds, such as `2026-11-27T08:15:00.250Z`. All have the same
/// length, so that they can be compared as texts.
enum LedgerTime {
    static func text(_ time: UnixTime) -> String {
        // The last millisecond of the year 9999. A comparison with NaN is false.
        let seconds = time.seconds > 0 ? min(time.seconds, 253_402_300_799.999) : 0
        let milliseconds = Int((seconds * 1000).rounded())
        let fraction = String(milliseconds % 1000 + 1000).dropFirst()
        return CivilTime(secondsSince1970: milliseconds / 1000).text(separator: "T") + ".\(fraction)Z"
    }

    static func time(_ text: String) -> UnixTime? {
        let bytes = Array(text.utf8)
        guard bytes.count == 24, bytes[19] == UInt8(ascii: "."), let civil = CivilTime(text),
            let milliseconds = Int(String(decoding: bytes[20..<23], as: UTF8.self))
        else { return nil }
        return UnixTime(seconds: (Double(civil.secondsSince1970) * 1000 + Double(milliseconds)) / 1000)
    }
}

extension String {
    /// The text as ledgers store it.
    var withoutNUL: String {
        utf8.contains(0)
            ? String(String.UnicodeScalarView(unicodeScalars.map { $0.value == 0 ? "\u{FFFD}" : $0 })) : self
    }
}

/// The columns that the decoders below expect, in their order.
///
/// - Parameter time: makes the expression that gives a column of times as text.
struct LedgerColumns {
    let batch: String
    let board: String
    let step: String

    init(time: (String) -> String) {
        batch = "id, file, sha256, deployment, account_user, " + time("created")
        board =
            "id, batch, line, name, address, state, attempt, station, node_id, mac, step, step_state, failure_code, "
            + "failure_reason, failure_message, failure_remedy, \(time("started")), \(time("ended"))"
        step = "attempt, station, step, state, " + time("time")
    }
}

extension LedgerRow {
    var batch: Batch? {
        guard let id = integer(0), let file = text(1), let sha256 = text(2), let deployment = text(3),
            let user = text(4), let created = time(5)
        else { return nil }
        return Batch(id: id, file: file, sha256: sha256, deployment: deployment, user: user, created: created)
    }

    var board: LedgerBoard? {
        guard let id = integer(0), let batch = integer(1), let line = integer(2), let name = text(3),
            let address = text(4), let state = text(5).flatMap(LedgerBoard.State.init), let attempt = integer(6)
        else { return nil }
        var board = LedgerBoard(
            id: id, batch: batch, line: Int(line), name: name, address: address, state: state, attempt: Int(attempt))
        board.station = text(7)
        board.nodeID = text(8)
        board.mac = text(9)
        board.step = text(10)
        board.stepState = text(11).flatMap(LedgerStep.State.init)
        if let code = integer(12) {
            board.failure = LedgerFailure(
                code: Int(code), reason: text(13) ?? "", message: text(14) ?? "", remedy: text(15) ?? "")
        }
        board.started = time(16)
        board.ended = time(17)
        return board
    }

    var step: LedgerStep? {
        guard let attempt = integer(0), let station = text(1), let step = text(2),
            let state = text(3).flatMap(LedgerStep.State.init), let time = time(4)
        else { return nil }
        return LedgerStep(attempt: Int(attempt), station: station, step: step, state: state, time: time)
    }

    private func time(_ column: Int) -> UnixTime? { text(column).flatMap(LedgerTime.time) }
}

extension LedgerChange {
    /// The change as a row of the table `steps`, and what it does to its board.
    struct Columns {
        /// The column `event`.
        var event: String
        var step: String?
        var stepState: LedgerStep.State?
        var nodeID: String?
        var mac: String?
        var failure: LedgerFailure?
        /// The board's next state, if the change ends the lease.
        var verdict: LedgerBoard.State?
    }

    var columns: Columns {
        switch event {
        case .step(let step, let state):
            Columns(event: "step", step: step.withoutNUL, stepState: state)
        case .identified(let nodeID, let mac):
            Columns(event: "identified", nodeID: nodeID?.withoutNUL, mac: mac?.withoutNUL)
        case .done(let nodeID):
            Columns(event: "done", nodeID: nodeID?.withoutNUL, verdict: .done)
        case .failed(let failure):
            Columns(event: "failed", failure: failure, verdict: .failed)
        case .released:
            Columns(event: "released", verdict: .waiting)
        }
    }
}

extension Duration {
    /// For the end of a session. An endless one lasts for 100 years.
    var ledgerSeconds: Double {
        let seconds = Double(components.seconds) + Double(components.attoseconds) / 1e18
        return min(max(seconds, 0), 100 * 365.25 * 86_400)
    }
}

/// What only one session may use at a time: the address of a board, without the adapter that reaches it.
struct LedgerPlace {
    let text: String

    init(_ address: String) {
        text = address.hasPrefix("ble:") ? String(address.prefix { $0 != "?" }) : address
    }

    /// Whether the same address means another place on another machine: a serial port, or a machine's own Wi-Fi.
    var isLocal: Bool { text.hasPrefix("serial:") || text == "softap:" }

    /// The same as an SQL expression about a column.
    static func isLocal(_ column: String) -> String { "(\(column) like 'serial:%' or \(column) = 'softap:')" }
}
