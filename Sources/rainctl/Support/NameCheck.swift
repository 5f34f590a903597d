// SPDX-License-Identifier: Apache-2.0
import RainKit

/// Whether boards are still found by the names that they are to have.
struct NameCheck {
    let client: RainKitClient
    let output: Output

    /// Refuses a name that is another board's node id (`name_taken`): who gives it would reach the other board. One that another board is
    /// called by, as boards of one firmware are from the start, is a warning.
    func check(_ names: [NodeID: String]) async throws {
        guard !names.isEmpty else { return }
        var others: [String: NodeID] = [:]
        var owner: NodeID?
        try await client.eachNode { other in
            let called = (names[other.id] ?? other.displayName)?.lowercased()
            for (id, name) in names where id != other.id {
                if other.id.rawValue == name { owner = other.id }
                if called == name.lowercased() { others[name] = other.id }
            }
        }
        if let owner {
            throw CommandFailure(
                .badData, reason: "name_taken",
                message: """
                    \(owner.rawValue.onOneLine) is the node id of another board, which would be meant by this name: give another one. \
                    Nothing was changed.
                    """)
        }
        for (name, other) in others.sorted(by: { $0.key < $1.key }) {
            output.warn(
                "\(other.rawValue.onOneLine) is called \(name.onOneLine), too: only their node ids tell them apart.",
                reason: "name_taken")
        }
    }
}
