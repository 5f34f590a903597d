// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainIO

/// A board that takes no commands on its cable, and that is asked nothing but what it is.
struct LogOnlyBoard: Board {
    let peer: String
    /// Where its log says that it is reached.
    let reachedAt: BoardAddress?
    let port: SerialPort

    func identify() async throws(ProvisioningError) -> BoardIdentity {
        var identity = BoardIdentity(association: .challengeResponse, needsClaim: nil)
        identity.takesCommands = false
        identity.reachedAt = reachedAt.map { "\($0)" }
        return identity
    }

    func secure() async throws(ProvisioningError) { throw takesNone }
    func scan() async throws(ProvisioningError) -> [AccessPoint] { throw takesNone }
    func associate(_ request: AssociationRequest) async throws(ProvisioningError) -> AssociationReply {
        throw takesNone
    }
    func join(_ network: WiFiNetwork) async throws(ProvisioningError) { throw takesNone }
    func watch(report: @Sendable (WiFiProgress) async -> Void) async throws(ProvisioningError) -> JoinedNetwork {
        throw takesNone
    }
    func reset() async throws(ProvisioningError) { throw takesNone }
    func close() async { await port.close() }

    private var takesNone: ProvisioningError {
        ProvisioningError(
            .unsupported, message: "The board at \(peer) only prints its log and takes no commands.",
            reason: "log_only",
            remedies: [.anyOtherTransport])
    }
}
