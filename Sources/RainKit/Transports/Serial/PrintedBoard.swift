// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore

/// A board that only prints: where it is reached, by what its log says.
struct PrintedBoard {
    let summary: DeviceSummary
    let port: String

    /// The way to the board that its log names.
    ///
    /// - Parameter given: the parameters of the port's address: a host or an adapter that the user has named for this.
    /// - Throws: `unavailable` where the log says why there is none, or does not say what the board is called.
    func address(_ given: [String: String]) throws(ProvisioningError) -> BoardAddress {
        try checkUp()
        if summary.isProvisioned {
            throw ProvisioningError(
                .unavailable,
                message:
                    "The board at \(port) has a Wi-Fi network already and starts no provisioning. Hold its BOOT button for 3 s to make it "
                    + "forget that, and run this again.", reason: "already_provisioned")
        }
        if summary.isUnnamed, summary.serviceName == nil {
            throw ProvisioningError(
                .unavailable,
                message:
                    "The Arduino sketch on the board at \(port) starts provisioning, and does not print the board's name. Add WiFiProv.printQR "
                    + "to the sketch, or name the board yourself.", reason: "unnamed_board",
                remedies: [.boardName([]), .anyOtherTransport])
        }
        guard let name = summary.code?.name ?? summary.serviceName else {
            throw ProvisioningError(
                .unavailable,
                message:
                    "The board at \(port) takes no commands, and its log does not say what it is called. Press its RESET button while this "
                    + "runs, or use another transport.", reason: "log_only", remedies: [.anyOtherTransport])
        }
        // Firmware that says no transport is RainMaker's from before its codes; Bluetooth is what its examples are built with.
        guard (summary.code?.transport ?? summary.announcedTransport) == .softap else {
            return .bluetooth(name, adapter: given["adapter"])
        }
        return .softAP(given["device-host"], name: name)
    }

    /// Throws `unavailable` with the cause where the board does not come up.
    func checkUp() throws(ProvisioningError) {
        if summary.isDown, let trouble = summary.verdict {
            throw ProvisioningError(
                .unavailable, message: trouble.description, reason: trouble.code, remedies: trouble.remedies)
        }
    }

    /// The same for a board that goes on printing while it is talked to: its code may come behind its prompt.
    func credentials(
        _ given: BoardCredentials, from log: DeviceLog
    ) throws(ProvisioningError) -> BoardCredentials {
        var credentials = try credentials(given)
        guard !credentials.hasProofOfPossession, !given.leastSecurity.needsProofOfPossession else { return credentials }
        credentials.proofOfPossession = {
            let summary = log.moment.summary
            if let proof = summary.code?.proofOfPossession ?? summary.announcedProof { return proof }
            return await given.proofOfPossession()
        }
        return credentials
    }

    /// What the log says, where the user has not said it.
    ///
    /// - Throws: `malformed` if the log prints a code that cannot be used. Without it nobody knows how the board is protected.
    func credentials(_ given: BoardCredentials) throws(ProvisioningError) -> BoardCredentials {
        var credentials = given
        credentials.accessPointPassphrase =
            given.accessPointPassphrase ?? summary.code?.accessPointPassphrase ?? summary.announcedPassphrase
        let isKnown = given.hasProofOfPossession || given.leastSecurity.needsProofOfPossession
        guard !isKnown else { return credentials }
        if let fault = summary.codeFault, summary.code == nil, given.securityVersion == nil {
            throw ProvisioningError(
                .malformed, message: "\(fault) The board at \(port) prints it.",
                remedies: [.proofOfPossession])
        }
        if let proof = summary.code?.proofOfPossession ?? summary.announcedProof {
            credentials.proofOfPossession = { proof }
            credentials.hasProofOfPossession = true
        }
        guard let code = summary.code, given.securityVersion == nil else { return credentials }
        credentials.leastSecurity = code.leastSecurity
        if given.username == BoardCredentials.defaultUsername, let name = code.username { credentials.username = name }
        return credentials
    }
}
