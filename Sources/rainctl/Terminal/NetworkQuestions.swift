// SPDX-License-Identifier: Apache-2.0
import RainKit
import RainCore
import Synchronization

/// The questions about the network that a board is to join. An empty answer never means an open network.
final class NetworkQuestions: Sendable {
    private struct State {
        /// The networks that the board hears, each name once.
        var heard: [AccessPoint] = []
        /// The number of access points that hide their name.
        var hidden = 0
        /// Whether the board may hear more than it lists.
        var mayLackNetworks = false
        /// The last network that the board received.
        var last: SSID?
    }

    private let screen: Screen
    private let state: Mutex<State>

    /// - Parameter first: the network from the options, if any.
    init(screen: Screen, first: SSID? = nil) {
        self.screen = screen
        state = Mutex(State(last: first))
    }

    /// Returns one of the networks that the board hears, or a hidden one by its name.
    /// - Parameter passphrase: from the options, if any.
    func choose(from heard: [AccessPoint], passphrase: Secret?) async -> OnboardingRequest.Choice {
        var seen: Set<SSID> = []
        let networks = heard.filter { !$0.ssid.bytes.isEmpty && seen.insert($0.ssid).inserted }
        let hidden = heard.count { $0.ssid.bytes.isEmpty }
        state.withLock { ($0.heard, $0.hidden, $0.mayLackNetworks) = (networks, hidden, heard.mayLackNetworks) }
        return await screen.asking {
            if networks.isEmpty, hidden == 0 { screen.say("The board finds no Wi-Fi network.") }
            return await fromList(passphrase: passphrase, maySearchAgain: true)
        }
    }

    /// Asks for the network of a board that cannot list networks; returns nil without an answer.
    /// - Parameters:
    ///   - suggestion: the network that an empty answer means, such as this machine's own.
    ///   - passphrase: from the options, if any.
    func named(suggesting suggestion: SSID?, passphrase: Secret?) async -> WiFiNetwork? {
        await screen.asking {
            while let answer = await screen.ask(Self.nameQuestion(suggestion)) {
                guard let ssid = answer.isEmpty ? suggestion : SSID(answer) else {
                    screen.say("Nothing was typed: type the network's name. Ctrl-C stops.")
                    continue
                }
                guard (1...32).contains(ssid.bytes.count) else {
                    screen.say("A network's name has at most 32 bytes, but this one has \(ssid.bytes.count).")
                    continue
                }
                if let passphrase, let network = network(ssid, passphrase) { return network }
                switch await password(for: ssid, question: Self.passwordQuestion, mayBeOpen: true) {
                case .network(let network): return network
                case .stop: return nil
                case .other: continue
                }
            }
            return nil
        }
    }

    private static func nameQuestion(_ suggestion: SSID?) -> String {
        suggestion.map { "Network name (Enter for \($0)): " } ?? "Network name: "
    }

    /// Returns the same network with another password, or another network, after a failure to join; nil if the user cancels.
    func another(after error: BoardError) async -> WiFiNetwork? {
        await screen.asking {
            screen.say(error.message)
            if error.code == .wifiAuthenticationFailed, let last = state.withLock({ $0.last }) {
                switch await password(
                    for: last, question: "Type the password for \(last) again (n for another network): ")
                {
                case .network(let network): return network
                case .stop: return nil
                case .other: break
                }
            }
            guard case .join(let network) = await fromList(passphrase: nil, maySearchAgain: false) else { return nil }
            return network
        }
    }

    private enum Again { case network(WiFiNetwork), other, stop }

    /// No Wi-Fi password has one letter, so `n` can only be the answer in the prompt.
    private static func isOther(_ answer: Secret) -> Bool { ["n", "N"].contains(answer.revealString()) }

    private func fromList(passphrase: Secret?, maySearchAgain: Bool) async -> OnboardingRequest.Choice {
        let networks = state.withLock { $0.heard }
        var list = list()
        let question = Self.question(networks.count, maySearchAgain: maySearchAgain)
        while let answer = await screen.ask(question, offering: &list) {
            if maySearchAgain, answer.lowercased() == "r" { return .scanAgain }
            guard let ssid = chosen(answer.isEmpty && !networks.isEmpty ? "1" : answer, among: networks) else {
                let again = maySearchAgain ? ", or r to scan again" : ""
                screen.say(
                    networks.isEmpty
                        ? "Type the network's name\(again)."
                        : "Type a number from 1 to \(networks.count), a name\(again).")
                continue
            }
            let known = networks.first { $0.ssid == ssid }
            if known?.protection.isOpen == true { return network(ssid, Secret("")).map { .join($0) } ?? .cancel }
            if known != nil, let passphrase, let network = network(ssid, passphrase) { return .join(network) }
            if known == nil {
                guard (1...32).contains(ssid.bytes.count) else {
                    _ = network(ssid, Secret(""))
                    continue
                }
                if !networks.isEmpty {
                    screen.say("\(ssid) is not in the list. The board will try to join it as a hidden network.")
                }
            }
            switch await password(for: ssid, question: Self.passwordQuestion, mayBeOpen: known == nil) {
            case .network(let network): return .join(network)
            case .stop: return .cancel
            case .other: list = self.list()
            }
        }
        return .cancel
    }

