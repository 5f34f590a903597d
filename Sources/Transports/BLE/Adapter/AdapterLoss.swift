// SPDX-License-Identifier: Apache-2.0

/// What to do when Bluetooth is lost during a scan. A value, so that the policy can be read and tested by itself.
///
/// A restart of BlueZ, or an adapter that is switched on again, is waited for. A longer outage is reported, because otherwise it would look
/// as if no board were in reach. A scan that BlueZ does not begin is waited for as long as there is time.
struct AdapterLoss {
    /// An adapter that is switched on again may have its firmware to load.
    static let patience = Duration.seconds(5)
    /// BlueZ that crashed is started by the next message to it, and then takes up its adapters; D-Bus names errors of the start meanwhile.
    static let restartPatience = Duration.seconds(15)

    /// The problem at the moment; nil for none.
    private(set) var error: BluetoothError?
    private var began: ContinuousClock.Instant?

    mutating func note(_ error: BluetoothError?, now: ContinuousClock.Instant = .now) {
        // A scan that does not begin is no outage yet.
        if error == nil || self.error == nil || self.error?.code == .scanFailed { began = now }
        self.error = error
    }

    /// How much of the time may be waited.
    func left(of limit: Duration, now: ContinuousClock.Instant = .now) -> Duration {
        guard let error, let began else { return limit }
        let patience: Duration
        switch error.code {
        // Another client's scan may keep the kernel from it for long.
        case .scanFailed: return limit
        case .noBlueZ: patience = Self.restartPatience
        default: patience = Self.patience
        }
        return max(.zero, min(limit, began + patience - now))
    }
}
