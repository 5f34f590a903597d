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
            signature.isValid(for: role, request, now: now)
        else { return Response(status: 403, ["message": "Forbidden"]) }
        let protocols = (request.header("Sec-WebSocket-Protocol") ?? "").split(separator: ",").map {
            String($0.drop { $0 == " " })
        }
        guard request.header("Upgrade")?.lowercased() == "websocket", let key = request.header("Sec-WebSocket-Key"),
            request.header("Sec-WebSocket-Version") == "13", protocols.contains("mqtt")
        else { return Response(status: 400, ["message": "Bad Request"]) }
        // RFC 6455, 1.3.
        let accept = Base64.text(OpenSSLHashes.sha1(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)))
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

/// The signature in the query of a request (AWS Signature Version 4), as AWS IoT checks it: the session token is not signed.
struct RequestSignature {
    fileprivate let accessKey: String
    private let sessionToken: String?
    private let fields: [Request.Field]
    private let scope: [String]
    private let date: String
    private let signature: String
    private let seconds: Int64

    private static let signatureName = "X-Amz-Signature"
    private static let tokenName = "X-Amz-Security-Token"

    /// Returns nil for a request without a signature, or with one of another kind.
    init?(_ request: Request) {
        func value(_ name: String) -> String? {
            let found = request.query.filter { $0.name == name }
            return found.count == 1 ? found[0].value : nil
        }
        guard value("X-Amz-Algorithm") == "AWS4-HMAC-SHA256", value("X-Amz-SignedHeaders") == "host",
            let credential = value("X-Amz-Credential"), let date = value("X-Amz-Date"),
            let signature = value(Self.signatureName), let seconds = Int64(value("X-Amz-Expires") ?? "300"),
            (1...86_400).contains(seconds)
        else { return nil }
        let parts = credential.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 5, parts[1] == date.prefix(8), parts[3...] == ["iotdevicegateway", "aws4_request"] else {
            return nil
        }
        accessKey = parts[0]
        scope = Array(parts[1...])
        sessionToken = value(Self.tokenName)
        fields = request.query.filter { $0.name != Self.signatureName && $0.name != Self.tokenName }
        (self.date, self.signature, self.seconds) = (date, signature, seconds)
    }

    /// - Parameter now: milliseconds since 1970. AWS accepts signatures up to five minutes ahead.
    func isValid(for role: RoleTable.Role, _ request: Request, now: Int64) -> Bool {
        guard sessionToken == role.sessionToken, role.expiresAt > now, scope[1] == RoleTable.region,
            let signed = Self.milliseconds(date), (signed - 300_000...signed + seconds * 1000).contains(now),
            let host = request.header("Host")
        else { return false }
        let query = fields.map { "\(PercentEncoding.encoded($0.name))=\(PercentEncoding.encoded($0.value))" }.sorted()
            .joined(separator: "&")
        let canonical = "GET\n\(request.path)\n\(query)\nhost:\(host)\n\nhost\n" + Hex.text(OpenSSLHashes.sha256([]))
        let text =
            "AWS4-HMAC-SHA256\n\(date)\n\(scope.joined(separator: "/"))\n"
            + Hex.text(OpenSSLHashes.sha256(Array(canonical.utf8)))
        let key = scope.reduce(Array("AWS4\(role.secretKey)".utf8)) {
            OpenSSLHashes.hmacSHA256(Array($1.utf8), key: $0)
        }
        return Hex.text(OpenSSLHashes.hmacSHA256(Array(text.utf8), key: key)) == signature
    }

    /// Reads a time such as `20130524T000000Z`.
    private static func milliseconds(_ text: String) -> Int64? {
        CivilTime(basic: text).map { Int64($0.secondsSince1970) * 1000 }
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
