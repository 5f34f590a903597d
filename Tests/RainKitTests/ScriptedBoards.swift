// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainKit

/// A transport that finds what it is told to, or fails.
struct ScriptedBoards: BoardTransport {
    let scheme: String
    var names: [String] = []
    var failure: ProvisioningError?
    /// Whether it goes on looking when it has found all it has.
    var keepsLooking = false
    /// Fails only once this has ended.
    var failsAfter: AsyncStream<Void>?
    var canDiscover: Bool { true }

    func discover(
        _ search: BoardSearch, found: @Sendable (FoundBoard) async -> Bool
    ) async throws(ProvisioningError) {
        for name in names {
            guard await found(FoundBoard(BoardAddress(scheme: scheme, location: name), name: name)) else { return }
        }
        if let failsAfter { for await _ in failsAfter {} }
        if let failure { throw failure }
        guard keepsLooking else { return }
        do {
            try await Task.sleep(for: .seconds(3600))
        } catch {
            throw ProvisioningError(.cancelled, message: "Cancelled.")
        }
    }

    func board(at address: BoardAddress, _ opening: BoardOpening) async throws(ProvisioningError) -> any Board {
        throw ProvisioningError(.unavailable, message: "Nothing is behind it.")
    }
}
