// SPDX-License-Identifier: Apache-2.0
import RainDBus

/// What errors over D-Bus mean for Bluetooth.
extension BluetoothError {
    /// Where BlueZ was to be reached.
    init(opening error: DBusError) {
        switch error.code {
        case .cancelled: self = .cancelled
        case .accessDenied: self = .accessDenied(error.message)
        case .remote where error.name == DBusErrorName.accessDenied: self = .accessDenied(error.message)
        case .remote: self = .noBlueZ(error.message)
        case .timeout where !error.message.contains(" at "): self = .noBlueZ("it does not answer")
        default:
            self.init(
                .noBus,
                message:
                    "\(error.message) Bluetooth needs the system's D-Bus: install it (apt install dbus) and start it "
                    + "(sudo systemctl start dbus).")
        }
    }

    /// Where something was to be done with an adapter, or through it.
    init(adapter: String, _ error: DBusError) {
        switch (error.code, error.name) {
        case (.cancelled, _): self = .cancelled
        case (.disconnected, _): self = .busLost
        case (_, BlueZErrorName.notReady): self = AdapterChoice.off(adapter)
        case (_, BlueZErrorName.blocked): self = AdapterChoice.blocked
        case (_, DBusErrorName.accessDenied), (_, BlueZErrorName.notAuthorized), (_, BlueZErrorName.notPermitted):
            self = .accessDenied(error.message)
        case (_, DBusErrorName.unknownObject): self = AdapterChoice.gone(adapter)
        case (_, let name) where DBusErrorName.isAbsence(name): self = .noBlueZ(error.message)
        default:
            self.init(
                .connectionFailed,
                message:
                    "BlueZ could not use the adapter \(AdapterChoice.name(adapter)) (\(error.message)): restart it "
                    + "(sudo systemctl restart bluetooth), and run this again.")
        }
    }

    /// Where a scan was to begin.
    init(scanning adapter: String, _ error: DBusError) {
        self.init(adapter: adapter, error)
        guard code == .connectionFailed else { return }
        self.init(
            .scanFailed,
            message:
                "BlueZ does not begin to scan with the adapter \(AdapterChoice.name(adapter)) (\(error.message)), so no board "
                + "can be heard: end other scans (bluetoothctl scan off), or restart it (sudo systemctl restart bluetooth), and "
                + "run this again.")
    }

    /// The bus was there, and is not any longer, or threw this connection out.
    static let busLost = BluetoothError(
        .radioLost,
        message: "The connection to D-Bus broke, and with it what went through it: run this again, and where that "
            + "fails see whether D-Bus runs (systemctl status dbus).")

    /// BlueZ came back, and what it has could not be read.
    static let unclear = BluetoothError(
        .radioLost, message: "BlueZ was restarted, and did not say what it has: run this again.")

    static func adapterMoved(_ path: String) -> BluetoothError {
        BluetoothError(
            .radioLost,
            message: "The Bluetooth adapter \(AdapterChoice.name(path)) went away and has another name now: run this "
                + "again, it is found by itself.")
    }
}
