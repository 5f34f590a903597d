// SPDX-License-Identifier: Apache-2.0
import RainKit
import RainCore
import Synchronization

/// The questions about the network that a board is to join. An empty answer never means an open network.
final class NetworkQuestions: Sendable {
    private struct State {
        /// What the board hears, each name once.
        var heard: [AccessPoint] = []
        /// The last network that the board was given.
        var last: SSID?
    }

    private let screen: Screen
    private let state: Mutex<State>

    /// - Parameter first: the network that options have named, if they did.
    init(screen: Screen, first: SSID? = nil) {
        self.screen = screen
        state = Mutex(State(last: first))
    }

    /// One of the networks that the board hears, or a hidden one by its name; nil without an answer.
    /// - Parameter passphrase: as given by an option, if it was.
    func choose(from heard: [AccessPoint], passphrase: Secret?) async -> WiFiNetwork? {
        var seen: Set<SSID> = []
        let networks = heard.filter { !$0.ssid.bytes.isEmpty && seen.insert($0.ssid).inserted }
        state.withLock { $0.heard = networks }
        return await screen.asking {
            if networks.isEmpty { screen.say("The board hears no network.") }
            let hidden = heard.count { $0.ssid.bytes.isEmpty }
            if hidden > 0 { screen.say("Of \(hidden) more the board hears no name: type it, if yours is hidden.") }
            return await fromList(passphrase: passphrase)
        }
    }

    /// The same network with another password, or another one, after one that the board could not join; nil for none.
    func another(after error: ProvisioningError) async -> WiFiNetwork? {
        await screen.asking {
            screen.say(error.message)
            if error.code == .wifiAuthenticationFailed, let last = state.withLock({ $0.last }) {
                switch await passwordAgain(last) {
                case .network(let network): return network
                case .stop: return nil
                case .other: break
                }
            }
            return await fromList(passphrase: nil)
        }
    }

    private enum Again { case network(WiFiNetwork), other, stop }

    /// No password of Wi-Fi has one letter, so `n` can only be the answer that it is said to be.
    private func passwordAgain(_ ssid: SSID) async -> Again {
        while let secret = await screen.askSecret(
            "Password for \(ssid) again (n for another network, Enter to stop): "), !secret.isEmpty
        {
            if ["n", "N"].contains(secret.revealString()) { return .other }
            if let network = network(ssid, secret) { return .network(network) }
        }
        return .stop
    }

    private func fromList(passphrase: Secret?) async -> WiFiNetwork? {
        let networks = state.withLock { $0.heard }
        var list = ChoiceList(
            networks.enumerated().map { index, network in
                "\(index + 1)  \(Self.bars(network.rssi))  \(network.ssid)  \(network.protection.words)  \(network.rssi) dBm"
            })
        let question = networks.isEmpty ? "Network, by its name (Enter to stop): " : Self.question
        while let answer = await screen.ask(question, offering: &list), !answer.isEmpty {
            guard let ssid = chosen(answer, among: networks) else {
                screen.say(
                    networks.isEmpty
                        ? "The name of a network, or Enter to stop."
                        : "A number from 1 to \(networks.count), a name, or Enter to stop.")
                continue
            }
            let known = networks.first { $0.ssid == ssid }
            if known?.protection.isOpen == true { return network(ssid, Secret("")) }
            if known != nil, let passphrase, let network = network(ssid, passphrase) { return network }
            if known == nil {
                guard (1...32).contains(ssid.bytes.count) else {
                    _ = network(ssid, Secret(""))
                    continue
                }
                if !networks.isEmpty { screen.say("The board does not hear \(ssid): it is tried as a hidden network.") }
            }
            switch await withPassword(ssid, mayBeOpen: known == nil) {
            case .network(let network): return network
            case .stop: return nil
            case .other: continue
            }
        }
        return nil
    }

    static let question = "Network (number or name, Enter to stop): "

    /// A number of the list goes before a name; any other number is a name only where a network is called so.
    private func chosen(_ answer: String, among networks: [AccessPoint]) -> SSID? {
        // Keys such as Home or an arrow, and the + of a list that has been shown to its end.
        let isKey = answer == "+" || answer.utf8.contains { $0 < 0x20 || $0 == 0x7F }
        if isKey { return networks.first { $0.ssid == SSID(answer) }?.ssid }
        if let number = Int(answer) {
            if networks.indices.contains(number - 1) { return networks[number - 1].ssid }
            if !networks.isEmpty { return networks.first { $0.ssid == SSID(answer) }?.ssid }
        }
        return SSID(answer)
    }

    /// How well the board hears it, as telephones draw it: from -55, -67, -75 dBm.
    static func bars(_ rssi: Int) -> String {
        switch rssi {
        case (-55)...: "▂▄▆█"
        case (-67)...: "▂▄▆ "
        case (-75)...: "▂▄  "
        default: "▂   "
        }
    }

    private func withPassword(_ ssid: SSID, mayBeOpen: Bool) async -> Again {
        while let secret = await screen.askSecret("Wi-Fi password: ") {
            if ["n", "N"].contains(secret.revealString()) { return .other }
            if secret.isEmpty {
                guard mayBeOpen else {
                    screen.say("\(ssid) has a password; n leads back to the list.")
                    continue
                }
                guard let answer = await screen.ask("Is \(ssid) open, without a password? Type yes: ") else {
                    return .stop
                }
                guard answer.lowercased() == "yes" else { continue }
            }
            if let network = network(ssid, secret) { return .network(network) }
        }
        return .stop
    }

    /// Nil, with a message, where name or password break a rule of Wi-Fi.
    private func network(_ ssid: SSID, _ passphrase: Secret) -> WiFiNetwork? {
        do throws(ProvisioningError) {
            let network = try WiFiNetwork(possible: ssid, passphrase: passphrase)
            state.withLock { $0.last = ssid }
            return network
        } catch {
            screen.say(error.message)
            return nil
        }
    }
}

extension WiFiNetwork {
    /// The same, with a passphrase that an access point can have: WPA's has 8 to 63 bytes (IEEE 802.11, J.4.1), a key of WEP 5 or 13. A board
    /// would try any other in vain.
    init(possible ssid: SSID, passphrase: Secret) throws(ProvisioningError) {
        guard passphrase.isEmpty || passphrase.count >= 8 || passphrase.count == 5 else {
            throw ProvisioningError(
                .invalidArgument,
                message:
                    "A Wi-Fi password has 8 to 63 bytes, and this one has \(passphrase.count): no network takes it.")
        }
        try self.init(ssid: ssid, passphrase: passphrase)
    }
}

extension NetworkProtection {
    /// As people know it: `wpa2_psk` as WPA2, `wpa_wpa2_psk` as WPA/WPA2.
    fileprivate var words: String {
        let parts = "\(self)".split(separator: "_").filter { $0 != "psk" }
        let names = parts.map { $0.hasPrefix("w") ? $0.uppercased() : String($0) }
        return names.joined(separator: names.contains("enterprise") ? " " : "/")
    }
}
