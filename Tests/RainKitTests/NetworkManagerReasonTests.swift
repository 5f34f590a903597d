// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainDBus
import Testing

@testable import RainKit

@Suite("Reasons why a board's own network cannot be joined")
struct NetworkManagerReasonTests {
    static let reasons: [(NetworkManagerError.Code, String)] = [
        (.noBus, "no_network_manager"), (.notRunning, "no_network_manager"), (.tooOld, "no_network_manager"),
        (.noWiFi, "no_wifi_adapter"), (.switchedOff, "wifi_off"), (.notFound, "not_found"),
        (.passwordNeeded, "network_password_needed"), (.wrongPassword, "network_password_wrong"),
        (.noAddress, "no_address"), (.accessDenied, "access_denied"), (.timeout, "network_timeout"),
        (.failed, "network_failed"),
    ]

    @Test("each NetworkManager error has its own reason, and none of them blames the board", arguments: reasons)
    func word(code: NetworkManagerError.Code, reason: String) {
        let error = BoardError(NetworkManagerError(code, message: "Said."))
        #expect(error.reason == reason && error.code == .unavailable)
    }
}
