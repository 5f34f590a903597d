// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// Credentials of AWS for a short time, with which the user's programs listen to some of the user's nodes.
public struct AssumedRole: Sendable, Equatable {
    /// The id of the key.
    public var accessKey: String
    /// The key, with which requests are signed.
    public var secretKey: Secret
    /// Goes with each request.
    public var sessionToken: Secret
    /// Where the broker is, such as `us-east-1`; nil where the cloud does not say.
    public var region: String?
}

/// Where a deployment's broker is.
public struct BrokerAddress: Sendable, Equatable {
    /// `host` or `host:port`, for boards.
    public var host: String
    /// Where programs reach it over WebSocket: `https://HOST/mqtt` at AWS IoT. RainMaker's cloud names none; a deployment of one's own may, by
    /// `websocket_url`.
    public var webSocket: ServiceURL

    /// The region that AWS names its hosts by: `ID-ats.iot.REGION.amazonaws.com`.
    var region: String? {
        let parts = host.split(separator: ".")
        guard let iot = parts.firstIndex(of: "iot"), parts.count > iot + 2, parts[iot + 2] == "amazonaws" else {
            return nil
        }
        return String(parts[iot + 1])
    }
}

extension RainMakerCloud {
    /// The most nodes that one role is for (`assume_role` of the published interface).
    public static let nodesPerRole = 5

    /// Credentials for listening to nodes, five at most. Throws `unsupported` where the deployment has none to give.
    public func assumeRole(for nodes: [NodeID]) async throws(AccountError) -> AssumedRole {
        let body: JSONValue = [
            "user_role": "mqtt", "node_ids": .array(nodes.map { .string($0.rawValue) }),
        ]
        let reply: JSONValue
        do throws(AccountError) {
            reply = try await call(RainMakerCall(.post, "user/assume_role", body: body))
        } catch {
            // A deployment that does not know the call answers as its gateway does for any path that there is not.
            guard error.serverCode == nil, error.code == .rejected || error.code == .unsupported else { throw error }
            throw AccountError(.unsupported, message: "this deployment offers no live changes (assume_role)")
        }
        let region = try optionalText(reply, "region")
        func text(_ member: String) throws(AccountError) -> String {
            guard let text = reply[member]?.string, !text.isEmpty else { throw incomplete(member, in: reply) }
            return text
        }
        return AssumedRole(
            accessKey: try text("access_key"), secretKey: Secret(try text("secret_key")),
            sessionToken: Secret(try text("session_token")), region: region)
    }

    /// A text that the cloud may leave out. One of the wrong type must not lead to another broker.
    private func optionalText(_ reply: JSONValue, _ name: String) throws(AccountError) -> String? {
        guard let value = reply[name]?.unlessNull else { return nil }
        guard let text = value.string else { throw incomplete(name, in: reply) }
        return text
    }

    /// Where the deployment's broker is.
    public func broker() async throws(AccountError) -> BrokerAddress {
        var call = RainMakerCall(.get, "mqtt_host")
        call.isVersioned = false
        let reply = try await callAnonymously(call)
        guard let host = reply["mqtt_host"]?.string, !host.isEmpty else { throw incomplete("mqtt_host", in: reply) }
        let named = try optionalText(reply, "websocket_url")
        // Over WebSocket both schemes are HTTP's: wss is https, and ws only to this machine.
        let url = named.map { $0.hasPrefix("ws") ? "http" + $0.dropFirst(2) : $0 } ?? "https://\(host)/mqtt"
        return BrokerAddress(host: host, webSocket: try ServiceURL(url))
    }
}
