// SPDX-License-Identifier: Apache-2.0
import RainCore

extension JoinedNetwork {
    /// That a board, which an earlier run may have sent on its way, is where it is to be, as far as it tells: `rejected` otherwise.
    package func verify(isOn network: WiFiNetwork) throws(ProvisioningError) {
        // Firmware keeps names as C strings.
        let (here, asked) = (ssid.bytes.prefix { $0 != 0 }, network.ssid.bytes.prefix { $0 != 0 })
        guard !here.isEmpty, here != asked else { return }
        throw ProvisioningError(
            .rejected,
            message:
                "The board is on the network \(ssid) already, and takes no other. Reset it to factory settings to give it another."
        )
    }
}
