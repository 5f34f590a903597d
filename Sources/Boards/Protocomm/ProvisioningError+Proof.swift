// SPDX-License-Identifier: Apache-2.0
import Protocomm
import RainCore

extension ProvisioningError {
    /// The board refused what was to prove that both know the same secret.
    ///
    /// - Parameter count: how many proofs the board has refused, in earlier conversations as well. RainMaker firmware counts each
    ///   (`CONFIG_APP_WIFI_PROV_MAX_POP_MISMATCH`), and stops provisioning at the fifth. Nil for a service that counts none: those of a
    ///   board on its network.
    static func refusedProof(
        _ error: ProtocommError, _ selection: SecuritySelection, count: Int?
    ) -> ProvisioningError {
        let isSecurity2 = selection.required.version == 2
        let name = String(decoding: selection.username, as: UTF8.self)
        let what =
            isSecurity2
            ? "The board refused the proof: the proof of possession or the user name \"\(name)\" is wrong. "
                + "Security 2 checks both. Compare them with the board's label or QR code."
            : "The board refused the proof. Check the proof of possession on its label or QR code."
        let remedies: [Remedy] = isSecurity2 ? [.securityUserName] : []
        guard let count else {
            return ProvisioningError(
                .wrongProofOfPossession, message: what, cause: error.description, remedies: remedies)
        }
        let words = ["one", "two", "three", "four", "five"]
        let number = count <= words.count ? words[count - 1] : "\(count)"
        let part = count == 1 ? "this was one of them" : "these were \(number) of them"
        var refusal = ProvisioningError(
            .wrongProofOfPossession,
            message: "\(what) RainMaker boards stop provisioning after five wrong proofs, and \(part).",
            cause: error.description, remedies: remedies)
        refusal.refusedProofs = count
        return refusal
    }
}
