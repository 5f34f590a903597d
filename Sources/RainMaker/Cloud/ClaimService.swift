// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// A deployment's claim service, in the name of the user whom an ``RainAccount/AccountSession`` has signed in.
///
/// `{claim}/claim/initiate` and `{claim}/claim/verify`; the service has no versions, and its refusals no numbers.
public struct ClaimService: NodeClaiming {
    private let base: ServiceURL
    private let session: AccountSession

    /// Nil where the deployment has none.
    public init?(_ deployment: Deployment, session: AccountSession) {
        guard let claim = deployment.claim else { return nil }
        base = claim
        self.session = session
    }

    /// What a board can hold: firmware reads each reply into 3072 bytes with a NUL behind it.
    public static let maximumReplyBytes = 3071

    public func initiateClaim(_ board: [UInt8]) async throws(AccountError) -> ClaimInvitation {
        let (json, reply) = try await call("claim/initiate", board)
        let node = json["node_id"]?.string ?? ""
        // Firmware keeps the id in 64 bytes; it becomes a topic and a certificate's name.
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

    /// The reply as JSON and as it came.
    private func call(_ path: String, _ body: [UInt8]) async throws(AccountError) -> (JSONValue, [UInt8]) {
        let words: JSONValue
        do throws(JSONError) {
            words = try JSONValue(parsing: body, limits: JSONLimits(maximumBytes: Self.maximumReplyBytes))
        } catch {
            throw AccountError(.invalidInput, message: "what the board says is no JSON (\(error)); it was not sent")
        }
        var request = RainMakerCall(.post, path, body: words).request(below: base.text + "/")
        request.body = body
        let host = base.authority
        let (json, reply) = try await session.send(request) { response throws(AccountError) in
            (try RainMakerReply.value(response, from: host), response.body)
        }
        guard reply.count <= Self.maximumReplyBytes else {
            // No other answer is to be expected, so it counts as a refusal.
            throw AccountError(
                .rejected,
                message:
                    "the claim service at \(base.authority) answered with \(reply.count) bytes, and a board holds "
                    + "\(Self.maximumReplyBytes)")
        }
        return (json, reply)
    }

    private func unusable(_ what: String) -> AccountError {
        AccountError(.malformedAnswer, message: "the claim service at \(base.authority) answered \(what)")
    }
}

/// The claim service's side of giving a board its certificate: what an onboarding needs of it, and nothing else.
///
/// Board and service talk JSON that the client relays as it is. Both calls may be made again: the same board gets the same id.
/// Every call throws ``RainAccount/AccountError``.
public protocol NodeClaiming: Sendable {
    /// Hands in what the board says of itself (`mac_addr`, `platform`).
    func initiateClaim(_ board: [UInt8]) async throws(AccountError) -> ClaimInvitation

    /// Hands in the board's request for a certificate (`csr`).
    /// - Returns: the service's reply, for the board: a JSON object with the certificate.
    func verifyClaim(_ request: [UInt8]) async throws(AccountError) -> [UInt8]
}

/// The service's word that a board may be claimed.
public struct ClaimInvitation: Sendable, Equatable {
    /// The id that the board will have.
    public var node: NodeID
    /// The reply itself, for the board.
    public var reply: [UInt8]

    public init(node: NodeID, reply: [UInt8]) {
        self.node = node
        self.reply = reply
    }
}
