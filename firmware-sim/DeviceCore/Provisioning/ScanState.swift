// SPDX-License-Identifier: Apache-2.0

/// One scan, running or done.
struct ScanState: Sendable {
    static let lastChannel: UInt32 = 13
    /// The radio goes back to its own channel for so long between two groups, so that the access point is not lost.
    static let pause: UInt64 = 120

    var isRunning = false
    /// 0: all channels at once.
    var groupChannels: UInt32 = 0
    var channel: UInt32 = 0
    var channelDelay: UInt64 = 0
    /// When the driver reports the end of this step.
    var due: UInt64?
    /// Strongest first.
    var results: [SimulatedAccessPoint] = []

    /// Merges what one step of the scan found, as `update_wifi_scan_results` does: the new networks are all kept, and where that makes too
    /// many, the weakest of the earlier channels are dropped, even if they are stronger than the new ones.
    ///
    /// - Parameter limit: `MAX_SCAN_RESULTS`.
    mutating func add(_ found: [SimulatedAccessPoint], limit: Int) {
        // The driver sorts them.
        let new = SimulatedAccessPoint.strongestFirst(found).prefix(limit)
        results = Array(results.prefix(limit - new.count))
        for accessPoint in new.reversed() {
            // Before an earlier one of the same strength.
            let place = results.firstIndex { $0.rssi <= accessPoint.rssi } ?? results.count
            results.insert(accessPoint, at: place)
        }
    }
}
