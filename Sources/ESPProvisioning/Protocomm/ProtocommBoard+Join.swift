import Logging
import ProtocommWire
import Vocabulary

extension ProtocommBoard {
    /// Set and apply. A board that still remembers a failed attempt is reset first, once, and told again: applying consumes
    /// what was set even when the board refuses to apply.
    public func join(_ network: WiFiNetwork) async throws(ProvisioningError) {
        try await set(network)
        let status = try await apply()
        if status == .success { return }
        guard status == .internalError else { throw .rejected("the Wi-Fi settings", status: status.rawValue) }
        logger.debug("board refused to apply; resetting it", metadata: ["peer": "\(peer)"])
        try await reset()
        try await set(network)
        let again = try await apply()
        guard again == .success else { throw .rejected("the Wi-Fi settings", status: again.rawValue) }
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

    private func apply() async throws(ProvisioningError) -> Status {
        let answer = try await ask(NetworkConfigPayload(.commandApplyWiFiConfig), on: .config)
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
