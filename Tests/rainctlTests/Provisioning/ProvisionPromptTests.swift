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
}
