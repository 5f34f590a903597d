// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore
import RainKitTesting
import Testing

/// The causes that are named when a board could not join its network.
@Suite("What may be wrong with a Wi-Fi network")
struct WiFiRemarkTests {
    private static let verdict = BoardError(
        .wifiAuthenticationFailed, message: "The access point refused the board.")

    static let passphrases: [(passphrase: String, words: String?)] = [
        ("correct horse", nil), ("", "without a password"), (" correct horse", "begins with white space"),
        ("correct horse ", "ends with white space"), (#""correct horse""#, "quotation marks"),
        ("'correct horse'", "quotation marks"),
        (#"{"passphrase":"correct horse"}"#, "JSON"), ("correct horse\\n", "backslash"),
        ("WIFI=correct horse", "NAME=value"), ("horsy", "a WPA password has at least 8 characters, and this one has 5"),
    ]

    @Test("the passphrase's oddities are mentioned with the verdict", arguments: passphrases)
    func remarks(passphrase: String, words: String?) throws {
        let network = try WiFiNetwork("Home", passphrase: passphrase)
        let error = Self.verdict.remarking(on: network)
        #expect(
            error.code == .wifiAuthenticationFailed && error.message.hasPrefix("The access point refused the board"))
        if let words {
            #expect(error.message.contains(words) && !error.message.contains("horse"))
        } else {
            #expect(error.message == Self.verdict.message)
        }
    }

    static let names: [(name: String, start: String)] = [
        ("Home", "The board cannot find the network \"Home\". Check the name"),
        ("Home ", "The board cannot find the network \"Home \": the given network name ends with white space"),
        (
            "\"Home\"",
            "The board cannot find the network \"\"Home\"\": the given network name is in quotation marks"
        ),
    ]

    @Test("a network that is not heard is named as it was given", arguments: names)
    func notHeard(name: String, start: String) throws {
        let network = try WiFiNetwork(name, passphrase: "\"correct horse\"")
        let error = BoardError.notHeard(network.ssid).remarking(on: network)
        #expect(error.code == .wifiNetworkNotFound && error.message.hasPrefix(start), "\(error.message)")
        #expect(error.message.contains("2.4 GHz") && !error.message.contains("horse"))
    }

    @Test("a JSON file that is too long for a passphrase is named as one")
    func longJSON() {
        let text = #"{"ssid":"Home","passphrase":"\#(String(repeating: "x", count: 63))"}"#
        let error = #expect(throws: BoardError.self) { try WiFiNetwork("Home", passphrase: text) }
        #expect(error?.message.contains("JSON") == true && error?.message.contains("63 bytes") == true)
    }

    private static func heard(_ modes: [Int], _ name: String = "Home") -> [AccessPoint] {
        modes.map {
            AccessPoint(
                ssid: SSID(name), bssid: [], channel: 1, rssi: -50, protection: NetworkProtection(rawValue: $0))
        }
    }

    static let networks: [(passphrase: String, modes: [Int], reason: String?)] = [
        ("correct horse", [3], nil), ("correct horse", [], nil), ("", [], nil), ("", [0], nil), ("", [9], nil),
        ("", [3], "password_missing"), ("", [1], "password_missing"), ("", [6, 7], "password_missing"),
        ("", [3, 0], nil),
        ("correct horse", [0], "network_is_open"), ("correct horse", [0, 3], nil),
        ("correct horse", [5], "enterprise_network"), ("", [5], "enterprise_network"),
        ("correct horse", [10], "enterprise_network"), ("correct horse", [14, 15], "enterprise_network"),
        ("correct horse", [16], "enterprise_network"), ("correct horse", [5, 3], nil),
    ]

    @Test("what the board hears of the network explains the verdict", arguments: networks)
    func explained(passphrase: String, modes: [Int], reason: String?) throws {
        let network = try WiFiNetwork("Home", passphrase: passphrase)
        let heard = Self.heard(modes) + Self.heard([5], "Work")
        for code in [BoardError.Code.wifiAuthenticationFailed, .wifiNetworkNotFound, .wifiFailed] {
            let error = BoardError(code, message: "No.").explained(by: heard, joining: network)
            #expect(error.reason == reason)
            #expect(error.code == (reason == nil ? code : .wifiAuthenticationFailed))
            if reason != nil { #expect(error.message.contains("Home") && error.cause == "No.") }
        }
    }

    @Test(
        "a short password is too short for WPA, and may be one of WEP",
        arguments: [([3], true), ([1], false), ([1, 3], false)])
    func short(modes: [Int], isTooShort: Bool) throws {
        let network = try WiFiNetwork("Home", passphrase: "horsy")
        let error = BoardError(.wifiAuthenticationFailed, message: "No.").explained(
            by: Self.heard(modes), joining: network)
        #expect(error.code == .wifiAuthenticationFailed && error.reason == nil)
        #expect(
            error.message.hasPrefix("A WPA password has at least 8 characters, and this one has 5.") == isTooShort,
            "\(error.message)")
    }

    @Test(
        "a similar network that the board finds is offered",
        arguments: [
            ("home", "Home"), ("Home", "Home "), ("Anna's iPhone", "Anna\u{2019}s iPhone"), ("MyHome", "My Home"),
            ("Home-2", "Home\u{2013}2"),
        ])
    func similar(given: String, heard: String) throws {
        let network = try WiFiNetwork(given, passphrase: "correct horse")
        let points = Self.heard([3], heard) + Self.heard([3], "Work")
        let error = BoardError.notHeard(network.ssid).explained(by: points, joining: network)
        #expect(error.code == .wifiNetworkNotFound)
        let start =
            "The board cannot find the network \"\(given)\", but it finds \"\(SSID(heard))\". Did you mean this network?"
        #expect(error.message.hasPrefix(start), "\(error.message)")
        let refusal = Self.verdict.explained(by: points, joining: network)
        #expect(refusal.message == Self.verdict.message)
    }

    @Test("another network is not offered", arguments: ["Home2", "Homer", "", "\u{FFFD}"])
    func dissimilar(heard: String) throws {
        let network = try WiFiNetwork("Home", passphrase: "correct horse")
        let error = BoardError.notHeard(network.ssid).explained(by: Self.heard([3], heard), joining: network)
        #expect(error.message == BoardError.notHeard(network.ssid).message)
    }

    static let keys: [(text: String, isKey: Bool)] = [
        (String(repeating: "0123456789abcdef", count: 4), true),
        (String(repeating: "0123456789ABCDEF", count: 4), true),
        (String(repeating: "a", count: 63), false),
    ]

    @Test("a key of 64 hexadecimal digits is a network's, and not for every board", arguments: keys)
    func key(text: String, isKey: Bool) async throws {
        let network = try WiFiNetwork("Home", passphrase: text)
        #expect(network.isKey == isKey)
        guard isKey else { return }
        let firmware = try FirmwareInMemory()
        let board = try await firmware.securedBoard()
        let before = firmware.asked.count
        let error = await #expect(throws: BoardError.self) { try await board.join(network) }
        #expect(error?.code == .invalidArgument && error?.reason == "key_not_taken")
        #expect(firmware.asked.count == before)
        for text in [String(repeating: "g", count: 64), String(repeating: "a", count: 65)] {
            #expect(throws: BoardError.self) { try WiFiNetwork("Home", passphrase: text) }
        }
    }

    @Test("a network that neither refuses the board nor gives it an address has a DHCP server that does not answer")
    func noAddress() async throws {
        let firmware = try FirmwareInMemory(joinDelay: 600_000)
        let board = try await firmware.securedBoard()
        let error = await #expect(throws: BoardError.self) {
            try await firmware.clock.run {
                try await board.join(try WiFiNetwork("Home", passphrase: "correct horse"))
                _ = try await board.watch { _ in }
            }
        }
        #expect(
            error?.reason == "no_address" && error?.message.contains("DHCP") == true, "\(String(describing: error))")
    }
}
