// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainIO
import RainKit

/// Which network the board is to join, and which one after a failure.
extension Provision {
    func requestedNetwork(
        _ context: Context, _ questions: NetworkQuestions, within time: TimeBudget
    ) throws(CommandFailure) -> OnboardingRequest.Network {
        if wifi.noWifi { return .none }
        if device.transport.isForConnectedBoards {
            guard !wifi.isGiven else {
                throw CommandFailure(
                    .usage,
                    message:
                        "Over --transport \(device.transport.scheme ?? "") the board is on its network already: no network can be given."
                )
            }
            return .none
        }
        let name = try wifi.name()
        let source = wifi.passphraseSource(within: time)
        let passphrase = try source.read(environment: context.environment, output: context.output)
        if let name {
            let secret: Secret
            if wifi.open {
                secret = Secret("")
            } else if let passphrase {
                secret = passphrase
            } else {
                secret = try time.asking { () throws(CommandFailure) in try source.prompt(mayAsk: context.mayAsk) }
            }
            return .given(try network(name, secret))
        }
        guard context.mayAsk else {
            throw CommandFailure(
                .usage, reason: "missing_ssid",
                message: "No network given: use --ssid NAME, or --no-wifi to leave it alone.")
        }
        return .chosen { heard in await questions.choose(from: heard, passphrase: passphrase) }
    }

    /// Only a person can offer other credentials; scripts run the command again.
    func otherNetwork(
        _ context: Context, _ questions: NetworkQuestions, within time: TimeBudget
    ) -> (@Sendable (ProvisioningError) async -> WiFiNetwork?)? {
        guard context.mayAsk else { return nil }
        return { error in
            // If no answer comes, the rest of the time is for resetting the board, and the error tells why it could not join instead of
            // "deadline".
            let left = time.left
            let answer = await withDeadline(
                left - min(.seconds(2), left / 4), sleep: { try await Task.sleep(for: $0) },
                { () async throws(Never) in await questions.another(after: error) })
            guard case .success(let network) = answer else { return nil }
            return network
        }
    }

    private func network(_ name: SSID, _ passphrase: Secret) throws(CommandFailure) -> WiFiNetwork {
        do {
            return try WiFiNetwork(possible: name, passphrase: passphrase)
        } catch {
            throw CommandFailure(error)
        }
    }
}
