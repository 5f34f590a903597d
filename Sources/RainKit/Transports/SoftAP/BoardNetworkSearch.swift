// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainDBus
import Synchronization

/// Looks for the network of a board.
struct BoardNetworkSearch: Sendable {
    /// The board's name; nil for the only board in reach.
    let name: String?
    let foundBy: ContinuousClock.Instant

    /// What boards call their networks, unless their firmware was changed (RainMaker's `app_network`).
    static let prefix = "PROV_"
    /// Once one is heard, others get a moment to be heard as well.
    private static let others = Duration.seconds(3)

    func find(_ manager: NetworkManagerClient) async throws(ProvisioningError) -> NetworkManagerClient.Sighting {
        var heard: [NetworkManagerClient.Sighting] = []
        do throws(NetworkManagerError) {
            heard = try await look(manager, for: max(.milliseconds(500), foundBy - ContinuousClock.now)) {
                !$0.isEmpty
            }
            if name == nil, !heard.isEmpty { heard = try await look(manager, for: Self.others) { _ in false } }
        } catch {
            throw ProvisioningError(error)
        }
        guard let first = heard.first else {
            let what = name.map { "No Wi-Fi network \($0) is heard" } ?? "No Wi-Fi network of a board is heard"
            throw ProvisioningError(
                .unavailable, message: "\(what): check that the board is powered, near, and in provisioning mode.",
                reason: "not_found", remedies: name == nil ? [.boardName([])] : [])
        }
        let names = Set(heard.map(\.network.name))
        guard names.count == 1 else {
            throw ProvisioningError(
                .invalidArgument, message: "The networks of several boards are heard.", reason: "several_boards",
                remedies: [.boardName(names.sorted())])
        }
        return first
    }

    /// What is heard of boards, strongest first, as of when it is enough or the time is over.
    private func look(
        _ manager: NetworkManagerClient, for limit: Duration,
        until isEnough: @escaping @Sendable ([NetworkManagerClient.Sighting]) -> Bool
    ) async throws(NetworkManagerError) -> [NetworkManagerClient.Sighting] {
        let latest = Mutex<[NetworkManagerClient.Sighting]>([])
        try await manager.look(for: limit) { (all) throws(NetworkManagerError) in
            let boards = all.filter { isMeant($0.network) }.sorted { $0.network.strength > $1.network.strength }
            latest.withLock { $0 = boards }
            return !isEnough(boards)
        }
        return latest.withLock { $0 }
    }

    private func isMeant(_ network: HeardNetwork) -> Bool {
        if let name { return network.ssid == Array(name.utf8) }
        return network.ssid.starts(with: Array(Self.prefix.utf8))
    }
}
