// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// What to do about a connection that did not come about. A value, so that the policy can be read and tested by itself.
enum ConnectFailure: Equatable {
    /// The device left BlueZ's tree meanwhile: it must be heard again first.
    case rescan
    /// The radio lost the attempt: the same once more.
    case again
    /// This machine's Bluetooth says that it is not ready, which passes where BlueZ or the adapter has just come back.
    case passing(BluetoothError)
    /// No attempt through this adapter can mend it.
    case machine(BluetoothError)
    case cancelled

    /// - Parameter adapter: its path.
    init(_ error: DBusError, adapter: String) {
        switch (error.code, error.name) {
        case (.cancelled, _): self = .cancelled
        case (_, DBusErrorName.unknownObject), (_, DBusErrorName.unknownMethod), (_, BlueZErrorName.doesNotExist),
            (_, BlueZErrorName.notAvailable):
            self = .rescan
        default:
            let meaning = BluetoothError(adapter: adapter, error)
            switch meaning.code {
            case .poweredOff, .noBlueZ, .noAdapter: self = .passing(meaning)
            // le-connection-abort-by-local, Software caused connection abort, timeouts: all of these come and go.
            case .connectionFailed: self = .again
            default: self = .machine(meaning)
            }
        }
    }
}
