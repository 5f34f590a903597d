// SPDX-License-Identifier: Apache-2.0

/// An adapter that fails while it is in use.
extension SimulatedBlueZ {
    /// - Parameter board: the board whose link was the last before the failure, for the journal.
    mutating func fail(_ kind: RadioFaults.AdapterFailure, board: Int, now: UInt64) {
        effects.append(.fault(board: board, "adapter \(kind.rawValue)"))
        switch kind {
        case .off: setPowered(false, now: now)
        case .broken:
            isBroken = true
            for index in devices.indices { dropLink(index, "adapter broken", now: now) }
        case .removed:
            // The tree loses the boards before the adapter.
            for index in devices.indices where devices[index].isKnown { remove(index, now: now) }
            discovery.stopAll()
            discoveryStopped()
            removed(.adapter)
            isPresent = false
        }
    }

    /// Handles that the board's only link begins or ends at another adapter: meanwhile the board does not advertise.
    mutating func setElsewhere(_ index: Int, _ isElsewhere: Bool, now: UInt64) {
        devices[index].isElsewhere = isElsewhere
        if !isElsewhere { expectSighting(index, now: now) }
    }
}
