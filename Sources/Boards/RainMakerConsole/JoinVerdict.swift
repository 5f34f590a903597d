// SPDX-License-Identifier: Apache-2.0

/// Decides from the board's events how its attempt to join a network ends.
///
/// A lost connection for an "other" reason is not an end: firmware that counts its attempts says so at the last one, and
/// firmware that does not tries for ever. The application's own word may repeat the reason of an earlier failure
/// (`network_prov_mgr` keeps it), so the manager's number counts for more.
struct JoinVerdict: Sendable {
    enum Outcome: Sendable, Equatable {
        case joined(address: String)
        case authenticationFailed
        case networkNotFound
        /// For another reason of `wifi_err_reason_t`.
        case failed(reason: Int32)
        case restarted
        /// Settings that were given after all are refused by the manager.
        case refused(BoardEvent.Refusal)
        case retrying
    }

    private var lastReason: Int32?

    mutating func take(_ event: BoardEvent) -> Outcome? {
        switch event {
        case .gotAddress(let address): return .joined(address: address)
        case .authenticationFailed: return .authenticationFailed
        case .networkNotFound: return .networkNotFound
        case .disconnected(let reason):
            lastReason = reason
            return .retrying
        case .provisioningFailed(let reason):
            if let lastReason, !Self.explained.contains(lastReason) { return .failed(reason: lastReason) }
            return reason == .authentication ? .authenticationFailed : .networkNotFound
        case .settingsRefused(let refusal): return .refused(refusal)
        case .retrying: return .retrying
        case .restarted: return .restarted
        case .associated, .connectingToCloud, .unclaimed, .nodeID, .mappingStarted, .invalidUsage, .commandFailed,
            .lineDiscarded:
            return nil
        }
    }

    /// The reasons that the manager turns into a verdict: 4-way timeout, MIC failure, authentication, handshake, no AP.
    private static let explained: Set<Int32> = [14, 15, 201, 202, 204]
}
