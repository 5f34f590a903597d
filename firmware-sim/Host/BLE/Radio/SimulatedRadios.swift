// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// A simulated bluetoothd with several adapters in range of the same boards.
///
/// Each adapter is a ``SimulatedBlueZ`` with its own devices, links and faults. A board has at most one link, and does not advertise while it
/// has one.
struct SimulatedRadios: Sendable {
    private(set) var adapters: [SimulatedBlueZ]
    /// The adapter of each board's link.
    private var owners: [Int?]
    private var effects: [RadioEffect] = []

    /// - Parameter faults: one for each adapter; at least one.
    init(
        boards: [(address: String, name: String, application: GATTApplication)], faults: [RadioFaults], seed: UInt64
    ) {
        adapters = faults.enumerated().map { number, faults in
            SimulatedBlueZ(boards: boards, faults: faults, seed: seed &+ UInt64(number), adapter: number)
        }
        owners = Array(repeating: nil, count: boards.count)
        nameOthers()
    }

    var nextDue: UInt64? { adapters.compactMap(\.nextDue).min() }

    mutating func advance(to now: UInt64) {
        for number in adapters.indices { change(number, now) { $0.advance(to: now) } }
    }

    /// Returns the effects to carry out now, in order.
    mutating func takeEffects() -> [RadioEffect] {
        defer { effects = [] }
        return effects
    }

    mutating func receive(_ call: RadioCall, now: UInt64) {
        advance(to: now)
        if let number = adapters.firstIndex(where: { call.path == $0.adapter.path || isBelow(call.path, $0) }) {
            return change(number, now) { $0.receive(call, now: now) }
        }
        if call.member == "GetManagedObjects", adapters.count > 1 {
            // The paths of all adapters, without the second and later `/org/bluez`.
            let entries =
                adapters[0].managedEntries() + adapters.dropFirst().flatMap { $0.managedEntries().dropFirst() }
            effects.append(.reply(call, [.dictionary(entries, key: "o", value: "a{sa{sv}}")]))
            return
        }
        // Agents belong to the whole daemon.
        for number in adapters.indices {
            change(number, now, answers: number == 0) { $0.receive(call, now: now) }
        }
    }

    mutating func senderVanished(_ sender: String, now: UInt64) {
        for number in adapters.indices { change(number, now) { $0.senderVanished(sender, now: now) } }
    }

    // MARK: Boards

    mutating func setServing(_ board: Int, _ isServing: Bool, now: UInt64) {
        for number in adapters.indices { change(number, now) { $0.setServing(board, isServing, now: now) } }
    }

    mutating func dropLink(_ board: Int, _ reason: String, now: UInt64) {
        for number in adapters.indices { change(number, now) { $0.dropLink(board, reason, now: now) } }
    }

    mutating func wrote(_ board: Int, outcome: GATTWriteOutcome, now: UInt64) {
        atOwner(of: board, now) { $0.wrote(board, outcome: outcome, now: now) }
    }

    mutating func didRead(_ board: Int, result: Result<[UInt8], ATTError>, now: UInt64) {
        atOwner(of: board, now) { $0.didRead(board, result: result, now: now) }
    }

    mutating func agentAnswered(_ board: Int, attempt: UInt64, agrees: Bool, now: UInt64) {
        atOwner(of: board, now) { $0.agentAnswered(board, attempt: attempt, agrees: agrees, now: now) }
    }

    private mutating func atOwner(of board: Int, _ now: UInt64, _ body: (inout SimulatedBlueZ) -> Void) {
        guard let owner = owners[board] else { return }
        change(owner, now, body)
    }

    // MARK: Changes

    private func isBelow(_ path: String, _ radio: SimulatedBlueZ) -> Bool { path.hasPrefix(radio.adapter.path + "/") }

    /// Changes one adapter, and tells the others what they must know about the boards.
    private mutating func change(
        _ number: Int, _ now: UInt64, answers: Bool = true, _ body: (inout SimulatedBlueZ) -> Void
    ) {
        let wasPresent = adapters[number].isPresent
        body(&adapters[number])
        for effect in adapters[number].takeEffects() {
            switch effect {
            case .reply, .error: if answers { effects.append(effect) }
            case .linkUp(let board):
                owners[board] = number
                setElsewhere(board, true, except: number, now)
                effects.append(effect)
            case .linkDown(let board, _):
                owners[board] = nil
                setElsewhere(board, false, except: number, now)
                effects.append(effect)
            case .restart(let board):
                // The board's new address.
                for other in adapters.indices where other != number { adapters[other].follow(board, now: now) }
                for other in adapters.indices where other != number { effects += adapters[other].takeEffects() }
                effects.append(effect)
            default: effects.append(effect)
            }
        }
        if wasPresent != adapters[number].isPresent { nameOthers() }
    }

    private mutating func setElsewhere(_ board: Int, _ isElsewhere: Bool, except number: Int, _ now: UInt64) {
        for other in adapters.indices where other != number {
            adapters[other].setElsewhere(board, isElsewhere, now: now)
        }
    }

    private mutating func nameOthers() {
        adapters[0].others = adapters.dropFirst().filter(\.isPresent).map {
            String($0.adapter.path.split(separator: "/")[2])
        }
    }
}
