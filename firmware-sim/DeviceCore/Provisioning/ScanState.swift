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

    /// - Parameter limit: `MAX_SCAN_RESULTS`: more are not kept.
    mutating func add(_ found: [SimulatedAccessPoint], limit: Int) {
        for accessPoint in found {
            let place = results.firstIndex { $0.rssi < accessPoint.rssi } ?? results.count
            results.insert(accessPoint, at: place)
        }
        if results.count > limit { results.removeLast(results.count - limit) }
    }
}
