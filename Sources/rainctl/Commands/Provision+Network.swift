import RainKit
import Vocabulary

/// Which network the board is to join, and which one after a failure.
extension Provision {
    func requestedNetwork(_ context: Context) async throws(CommandFailure) -> OnboardingRequest.Network {
        if wifi.noWifi { return .none }
        let name = try wifi.name()
        let passphrase = try wifi.passphraseSource.read(environment: context.environment, output: context.output)
        if let name {
            let secret: Secret
            if wifi.open {
                secret = Secret("")
            } else if let passphrase {
                secret = passphrase
            } else {
                secret = try wifi.passphraseSource.prompt(mayAsk: context.mayAsk)
            }
            return .given(try network(name, secret))
        }
        guard context.mayAsk else {
            throw CommandFailure(
                .usage, reason: "missing_ssid",
                message: "No network given: use --ssid NAME, or --no-wifi to leave it alone.")
        }
        return .chosen { heard in await choose(from: heard, passphrase: passphrase, context) }
    }

    /// Only a person can offer other credentials; scripts run the command again.
    func otherNetwork(_ context: Context) -> (@Sendable (ProvisioningError) async -> WiFiNetwork?)? {
        guard context.mayAsk else { return nil }
        return { error in
            StandardStreams.err(StandardStreams.eraseLine + "\(error.message.withoutControls)\n")
            guard let answer = Terminal.ask("Network to try instead (Enter to stop): "), !answer.isEmpty,
                let secret = Terminal.readSecret(prompt: "Wi-Fi password (empty for an open network): ")
            else { return nil }
            return try? WiFiNetwork(ssid: SSID(answer), passphrase: secret)
        }
    }

    private func choose(from heard: [AccessPoint], passphrase: Secret?, _ context: Context) async -> WiFiNetwork? {
        var seen: Set<SSID> = []
        let networks = heard.filter { !$0.ssid.bytes.isEmpty && seen.insert($0.ssid).inserted }
        StandardStreams.err(StandardStreams.eraseLine)
        for (index, network) in networks.enumerated() {
            StandardStreams.err("\(index + 1)  \(network.ssid)  \(network.rssi) dBm  \(network.protection)\n")
        }
        guard let answer = Terminal.ask("Number of the network: "), let number = Int(answer),
            networks.indices.contains(number - 1)
        else { return nil }
        let network = networks[number - 1]
        if network.protection.isOpen { return try? WiFiNetwork(ssid: network.ssid, passphrase: Secret("")) }
        guard let secret = passphrase ?? Terminal.readSecret(prompt: "Wi-Fi password: ") else { return nil }
        return try? WiFiNetwork(ssid: network.ssid, passphrase: secret)
    }

    private func network(_ name: SSID, _ passphrase: Secret) throws(CommandFailure) -> WiFiNetwork {
        do {
            return try WiFiNetwork(ssid: name, passphrase: passphrase)
        } catch {
            throw CommandFailure(error)
        }
    }
}
