// SPDX-License-Identifier: Apache-2.0
import RainKit
import RainCore

/// The questions about the network that a board is to join. An empty answer never means an open network.
struct NetworkQuestions: Sendable {
    let screen: Screen

    /// One of the networks that the board hears; nil without an answer.
    /// - Parameter passphrase: as given by an option, if it was.
    func choose(from heard: [AccessPoint], passphrase: Secret?) async -> WiFiNetwork? {
        var seen: Set<SSID> = []
        let networks = heard.filter { !$0.ssid.bytes.isEmpty && seen.insert($0.ssid).inserted }
        guard !networks.isEmpty else {
            screen.say("The board hears no network.")
            return nil
        }
        return await screen.asking {
            for (index, network) in networks.enumerated() {
                screen.say("\(index + 1)  \(network.ssid)  \(network.rssi) dBm  \(network.protection)")
            }
            guard let chosen = await oneOf(networks) else { return nil }
            if chosen.protection.isOpen { return try? WiFiNetwork(ssid: chosen.ssid, passphrase: Secret("")) }
            if let passphrase, let network = network(chosen.ssid, passphrase) { return network }
            return await withPassword(chosen.ssid, mayBeOpen: false)
        }
    }

    /// Another network, after one that the board could not join; nil for none.
    func another(after error: ProvisioningError) async -> WiFiNetwork? {
        await screen.asking {
            screen.say(error.message)
            while let name = await screen.ask("Network to try instead (Enter to stop): "), !name.isEmpty {
                let ssid = SSID(name)
                if network(ssid, Secret("")) != nil { return await withPassword(ssid, mayBeOpen: true) }
            }
            return nil
        }
    }

    private func oneOf(_ networks: [AccessPoint]) async -> AccessPoint? {
        while let answer = await screen.ask("Number of the network: "), !answer.isEmpty {
            if let number = Int(answer), networks.indices.contains(number - 1) { return networks[number - 1] }
            screen.say("A number from 1 to \(networks.count), or Enter to stop.")
        }
        return nil
    }

    private func withPassword(_ ssid: SSID, mayBeOpen: Bool) async -> WiFiNetwork? {
        while let secret = await screen.askSecret("Wi-Fi password: ") {
            if secret.isEmpty {
                guard mayBeOpen else {
                    screen.say("\(ssid) has a password.")
                    continue
                }
                guard let answer = await screen.ask("Is \(ssid) open, without a password? Type yes: ") else {
                    return nil
                }
                guard answer.lowercased() == "yes" else { continue }
            }
            if let network = network(ssid, secret) { return network }
        }
        return nil
    }

    /// Nil, with a message, where name or password break a rule of Wi-Fi.
    private func network(_ ssid: SSID, _ passphrase: Secret) -> WiFiNetwork? {
        do throws(ProvisioningError) {
            return try WiFiNetwork(ssid: ssid, passphrase: passphrase)
        } catch {
            screen.say(error.message)
            return nil
        }
    }
}
