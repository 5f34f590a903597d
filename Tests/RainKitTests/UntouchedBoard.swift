// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainKit

/// A board that answers nothing, and records whether it was closed.
actor UntouchedBoard: Board {
    nonisolated let peer = "untouched"
    private(set) var isClosed = false

    private func nothing() -> ProvisioningError {
        ProvisioningError(.unavailable, message: "Nothing is behind it.")
    }

    func identify() throws(ProvisioningError) -> BoardIdentity { throw nothing() }
    func secure() throws(ProvisioningError) { throw nothing() }
    func scan() throws(ProvisioningError) -> [AccessPoint] { throw nothing() }
    func associate(_ request: AssociationRequest) throws(ProvisioningError) -> AssociationReply { throw nothing() }
    func join(_ network: WiFiNetwork) throws(ProvisioningError) { throw nothing() }
    func watch(report: @Sendable (WiFiProgress) async -> Void) async throws(ProvisioningError) -> JoinedNetwork {
        throw nothing()
    }
    func reset() throws(ProvisioningError) { throw nothing() }
    func close() { isClosed = true }
}
