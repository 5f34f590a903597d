// SPDX-License-Identifier: Apache-2.0

/// What errors over D-Bus mean for networks.
extension NetworkManagerError {
    init(_ error: DBusError) {
        switch (error.code, error.name) {
        case (.cancelled, _): self = .cancelled
        case (.timeout, _):
            self.init(.timeout, message: "NetworkManager does not answer.")
        case (.accessDenied, _), (_, DBusErrorName.accessDenied), (_, Self.permissionDenied):
            self.init(
                .accessDenied,
                message: "NetworkManager does not let this user change networks (\(error.message)).")
        case (.remote, let name) where DBusErrorName.isAbsence(name):
            self.init(.notRunning, message: "NetworkManager does not run on this machine.")
        case (.remote, DBusErrorName.unknownMethod):
            self.init(.tooOld, message: "This machine's NetworkManager is older than 1.16.")
        case (.remote, _): self.init(.failed, message: "NetworkManager refuses: \(error.message)")
        default: self.init(.noBus, message: error.message)
        }
    }

    /// NMManagerError (NetworkManager, src/libnm-core-public/nm-errors.h).
    static let permissionDenied = "org.freedesktop.NetworkManager.PermissionDenied"

    /// - Parameter reason: NMDeviceStateReason, with which the device fell into its state `FAILED`; nil where none was heard.
    init(failure reason: Int?, of network: String, isSecured: Bool) {
        switch reason {
        case 53:
            self.init(.notFound, message: "The Wi-Fi network \(network) is out of reach.")
        case let reason? where isSecured && (7...11).contains(reason):
            self.init(.wrongPassword, message: "The Wi-Fi network \(network) did not take the password.")
        case 5, 15, 16, 17:
            self.init(.noAddress, message: "The Wi-Fi network \(network) gave this machine no address.")
        default:
            let why = reason.map { " (device state reason \($0))" } ?? ""
            self.init(.failed, message: "NetworkManager did not get onto the Wi-Fi network \(network)\(why).")
        }
    }
}
