// SPDX-License-Identifier: Apache-2.0
import Logging
import RainCore

/// Which boards have been claimed, by this run and earlier ones. What cannot be remembered costs a restart of the board, at worst.
struct ClaimMemory: Sendable {
    let store: any ClaimedBoardStore
    let logger: Logger

    func nodes() async -> [NodeID] { (try? await store.all()) ?? [] }

    func add(_ node: NodeID) async {
        do { try await store.save(node) } catch { note(error) }
    }

    func remove(_ node: NodeID) async {
        do { try await store.remove(node) } catch { note(error) }
    }

    private func note(_ error: RecordStoreError) {
        logger.debug("claim not remembered", metadata: ["cause": "\(error)"])
    }
}
