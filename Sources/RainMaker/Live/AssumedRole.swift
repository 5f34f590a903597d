// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// Short-lived AWS credentials, with which a program of the user can listen to some of the user's nodes.
public struct AssumedRole: Sendable, Equatable {
    /// The id of the key.
    public var accessKey: String
    /// The key that signs requests.
    public var secretKey: Secret
    /// The token to send with each request.
    public var sessionToken: Secret
    /// The broker's region, such as `us-east-1`; nil if the cloud does not say.
    public var region: String?

    package init(accessKey: String, secretKey: Secret, sessionToken: Secret, region: String? = nil) {
        (self.accessKey, self.secretKey, self.sessionToken, self.region) = (accessKey, secretKey, sessionToken, region)
    }
}

/// The address of a deployment's broker.
public struct BrokerAddress: Sendable, Equatable {
    /// The address for boards: `host` or `host:port`.
    public var host: String
    /// The address for programs, which use WebSocket. At AWS IoT it is `https://HOST/mqtt`. RainMaker's cloud does not name one; another
    /// deployment can, by `websocket_url`.
    public var webSocket: ServiceURL

    /// The region in AWS's host names: `ID-ats.iot.REGION.amazonaws.com`.
    var region: String? {
        let parts = host.split(separator: ".")
        guard let iot = parts.firstIndex(of: "iot"), parts.count > iot + 2, parts[iot + 2] == "amazonaws" else {
            return nil
        }
        return String(parts[iot + 1])
    }
}

extension RainMakerCloud {
    /// The maximum number of nodes for one role (`assume_role` of the published interface).
    public static let nodesPerRole = 5

    /// Returns credentials for listening to nodes, five at most. Throws `unsupported` if the deployment does not give out any.
    public func assumeRole(for nodes: [NodeID]) async throws(AccountError) -> AssumedRole {
        let body: JSONValue = [
            "user_role": "mqtt", "node_ids": .array(nodes.map { .string($0.rawValue) }),
        ]
        let reply: JSONValue
        do throws(AccountError) {
            reply = try await call(RainMakerCall(.post, RainMakerCall.assumeRole, body: body))
        } catch {
            // If a deployment does not have this call, its gateway answers as for any unknown path.
            if error.code == .forbidden {
                var error = error
                error.message =
                    "\(deployment.base.authority) does not give this user access to live changes (assume_role)"
                throw error
            }
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

    /// Reads a text that the cloud may omit. A value of the wrong type is an error, because it must not lead to another broker.
    private func optionalText(_ reply: JSONValue, _ name: String) throws(AccountError) -> String? {
        guard let value = reply[name]?.unlessNull else { return nil }
        guard let text = value.string else { throw incomplete(name, in: reply) }
        return text
    }

    /// Returns the address of the deployment's broker.
    public func broker() async throws(AccountError) -> BrokerAddress {
        var call = RainMakerCall(.get, "mqtt_host")
        call.isVersioned = false
        let reply = try await callAnonymously(call)
        guard let host = reply["mqtt_host"]?.string, !host.isEmpty else { throw incomplete("mqtt_host", in: reply) }
        let named = try optionalText(reply, "websocket_url")
        // WebSocket schemes map to HTTP's: `wss` is `https`, and `ws` (only to this machine) is `http`.
        let url = named.map { $0.hasPrefix("ws") ? "http" + $0.dropFirst(2) : $0 } ?? "https://\(host)/mqtt"
        return BrokerAddress(host: host, webSocket: try ServiceURL(url))
    }
}
