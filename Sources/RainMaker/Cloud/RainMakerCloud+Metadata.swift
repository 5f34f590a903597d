// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import RainJSON

/// Where nodes of a deployment find it, as their flash has it.
public struct NodeHosts: Sendable, Equatable {
    /// The broker, without a port.
    public var mqtt: String
    /// The provider of credentials for the cloud's other services; nil where there is none.
    public var credentials: String?
}

extension RainMakerCloud {
    /// The host that nodes of this deployment talk MQTT to. Needs no sign-in.
    public func mqttHost() async throws(AccountError) -> String { try await nodeHosts().mqtt }

    /// The hosts that nodes of this deployment talk to. Needs no sign-in.
    public func nodeHosts() async throws(AccountError) -> NodeHosts {
        var call = RainMakerCall(.get, "mqtt_host")
        call.isVersioned = false
        let answer = try await callAnonymously(call)
        guard let host = answer["mqtt_host"]?.string, !host.isEmpty else { throw incomplete("mqtt_host", in: answer) }
        let credentials = answer["mqtt_cred_host"]?.string ?? ""
        return NodeHosts(mqtt: host, credentials: credentials.isEmpty ? nil : credentials)
    }
}
