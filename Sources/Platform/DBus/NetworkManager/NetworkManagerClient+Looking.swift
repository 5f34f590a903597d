// SPDX-License-Identifier: Apache-2.0

/// Looking for networks.
extension NetworkManagerClient {
    /// A network together with the device that hears it.
    public struct Sighting: Sendable {
        /// The device that hears it best.
        public var device: WiFiDevice
        /// The network.
        public var network: HeardNetwork
    }

    /// Scans for so long, and hands over all networks that are heard each time they change, until `body` answers false.
    ///
    /// - Throws: `noWiFi`, `switchedOff`, and what calls throw; `cancelled`.
    public func look(
        for limit: Duration, _ body: @Sendable ([Sighting]) async throws(NetworkManagerError) -> Bool
    ) async throws(NetworkManagerError) {
        let end = ContinuousClock.now + limit
        var nextScan = ContinuousClock.now
        while true {
            let known = feed.changes
            let devices = try await devices()
            guard devices.contains(where: \.isReady) else {
                throw NetworkManagerError(.switchedOff, message: "Wi-Fi is switched off on this machine.")
            }
            if ContinuousClock.now >= nextScan {
                for device in devices where device.isReady { try await scan(device) }
                nextScan = ContinuousClock.now + Self.betweenScans
            }
            var heard: [Sighting] = []
            for device in devices where device.isReady {
                heard += try await networks(device).map { Sighting(device: device, network: $0) }
            }
            guard try await body(heard) else { return }
            let left = end - ContinuousClock.now
            guard left > .zero else { return }
            await feed.change(after: known, within: min(left, Self.interval))
            // Signals come in bursts, and each look is some dozen calls.
            if left > Self.burst { try? await Task.sleep(for: Self.burst) }
            if Task.isCancelled { throw .cancelled }
        }
    }

    /// NetworkManager itself keeps scans of the same caller apart by ten seconds at most; a refused one costs nothing.
    private static let betweenScans = Duration.seconds(4)
    private static let burst = Duration.milliseconds(100)
}
