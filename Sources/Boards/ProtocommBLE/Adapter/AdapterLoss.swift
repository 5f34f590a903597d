// SPDX-License-Identifier: Apache-2.0

/// Bluetooth that went away while somebody listens. A value, so that the policy can be read and tested by itself.
///
/// A restart of BlueZ's and a switch that is flipped back are waited out; hearing nothing for any longer would pass for silence on the
/// air.
struct AdapterLoss {
    /// BlueZ is back a second or two after a restart; an adapter may have its firmware to load.
    static let patience = Duration.seconds(5)

    /// What is the matter now; nil for nothing.
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
