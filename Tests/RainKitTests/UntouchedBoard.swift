// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainKit

/// A board that answers nothing, and records whether it was closed.
actor UntouchedBoard: Board {
    nonisolated let peer = "untouched"
    private(set) var isClosed = false

    private func nothing() -> BoardError {
        BoardError(.unavailable, message: "Nothing is behind it.")
    }

    func identify() throws(BoardError) -> BoardIdentity { throw nothing() }
    func secure() throws(BoardError) { throw nothing() }
    func scan() throws(BoardError) -> [AccessPoint] { throw nothing() }
    func associate(_ request: AssociationRequest) throws(BoardError) -> AssociationReply { throw nothing() }
    func join(_ network: WiFiNetwork) throws(BoardError) { throw nothing() }
    func watch(report: @Sendable (WiFiProgress) async -> Void) async throws(BoardError) -> JoinedNetwork {
        throw nothing()
    }
    func reset() throws(BoardError) { throw nothing() }
    func close() { isClosed = true }
}
