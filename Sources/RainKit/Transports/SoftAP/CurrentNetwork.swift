// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainDBus
import RainIO

extension RainKitClient {
    /// How long NetworkManager may take, because a person waits for a question.
    private static let limitForCurrentNetwork = Duration.seconds(2)

    /// Returns the name of the Wi-Fi network that this machine is on, which a new board most likely joins as well. Returns nil if it is on no
    /// network, or on a board's own, and if NetworkManager does not run or does not answer within 2 s.
    public func currentNetwork(bus: DBusAddress = .system) async -> SSID? {
        let timer = configuration.tools.timer
        let found = await withDeadline(Self.limitForCurrentNetwork, sleep: { try await timer.sleep(for: $0) }) {
            () async throws(NetworkManagerError) -> SSID? in
            let manager = try await NetworkManagerClient.open(bus: bus)
            defer { manager.close() }
            for device in try await manager.devices() {
                guard let network = try await manager.currentNetwork(device),
                    !network.ssid.starts(with: Array(BoardNetworkSearch.prefix.utf8))
                else { continue }
                return SSID(network.ssid)
            }
            return nil
        }
        return try? found?.get()
    }
}
