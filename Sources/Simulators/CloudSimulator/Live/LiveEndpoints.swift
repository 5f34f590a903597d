// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCrypto
import RainCryptoOpenSSL
import RainJSON
import Synchronization

/// Live changes: `assume_role`, and MQTT over WebSocket with its credentials.
extension CloudAPI {
    private static let nodesPerRole = 5

    /// `POST user/assume_role`.
    func assumeRole(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let body = try call.body()
        // The published description numbers these refusals 119018 to 119022, but does not assign the numbers.
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
            signature.isValid(for: role, now: now)
        else { return Response(status: 403, ["message": "Forbidden"]) }
        let suffixes = ["params/local"] + (options.allowsAlertTopics ? ["alert"] : [])
        let rights = LiveRights(maySubscribe: { topic in
            role.nodes.contains { node in suffixes.contains { topic == "node/\(node)/\($0)" } }
        })
        return live.upgrade(request, rights) ?? Response(status: 400, ["message": "Bad Request"])
    }
}

extension LiveSessions {
    /// Returns the answer that makes a request's connection a WebSocket with MQTT; nil for a request that does not ask for that.
    func upgrade(_ request: Request, _ rights: LiveRights) -> Response? {
        let protocols = (request.header("Sec-WebSocket-Protocol") ?? "").split(separator: ",").map {
            String($0.drop { $0 == " " })
        }
        guard request.header("Upgrade")?.lowercased() == "websocket", let key = request.header("Sec-WebSocket-Key"),
            request.header("Sec-WebSocket-Version") == "13", protocols.contains("mqtt")
        else { return nil }
        // RFC 6455, 1.3.
        let accept = Base64.text(OpenSSLHashes.sha1(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
        var response = Response(
            status: 101, content: .none,
            headers: [
                .init("Upgrade", "websocket"), .init("Connection", "Upgrade"), .init("Sec-WebSocket-Accept", accept),
                .init("Sec-WebSocket-Protocol", "mqtt"),
            ])
        response.takeOver = Response.TakeOver { [self] connection in run(LiveSession(connection, rights)) }
        return response
    }
}

/// The signature in the query of a request for the classic cloud's broker.
struct RequestSignature {
    fileprivate let accessKey: String
    private let check: AWSSignatureCheck

    /// Returns nil for a request without a signature, or with one of another kind.
    init?(_ request: Request) {
        guard let check = AWSSignatureCheck(query: request, service: "iotdevicegateway") else { return nil }
        (accessKey, self.check) = (check.accessKey, check)
    }

    /// - Parameter now: milliseconds since 1970.
    func isValid(for role: RoleTable.Role, now: Int64) -> Bool {
        role.expiresAt > now && check.region == RoleTable.region
            && check.isValid(secretKey: role.secretKey, sessionToken: role.sessionToken, at: now)
    }
}

/// The short-lived credentials that `assume_role` has issued.
struct RoleTable: Sendable {
    struct Role: Sendable {
        let accessKey: String
        let secretKey: String
        let sessionToken: String
        let nodes: Set<String>
        /// Milliseconds since 1970.
        let expiresAt: Int64
    }

    fileprivate static let region = "us-east-1"
    /// The lifetime of a role in milliseconds: an hour.
    fileprivate static let lifetime: Int64 = 3_600_000
    /// The maximum number of roles. Beyond it the oldest are dropped.
    private static let maximum = 1000

    private var roles: [Role] = []

    fileprivate mutating func add(_ role: Role) {
        roles.append(role)
        if roles.count > Self.maximum { roles.removeFirst() }
    }

    fileprivate func role(of accessKey: String) -> Role? { roles.first { $0.accessKey == accessKey } }
}
