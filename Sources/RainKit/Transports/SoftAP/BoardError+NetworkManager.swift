// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainDBus

extension BoardError {
    /// Converts an error of NetworkManager.
    init(_ error: NetworkManagerError) {
        switch error.code {
        case .cancelled: self.init(.cancelled, message: error.message)
        case .passwordNeeded, .wrongPassword:
            self.init(
                .unavailable,
                message: "\(error.message) Use the password of the board's own network, which is on its label.",
                reason: error.reason, remedies: [.accessPointPassword])
        default: self.init(.unavailable, message: error.message, reason: error.reason)
        }
    }
}

extension BoardError {
    /// Whether this machine has no Wi-Fi, or none that a program can use.
    var isForWantOfWiFi: Bool { ["no_network_manager", "no_wifi_adapter", "wifi_off"].contains(reason) }
}

extension NetworkManagerError {
    /// The reason for programs: one for each kind.
    fileprivate var reason: String {
        switch code {
        case .noBus, .notRunning, .tooOld: "no_network_manager"
        case .noWiFi: "no_wifi_adapter"
        case .switchedOff: "wifi_off"
        case .notFound: "not_found"
        case .passwordNeeded: "network_password_needed"
        case .wrongPassword: "network_password_wrong"
        case .noAddress: "no_address"
        case .accessDenied: "access_denied"
        case .timeout: "network_timeout"
        default: "network_failed"
        }
    }

    /// Whether the user can join the network although this program cannot.
    var leavesJoiningToUser: Bool { [.noBus, .notRunning, .tooOld, .noWiFi, .accessDenied].contains(code) }
}
