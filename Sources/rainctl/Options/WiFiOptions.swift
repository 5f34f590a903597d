// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit
import RainCore

/// The network that a board is to join.
struct WiFiOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The network's name; without it the board is asked what it hears.", valueName: "name"))
    var ssid: String?

    @Option(help: ArgumentHelp("The network's name as hex digits, for names that are not text.", valueName: "digits"))
    var ssidHex: String?

    @Option(
        help: ArgumentHelp("The Wi-Fi password (seen by other users: prefer --passphrase-file).", valueName: "password")
    )
    var passphrase: String?

    @Option(help: ArgumentHelp("Read the Wi-Fi password from a file.", valueName: "file"), completion: .file())
    var passphraseFile: String?

    @Flag(help: "Read the Wi-Fi password from standard input.")
    var passphraseStdin = false

    @Flag(help: "The network has no password.")
    var open = false

    @Flag(help: "Leave the board's Wi-Fi alone.")
    var noWifi = false

    /// Whether any network is spoken of.
    var isGiven: Bool {
        ssid != nil || ssidHex != nil || passphrase != nil || passphraseFile != nil || passphraseStdin || open
    }

    func validate() throws {
        if ssid != nil, ssidHex != nil { throw ValidationError("Give --ssid or --ssid-hex, not both.") }
        let hasPassphrase = passphrase != nil || passphraseFile != nil || passphraseStdin
        if open, hasPassphrase {
            throw ValidationError("An open network has no password: drop --open or the password.")
        }
        if noWifi, isGiven {
            throw ValidationError("--no-wifi leaves the Wi-Fi alone, so no network can be given.")
        }
    }

    /// The name given, if any.
    func name() throws(CommandFailure) -> SSID? {
        if let ssid { return SSID(ssid) }
        guard let ssidHex else { return nil }
        let digits = ssidHex.compactMap(\.hexDigitValue)
        guard digits.count == ssidHex.count, digits.count.isMultiple(of: 2) else {
            throw CommandFailure(.usage, message: "--ssid-hex takes pairs of hex digits.")
        }
        return SSID(stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }

    func passphraseSource(within time: TimeBudget) -> SecretSource {
        SecretSource(
            name: "Wi-Fi password", flag: "--passphrase", value: passphrase, file: passphraseFile,
            fromStandardInput: passphraseStdin, environmentVariable: .passphrase,
            ifThereIsNone: "For a network without a password there is --open.", time: time)
    }
}
