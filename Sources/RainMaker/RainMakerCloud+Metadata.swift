import Account
import HTTPCore
import JSON

extension RainMakerCloud {
    /// The versions of the interface that the deployment speaks, such as `v1`. Needs no sign-in.
    public func apiVersions() async throws(AccountError) -> [String] {
        var call = RainMakerCall(.get, "apiversions")
        call.isVersioned = false
        guard let versions = try await callAnonymously(call)["supported_versions"]?.array else {
            throw incomplete("supported_versions")
        }
        return versions.compactMap(\.string)
    }

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
