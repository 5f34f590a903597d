// SPDX-License-Identifier: Apache-2.0
import RainCryptoOpenSSL
import RainJSON
import Synchronization

/// Live changes: `assume_role`, and MQTT over WebSocket with what it gives.
extension CloudAPI {
    static let nodesPerRole = 5

    /// `POST user/assume_role`.
    func assumeRole(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let body = try call.body()
        // The published description numbers these refusals 119018 to 119022, and does not say which is which.
        guard ["mqtt", "videostream"].contains(try body.string("user_role") ?? "") else {
            throw APIError(119018, "User role is not valid")
        }
        let nodes = try Self.names(body.value["node_ids"])
        guard (1...Self.nodesPerRole).contains(nodes.count) else {
            throw APIError(119019, "Node ids must be 1 to \(Self.nodesPerRole)")
        }
        for node in nodes {
            do throws(APIError) { _ = try ownNode(node, of: user) } catch { throw .nodeNotOwned }
        }
        let role = RoleTable.Role(
            accessKey: "ASIA" + Self.shortID().uppercased(), secretKey: "\(Self.shortID())/\(Self.shortID())+",
            sessionToken: "\(makeUUID())/\(Self.shortID())==", nodes: Set(nodes), expiresAt: now + RoleTable.lifetime)
        roles.withLock { $0.add(role) }
        return Response([
            "access_key": .string(role.accessKey), "secret_key": .string(role.secretKey),
            "session_token": .string(role.sessionToken), "region": .string(RoleTable.region),
            "expiration": .integer(role.expiresAt / 1000),
        ])
    }

    /// `GET /mqtt`: becomes a WebSocket.
    func openLive(_ call: Call) -> Response {
        let request = call.request
        guard let signature = RequestSignature(request),
            let role = roles.withLock({ $0.role(of: signature.accessKey) }),
            signature.isValid(for: role, request, now: now)
        else { return Response(status: 403, ["message": "Forbidden"]) }
        let protocols = (request.header("Sec-WebSocket-Protocol") ?? "").split(separator: ",").map {
            String($0.drop { $0 == " " })
        }
        guard request.header("Upgrade")?.lowercased() == "websocket", let key = request.header("Sec-WebSocket-Key"),
            request.header("Sec-WebSocket-Version") == "13", protocols.contains("mqtt")
        else { return Response(status: 400, ["message": "Bad Request"]) }
        // RFC 6455, 1.3.
        let accept = base64(OpenSSLHashes.sha1(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
        var response = Response(
            status: 101, content: .none,
            headers: [
                .init("Upgrade", "websocket"), .init("Connection", "Upgrade"), .init("Sec-WebSocket-Accept", accept),
                .init("Sec-WebSocket-Protocol", "mqtt"),
            ])
        response.takeOver = Response.TakeOver { [live] connection in
            live.run(LiveSession(connection, nodes: role.nodes))
        }
        return response
    }
}
