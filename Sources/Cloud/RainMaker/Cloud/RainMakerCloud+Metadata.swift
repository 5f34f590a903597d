// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON

extension RainMakerCloud {
    /// The host that nodes of this deployment talk MQTT to. Needs no sign-in.
    public func mqttHost() async throws(AccountError) -> String {
        var call = RainMakerCall(.get, "mqtt_host")
        call.isVersioned = false
        guard let host = try await callAnonymously(call)["mqtt_host"]?.string, !host.isEmpty else {
            throw incomplete("mqtt_host")
        }
        return host
    }
}
