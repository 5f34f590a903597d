// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ProtocommCore
import RainJSON

/// A board's GATT server: what both radios, the simulated one and a real adapter, put in front of a ``Board``.
///
/// The caller reports links, writes and reads, one at a time, in the order in which they come over the air.
final class GATTServer {
    let board: Board
    let application: GATTApplication
    let stack: GATTStack
    private var values: GATTValues
    private var session: UInt32?
    /// The characteristic whose handler occupies the board.
    private var busy: Int?

    init(board: Board, stack: GATTStack = .nimble, limit: Int? = nil) {
        self.board = board
        self.stack = stack
        application = GATTApplication(endpoints: board.core.configuration.endpoints)
        values = GATTValues(stack: stack, limit: limit)
    }

    /// Whether the board advertises and can be connected to; false once provisioning has stopped.
    var isServing: Bool { board.core.isServing }

    /// Each link has a security session of its own.
    func connected() {
        let id = board.newSessionID()
        session = id
        values.clear()
        busy = nil
        board.journal.state("link_up")
        board.openSession(id)
    }

    func disconnected(_ reason: String) {
        guard session != nil else { return }
        session = nil
        values.clear()
        busy = nil
        board.journal.state("link_down", [.init("reason", .string(reason))])
    }

    func write(_ value: [UInt8], to characteristic: Int, offset: Int = 0) -> GATTWriteOutcome {
        guard let session, application.characteristics.indices.contains(characteristic), busy == nil else {
            return .refused(.unlikely, closesLink: false)
        }
        if let verdict = values.verdict(onWriting: value, offset: offset) {
            board.log(.debug, "ble", "\(application.characteristics[characteristic].endpoint): \(verdict)")
            return verdict
        }
        let endpoint = application.characteristics[characteristic].endpoint
        let answer = board.respond(to: value, on: endpoint, session: session, transport: "ble")
        if answer == .later { busy = characteristic }
        return values.take(answer, at: characteristic)
    }

    /// The outcome of the write that was answered with ``GATTWriteOutcome/later``, if it has come; to be asked for when the board was
    /// woken.
    func delayedOutcome() -> GATTWriteOutcome? {
        guard let characteristic = busy else { return nil }
        let endpoint = application.characteristics[characteristic].endpoint
        let answer = board.delayedAnswer(on: endpoint, transport: "ble")
        guard answer != .later else { return nil }
        busy = nil
        return values.take(answer, at: characteristic)
    }

    func read(_ characteristic: Int, offset: Int = 0) throws(ATTError) -> [UInt8] {
        guard session != nil, application.characteristics.indices.contains(characteristic) else { throw .unlikely }
        return try values.read(characteristic, offset: offset)
    }
}
