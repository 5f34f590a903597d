import Logging
import ProtocommWire
import Vocabulary

extension ProtocommBoard {
    /// Set and apply. A board that still remembers a failed attempt is reset first, once, and told again: applying consumes
    /// what was set even when the board refuses to apply.
    ///
    /// A connection that broke while applying leaves open whether the board took it: a second Apply that is refused, by a board
    /// that has not failed, says that it did.
    public func join(_ network: WiFiNetwork) async throws(ProvisioningError) {
        var mayBeJoining = false
        var hasReset = false
        while true {
            try await set(network)
            guard let status = try await apply() else {
                mayBeJoining = true
                continue
            }
            if status == .success { return }
            guard status == .internalError else { throw .rejected("the Wi-Fi settings", status: status.rawValue) }
            if mayBeJoining, try await isJoining() { return }
            guard !hasReset else { throw .rejected("the Wi-Fi settings", status: status.rawValue) }
            logger.debug("board refused to apply; resetting it", metadata: ["peer": "\(peer)"])
            hasReset = true
            try await reset()
        }
    }

    private func set(_ network: WiFiNetwork) async throws(ProvisioningError) {
        let command = SetWiFiConfigCommand(ssid: network.ssid.bytes, passphrase: network.passphrase.revealBytes())
        let answer = try await ask(NetworkConfigPayload(.commandSetWiFiConfig(command)), on: .config)
        guard case .responseSetWiFiConfig(let response)? = answer.payload else { throw .unexpectedAnswer(on: .config) }
        if response.status == .invalidArgument {
            throw ProvisioningError(
                .invalidArgument,
                message: "The board does not accept this network name or passphrase: check their lengths.")
        }
        guard response.status == .success else {
            throw .rejected("the Wi-Fi settings", status: response.status.rawValue)
        }
    }

    /// Nil where the connection broke before the board said anything.
    private func apply() async throws(ProvisioningError) -> Status? {
        guard let answer = try await askOnce(NetworkConfigPayload(.commandApplyWiFiConfig), on: .config) else {
            return nil
        }
        guard case .responseApplyWiFiConfig(let response)? = answer.payload else {
            throw .unexpectedAnswer(on: .config)
        }
        return response.status
    }

    public func reset() async throws(ProvisioningError) {
        let answer: NetworkControlPayload
        do {
            answer = try await ask(NetworkControlPayload(.commandWiFiReset), on: .control)
        } catch {
            guard error.code == .unsupported else { throw error }
            throw ProvisioningError(
                .unsupported,
                message:
                    "The board's firmware cannot forget failed Wi-Fi settings (ESP-IDF before 5.1): restart it, or reset "
                    + "it to factory settings.", cause: error.cause)
        }
        guard answer.status == .success else {
            throw ProvisioningError(
                .rejected,
                message:
                    "The board cannot be reset now: it is still joining a network, or already on one. Try again in a moment."
            )
        }
    }
}
