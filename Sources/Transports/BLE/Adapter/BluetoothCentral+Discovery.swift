// SPDX-License-Identifier: Apache-2.0

/// Looking for boards.
extension BluetoothCentral {
    /// Scans, and hands over each board that fits as soon as it is heard, once, until `found` answers false or the time is over.
    ///
    /// It goes on after an outage of up to five seconds: of the adapter, of BlueZ, of a scan that BlueZ does not begin, of D-Bus itself,
    /// for which it opens another connection. A longer outage is an error.
    ///
    /// - Parameter includesConnected: whether boards that a program on this machine is connected to are reported as well, though they do
    ///   not advertise.
    /// - Throws: a problem with this machine's Bluetooth (``BluetoothError/isOfThisMachine``), also where that comes about meanwhile, unless it is over
    ///   within seconds; `connectionFailed` where BlueZ does not scan; `radioLost` where time was over before it was clear whether the bus
    ///   comes back; `cancelled`. Hearing nothing is no error.
    public func discover(
        _ filter: BoardFilter, for time: Duration, includesConnected: Bool = true,
        found: @Sendable (DiscoveredBoard) async -> Bool
    ) async throws(BluetoothError) {
        let end = ContinuousClock.now + time
        var heard: Set<String> = []
        try await withAdapter(until: end) { (adapter) async throws(BluetoothError) in
            try await adapter.discover(
                filter, until: end, except: &heard, where: { includesConnected || !$0.isConnected }, found: found)
        }
    }
}
