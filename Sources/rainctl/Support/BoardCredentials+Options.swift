// SPDX-License-Identifier: Apache-2.0
import RainKit
import RainCore

extension BoardCredentials {
    /// What the options and the board's label say, for a session with it.
    init(
        _ options: DeviceOptions, _ code: QRPayload?, _ context: Context, within time: TimeBudget
    ) throws(CommandFailure) {
        let source = SecretSource(
            name: "proof of possession", flag: "--pop", value: options.pop, file: options.popFile,
            fromStandardInput: options.popStdin, environmentVariable: .proofOfPossession,
            ifThereIsNone: "Leave it away for a board that wants none.", time: time)
        let given = try source.read(environment: context.environment, output: context.output)
            .map { ProofOfPossession($0) }
        let proof = given ?? code?.proofOfPossession
        self.init(
            username: options.username ?? code?.username ?? Self.defaultUsername,
            securityVersion: options.securityVersion
        ) {
            if let proof { return proof }
            guard context.mayAsk else { return nil }
            return await context.screen.asking {
                while let secret = await context.screen.askSecret(source.question) {
                    guard secret.isEmpty else { return ProofOfPossession(secret) }
                    context.screen.say("The board wants one: it is on its label or in its QR code.")
                }
                return nil
            }
        }
        hasProofOfPossession = given != nil
        accessPointPassphrase = code?.accessPointPassphrase
        if let file = options.apPasswordFile {
            accessPointPassphrase = try SecretSource.contents(
                of: file, name: "password of the board's network", within: time.left)
        }
        // What the label says cannot be talked down by whoever answers in clear; the user can.
        if options.securityVersion == nil, let code { leastSecurity = code.leastSecurity }
        guard proof != nil, options.securityVersion != 0 else { return }
        whenUnproven = { security in
            context.output.warn(
                security.version == 0
                    ? "the board speaks Security 0, so the proof of possession is not used and all goes in clear, the "
                        + "Wi-Fi password too; --sec-ver 1 or 2 refuses such a board."
                    : "the board wants no proof of possession, so the one given is not used: nothing shows that this "
                        + "is the board it belongs to.", reason: "proof_not_used")
        }
    }
}
