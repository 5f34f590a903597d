// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// Calls a deployment's claim service for the user of an `AccountSession`.
///
/// The calls are `{claim}/claim/initiate` and `{claim}/claim/verify`. The service has no version numbers, and its refusals have no error
/// codes.
public struct ClaimService: NodeClaiming {
    private let base: ServiceURL
    private let session: AccountSession

    /// Returns nil if the deployment has no claim service.
    public init?(_ deployment: Deployment, session: AccountSession) {
        guard let claim = deployment.claim else { return nil }
        base = claim
        self.session = session
    }

    /// The largest reply that a board can hold. Firmware reads each reply into 3072 bytes, the last of which is a NUL.
    public static let maximumReplyBytes = 3071

    public func initiateClaim(_ board: [UInt8]) async throws(AccountError) -> ClaimInvitation {
        let (json, reply) = try await call("claim/initiate", board)
        let node = json["node_id"]?.string ?? ""
        // Firmware keeps the id in 64 bytes. It uses the id as a topic and as the name in the certificate.
        guard (1...63).contains(node.utf8.count), node.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw unusable("without a node id that a board could have")
        }
        return ClaimInvitation(node: NodeID(node), reply: reply)
    }

    public func verifyClaim(_ request: [UInt8]) async throws(AccountError) -> [UInt8] {
        let (json, reply): (JSONValue, [UInt8])
        do throws(AccountError) {
            (json, reply) = try await call("claim/verify", request)
        } catch {
            // An answer that is too long for a board has status 200.
            guard error.code == .rejected, !error.isFromGateway, let status = error.status else { throw error }
            var error = error
            error.message =
                "the claim service at \(base.authority) does not accept the board's certificate request (HTTP \(status))"
            throw error
        }
        guard json["certificate"]?.string?.isEmpty == false else { throw unusable("without a certificate") }
        return reply
    }

    /// Returns the reply as JSON, and its bytes unchanged.
    private func call(_ path: String, _ body: [UInt8]) async throws(AccountError) -> (JSONValue, [UInt8]) {
        let words: JSONValue
        do throws(JSONError) {
            words = try JSONValue(parsing: body, limits: JSONLimits(maximumBytes: Self.maximumReplyBytes))
        } catch {
            throw AccountError(.invalidInput, message: "the board's message is not JSON, and was not sent: \(error)")
        }
        var request = RainMakerCall(.post, path, body: words).request(below: base.text + "/")
        request.body = body
        let host = base.authority
        let (json, reply) = try await session.send(request) { response throws(AccountError) in
            (try RainMakerReply.value(response, from: host), response.body)
        }
        guard reply.count <= Self.maximumReplyBytes else {
            // The service would give the same answer again, so this counts as a refusal.
            throw AccountError(
                .rejected,
                message:
                    "the claim service at \(base.authority) answered with \(reply.count) bytes, but a board can store at most "
                    + "\(Self.maximumReplyBytes)")
        }
        return (json, reply)
    }

    private func unusable(_ what: String) -> AccountError {
        AccountError(.malformedAnswer, message: "the claim service at \(base.authority) answered \(what)")
    }
}

/// The calls to a claim service that onboarding needs to get a board its certificate.
///
/// Board and service exchange JSON, which the client forwards unchanged. Both calls may be repeated: the same board gets the same id. Every
/// call throws `AccountError`.
public protocol NodeClaiming: Sendable {
    /// Sends the board's description of itself (`mac_addr`, `platform`).
    func initiateClaim(_ board: [UInt8]) async throws(AccountError) -> ClaimInvitation

    /// Sends the board's certificate request (`csr`).
    /// - Returns: the service's reply for the board: a JSON object with the certificate.
    func verifyClaim(_ request: [UInt8]) async throws(AccountError) -> [UInt8]
}

/// The service's answer that a board may be claimed.
public struct ClaimInvitation: Sendable, Equatable {
    /// The id that the board will have.
    public var node: NodeID
    /// The unchanged reply, to be sent to the board.
    public var reply: [UInt8]

    public init(node: NodeID, reply: [UInt8]) {
        self.node = node
        self.reply = reply
    }
}
