// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore

/// The boards that a search has heard so far, and which one is meant.
struct BoardsHeard {
    /// What the board is called by the user; nil where the only one is meant.
    let wanted: String?
    /// Those that may be meant, in the order of their coming.
    private(set) var candidates: [AnnouncedBoard] = []

    init(wanted: String?) { self.wanted = wanted }

    /// - Returns: whether it is new, and may be meant.
    mutating func take(_ board: AnnouncedBoard) -> Bool {
        guard wanted.map({ board.answers(to: $0) }) ?? true, !candidates.contains(where: { board.isSame(as: $0) })
        else {
            return false
        }
        candidates.append(board)
        return true
    }

    /// The board of that very node id: no other has it, so nothing else is waited for.
    var unmistakable: AnnouncedBoard? {
        guard let wanted else { return nil }
        return candidates.first { $0.nodeID?.lowercased() == wanted.lowercased() }
    }

    /// The one board that is meant. Throws `unavailable` where none is there, and `invalidArgument` with the choices where there are several.
    func choice() throws(ProvisioningError) -> AnnouncedBoard {
        if let unmistakable { return unmistakable }
        guard let first = candidates.first else {
            let name = wanted.map { " \($0)" } ?? ""
            throw ProvisioningError(
                .unavailable,
                message:
                    "No board\(name) announces itself on this machine's network: check that it is powered, on this network, and not in an "
                    + "account already.", reason: "not_found", remedies: [.boardName([]), .host])
        }
        guard candidates.count == 1 else {
            // "Lamp #2" names one; "Lamp" may be meant for any of them.
            if let wanted, wanted.contains("#"), let exact = candidates.first(where: { $0.isNamed(exactly: wanted) }) {
                return exact
            }
            throw ProvisioningError(
                .invalidArgument,
                message: wanted.map { "Several boards on the network are called \($0)." }
                    ?? "Several boards announce themselves on the network.", reason: "several_boards",
                remedies: [.boardName(candidates.map(\.label).sorted())])
        }
        return first
    }
}
