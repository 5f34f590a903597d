// SPDX-License-Identifier: Apache-2.0
import RainCore

/// What a line of the board's console or log says that matters here. It never holds a line's text: the board prints the
/// mapping secret and the Wi-Fi passphrase in clear.
enum BoardEvent: Sendable, Equatable {
    /// The answer to `get-node-id`.
    case nodeID(NodeID)
    /// `add-user` has taken its arguments.
    case mappingStarted
    /// The command refused its arguments.
    case invalidUsage
    /// A command returned this `esp_err_t`.
    case commandFailed(Int32)
    /// The board dropped the line, as too long or incompletely received.
    case lineDiscarded
    /// The provisioning manager does not take Wi-Fi settings now.
    case settingsRefused(Refusal)
    /// The station lost or did not get its connection, for that reason of `wifi_err_reason_t`.
    case disconnected(reason: Int32)
    /// The provisioning manager's verdict.
    case authenticationFailed
    case networkNotFound
    /// The application's verdict, which repeats an earlier one where the manager has none.
    case provisioningFailed(FailureReason)
    /// The station has come to the network of that name, as far as the log can print it; it has no address yet.
    case associated([UInt8])
    /// The station has this IPv4 address.
    case gotAddress(String)
    /// Its MQTT client has this broker.
    case connectingToCloud(String)
    /// It is on Wi-Fi and has no certificate (`CONFIG_ESP_RMAKER_ASSISTED_CLAIM`): it stays away from the cloud.
    case unclaimed
    /// The board tries again by itself.
    case retrying
    /// The boot loader's first words: the board was reset.
    case restarted

    enum Refusal: Sendable, Equatable {
        /// Settings were given before and are being tried, or have failed.
        case alreadyGiven
        /// Provisioning is not running, or the radio failed.
        case notReady
    }

    enum FailureReason: Sendable, Equatable { case authentication, notFound }
}
