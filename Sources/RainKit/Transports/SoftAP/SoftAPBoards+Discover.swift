// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainDBus
import Synchronization

extension SoftAPBoards {
    /// The networks in reach that are called as boards call theirs. Throws `unavailable` where NetworkManager does not run or has no Wi-Fi.
    public func discover(
        _ search: BoardSearch, found: @Sendable (FoundBoard) async -> Bool
    ) async throws(ProvisioningError) {
        // A network advertises no services.
        guard search.services.isEmpty else { return }
        let seen = Mutex<Set<[UInt8]>>([])
        do throws(NetworkManagerError) {
            let manager = try await NetworkManagerClient.open(bus: bus)
            defer { manager.close() }
            try await manager.look(for: search.time) { (all) throws(NetworkManagerError) in
                for sighting in all where search.means(sighting.network) {
                    guard seen.withLock({ $0.insert(sighting.network.ssid).inserted }) else { continue }
                    guard await found(FoundBoard(sighting.network)) else { return false }
                }
                return true
            }
        } catch {
            throw ProvisioningError(error)
        }
    }
}

extension BoardSearch {
    fileprivate func means(_ network: HeardNetwork) -> Bool {
        if let name { return network.ssid == Array(name.utf8) }
        return network.ssid.starts(with: Array((prefix ?? BoardNetworkSearch.prefix).utf8))
    }
}

extension FoundBoard {
    fileprivate init(_ network: HeardNetwork) {
        self.init(.softAP(name: network.name), name: network.name, signal: network.signal)
    }
}
