// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainKit
import Testing

@testable import rainctl

/// What `provision` asks a person at a terminal.
@Suite("rainctl provision: at a terminal")
struct ProvisionPromptTests {
    @Test("a password of five bytes may be a WEP key, but not a WPA password")
    func shortPassword() throws {
        let (home, five) = (SSID("Home"), Secret("abcde"))
        _ = try WiFiNetwork(possible: home, passphrase: five)
        _ = try WiFiNetwork(possible: home, passphrase: five, protection: NetworkProtection(rawValue: 1))
        #expect(throws: BoardError.self) {
            try WiFiNetwork(possible: home, passphrase: five, protection: NetworkProtection(rawValue: 3))
        }
    }

    @Test(
        "only the searches that continue are named while a port is silent",
        arguments: [
            ([], "plug it in again."), (["ble"], "Meanwhile, the search continues over Bluetooth."),
            (["ble", "softap"], "continues over Bluetooth and for the board's own Wi-Fi network."),
        ] as [([String], String)])
    func silentPort(searches: [String], end: String) {
        let line = PortMessages.line(.needsRestart("/dev/ttyUSB0", isSilent: true, searches: searches))
        #expect(line.hasPrefix("Nothing has arrived from /dev/ttyUSB0: press RESET now") && line.hasSuffix(end))
    }

    @Test(
        "before the question for the proof of possession, its places are named; the log is one of them only on a cable")
    func proofPlaces() {
        let (near, onCable) = (ProofQuestion(screen: .shared), ProofQuestion(screen: .shared, isOnCable: true))
        for text in [near.explanation, onCable.explanation] {
            #expect(text.contains("label") && text.contains("QR code"))
        }
        #expect(onCable.explanation.contains("RESET") && !near.explanation.contains("RESET"))
    }
}
