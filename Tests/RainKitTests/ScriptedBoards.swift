// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainKit

/// A transport that finds the given boards, or fails.
struct ScriptedBoards: BoardTransport {
    let scheme: String
    var names: [String] = []
    var failure: BoardError?
    /// Whether it continues to search after it has found all its boards.
    var keepsLooking = false
    /// It fails only once this has ended.
    var failsAfter: AsyncStream<Void>?
    var canDiscover: Bool { true }

    func discover(
        _ search: BoardSearch, found: @Sendable (FoundBoard) async -> Bool
    ) async throws(BoardError) {
        for name in names {
            guard await found(FoundBoard(BoardAddress(scheme: scheme, location: name), name: name)) else { return }
        }
        if let failsAfter { for await _ in failsAfter {} }
        if let failure { throw failure }
        guard keepsLooking else { return }
        do {
            try await Task.sleep(for: .seconds(3600))
        } catch {
            throw BoardError(.cancelled, message: "Cancelled.")
        }
    }

    func board(at address: BoardAddress, _ opening: BoardOpening) async throws(BoardError) -> any Board {
        throw BoardError(.unavailable, message: "Nothing is behind it.")
    }
}