    private func list() -> ChoiceList {
        let (networks, hidden, isFull) = state.withLock { ($0.heard, $0.hidden, $0.mayLackNetworks) }
        let width = "\(networks.count)".count
        let lines = networks.enumerated().map { index, network in
            "\("\(index + 1)".leftPadded(to: width))  \(Self.bars(network.rssi))  \(network.ssid)  \(network.protection.words)  \(network.rssi) dBm"
        }
        // Short, because it must fit on one line of the screen.
        let note: String? =
            switch (hidden, isFull) {
            case (0, false): nil
            case (1, false): "One hidden network: type its name"
            case (_, false): "\(hidden) hidden networks: type a name"
            case (0, true): "A board lists at most 16 networks: for another one, type its name"
            case (_, true): "A board lists at most 16 networks (\(hidden) are hidden): for others, type a name"
            }
        return ChoiceList(lines, note: note)
    }

    /// The question below a list of that length.
    static func question(_ count: Int, maySearchAgain: Bool = true) -> String {
        let again = maySearchAgain ? "r to scan again" : nil
        let first = count > 0 ? "Enter for 1" : nil
        let keys = [first, again].compactMap(\.self).joined(separator: ", ")
        return (count > 0 ? "Network, by number or name" : "Network name") + (keys.isEmpty ? ": " : " (\(keys)): ")
    }

    /// Returns the network of an answer. A number of the list takes precedence over a name; any other number is a name only if a network
    /// has it. Input of keys without a letter, such as Home and the arrows, is not a name. Neither is the key for more of the list when it
    /// has no more.
    private func chosen(_ answer: String, among networks: [AccessPoint]) -> SSID? {
        if answer.isEmpty { return nil }
        let isKey = answer == ChoiceList.more || answer.utf8.contains { $0 < 0x20 || $0 == 0x7F }
        if isKey { return networks.first { $0.ssid == SSID(answer) }?.ssid }
        if let number = Int(answer) {
            if let index = ChoiceList.index(number, of: networks.count) { return networks[index].ssid }
            if !networks.isEmpty { return networks.first { $0.ssid == SSID(answer) }?.ssid }
        }
        return SSID(answer)
    }

    /// The signal strength as telephones draw it: with steps at -55, -67 and -75 dBm.
    private static func bars(_ rssi: Int) -> String {
        switch rssi {
        case (-55)...: "▂▄▆█"
        case (-67)...: "▂▄▆ "
        case (-75)...: "▂▄  "
        default: "▂   "
        }
    }

    private func password(for ssid: SSID, question: String, mayBeOpen: Bool = false) async -> Again {
        while let secret = await screen.askSecret(question) {
            if Self.isOther(secret) { return .other }
            if secret.isEmpty {
                guard mayBeOpen else {
                    screen.say("Nothing was typed. \(ssid) has a password; type n for another network.")
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

    private static let passwordQuestion = "Wi-Fi password (n for another network): "

    /// Nil, after a message, if name or password break a rule of Wi-Fi.
    private func network(_ ssid: SSID, _ passphrase: Secret) -> WiFiNetwork? {
        do throws(BoardError) {
            let known = state.withLock { $0.heard.first { $0.ssid == ssid }?.protection }
            let network = try WiFiNetwork(possible: ssid, passphrase: passphrase, protection: known)
            state.withLock { $0.last = ssid }
            return network
        } catch {
            screen.say(error.message)
            return nil
        }
    }
}

extension WiFiNetwork {
    /// A network whose passphrase an access point can have. WPA's has 8 to 63 bytes (IEEE 802.11, J.4.1), a key of WEP 5 or 13. A board
    /// would try any other without success.
    /// - Parameter protection: the network's, if the board hears it.
    init(possible ssid: SSID, passphrase: Secret, protection: NetworkProtection? = nil) throws(BoardError) {
        let mayBeWEP = protection?.isWEP ?? true
        guard passphrase.isEmpty || passphrase.count >= 8 || passphrase.count == 5 && mayBeWEP else {
            throw BoardError(
                .invalidArgument,
                message:
                    "A Wi-Fi password has 8 to 63 bytes, but this one has \(passphrase.count): no network accepts it.")
        }
        try self.init(ssid: ssid, passphrase: passphrase)
    }
}

extension NetworkProtection {
    /// `WIFI_AUTH_WEP`.
    fileprivate var isWEP: Bool { rawValue == 1 }

    /// The usual name: `wpa2_psk` as WPA2, `wpa_wpa2_psk` as WPA/WPA2.
    fileprivate var words: String {
        let parts = "\(self)".split(separator: "_").filter { $0 != "psk" }
        let names = parts.map { $0.hasPrefix("w") ? $0.uppercased() : String($0) }
        return names.joined(separator: names.contains("enterprise") ? " " : "/")
    }
}
