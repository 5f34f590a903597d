// SPDX-License-Identifier: Apache-2.0

/// What to do when Bluetooth is lost during a scan. A value, so that the policy can be read and tested by itself.
///
/// A restart of BlueZ, or an adapter that is switched on again, is waited for. A longer outage is reported, because otherwise it would look
/// as if no board were in reach.
struct AdapterLoss {
    /// BlueZ is back a second or two after a restart; an adapter may have its firmware to load.
    static let patience = Duration.seconds(5)

    /// The problem at the moment; nil for none.
    private(set) var error: BluetoothError?
    private var end: ContinuousClock.Instant?

    mutating func note(_ error: BluetoothError?, now: ContinuousClock.Instant = .now) {
        self.error = error
        end = error == nil ? nil : end ?? now + Self.patience
    }

    /// How much of the time may be waited.
    func left(of limit: Duration, now: ContinuousClock.Instant = .now) -> Duration {
        end.map { max(.zero, min(limit, $0 - now)) } ?? limit
    }
}
