// SPDX-License-Identifier: Apache-2.0
import RainCore

extension WiFiNetwork {
    /// One sentence about what may be wrong with the passphrase, for the error of a board that could not join; nil if nothing looks wrong.
    public var remark: String? {
        passphrase.isEmpty
            ? "The board tried the network without a password, as an open one: give its password if it has one."
            : passphrase.remark(as: "Wi-Fi password")
    }
}

extension SSID {
    /// One sentence about something in the name that may not have been meant, such as a blank at its end; nil if nothing looks wrong.
    /// A name in another encoding than UTF-8 was given as bytes.
    var remark: String? {
        String(validating: bytes, as: UTF8.self) == nil ? nil : Secret(bytes).remark(as: "network name")
    }
}

extension ProvisioningError {
    /// The board's verdict on a network whose name it does not hear.
    package static func notHeard(_ ssid: SSID?) -> ProvisioningError {
        let network = ssid.map { "the network \"\($0)\"" } ?? "that network"
        return ProvisioningError(
            .wifiNetworkNotFound,
            message: "The board does not hear \(network): check the name, and that it is on 2.4 GHz and in reach.")
    }

    /// The same verdict with what may be wrong with the network that the board was given: with its name where the board does not hear it,
    /// otherwise with its passphrase.
    package func remarking(on network: WiFiNetwork?) -> ProvisioningError {
        guard let network else { return self }
        var error = self
        if code == .wifiNetworkNotFound {
            error.message = message.because(of: network.ssid.remark)
        } else if network.passphrase.isEmpty {
            if let remark = network.remark { error.message += " \(remark)" }
        } else {
            error.message = message.because(of: network.remark)
        }
        return error
    }

    /// The cause of a board's failure to join, by what it hears of the network; this error where that explains nothing.
    package func explained(by heard: [AccessPoint], joining network: WiFiNetwork) -> ProvisioningError {
        let protections = heard.filter { $0.ssid == network.ssid }.map(\.protection)
        guard !protections.isEmpty else { return self }
        if protections.allSatisfy(\.isEnterprise) {
            return ProvisioningError(
                .wifiAuthenticationFailed,
                message:
                    "The network \"\(network.ssid)\" is an enterprise network, which asks for a user name or a certificate; boards join with a "
                    + "password alone. Choose another network.", cause: message, reason: "enterprise_network")
        }
        if network.passphrase.isEmpty, !protections.contains(where: \.isOpen) {
            return ProvisioningError(
                .wifiAuthenticationFailed,
                message: "The network \"\(network.ssid)\" has a password, and the board was given none.",
                cause: message,
                reason: "password_missing", remedies: [.networkPassword])
        }
        if !network.passphrase.isEmpty, protections.allSatisfy(\.isOpen) {
            return ProvisioningError(
                .wifiAuthenticationFailed,
                message: "The network \"\(network.ssid)\" has no password, and the board was given one.",
                cause: message,
                reason: "network_is_open", remedies: [.openNetwork])
        }
        return self
    }
}
