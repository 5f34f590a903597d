// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// The association of a node with a group: the node signs a challenge of the cloud.
extension NeoCloud {
    /// There is no mapping by a secret.
    public var acceptsSecrets: Bool { false }
    /// Any answer ends the request, and so may an answer whose reply was lost.
    public var challengesTakeOneAnswer: Bool { true }
    /// The node is in its group before it has any network, so only its own report shows that it is online.
    public var presenceLimit: Duration? { .seconds(120) }

    public func addMapping(
        node: NodeID, secret: MappingSecret, notes: MappingNotes
    ) async throws(AccountError) -> RequestID {
        throw AccountError(.unsupported, message: "\(kind) accepts only boards that sign challenges (ch_resp)")
    }

    public func mappingStatus(_ request: RequestID) async throws(AccountError) -> MappingStatus {
        throw AccountError(.unsupported, message: "\(kind) accepts only boards that sign challenges (ch_resp)")
    }

    /// Returns a challenge for a node that is to come into the user's group "Home", or else into the first group that the user owns. If
    /// the user owns no group, "Home" is created.
    ///
    /// - Parameter lifetime: not used. The cloud's challenges are valid for five minutes.
    public func initiateChallenge(lifetime: Duration) async throws(AccountError) -> MappingChallenge {
        let owned = try await freshGroups().filter { $0.access == "primary" && !$0.isMatter }
        let group: String
        if let chosen = owned.first(where: { $0.name == Self.homeName }) ?? owned.first {
            group = chosen.id
        } else {
            group = try await createGroup(NodeGroupChange(name: Self.homeName), nodes: [])
        }
        let reply = try await api.call(.post, "groups/\(group)/node-assoc-requests")
        guard let request = reply["request_id"]?.string, NeoGroup.isID(request) else {
            throw api.incomplete("request_id")
        }
        guard let challenge = reply["challenge"]?.string, !challenge.isEmpty, challenge.utf8.count <= 512 else {
            throw api.incomplete("challenge")
        }
        // A later run may finish it, so the id names the group as well.
        return MappingChallenge(request: RequestID("\(group)/\(request)"), challenge: Array(challenge.utf8))
    }

    private static let homeName = "Home"

    /// Any reply of the cloud ends the request, and another try needs another challenge. Only the errors of requests that the cloud has perhaps
    /// not read are transient.
    public func verifyChallenge(
        _ request: RequestID, node: NodeID, signature: [UInt8], notes: MappingNotes
    ) async throws(AccountError) {
        guard notes.tags.isEmpty else { throw notUsed("tags of nodes") }
        guard notes.metadata == nil else { throw unsupported("metadata of nodes") }
        let parts = request.rawValue.split(separator: "/").map(String.init)
        guard parts.count == 2, parts.allSatisfy(NeoGroup.isID) else {
            throw AccountError(.mappingRefused, message: "the request to add the node is not for RainMaker Neo")
        }
        let body: JSONValue = [
            "challenge_response": .string(Hex.text(signature)), "node_id": .string(node.rawValue),
        ]
        defer { memory.forgetGroups() }
        let refusal: AccountError
        do throws(AccountError) {
            try await api.call(.post, "groups/\(parts[0])/node-assoc-requests/\(parts[1])/verify", body: body)
            return
        } catch {
            refusal = error
        }
        // The answer to an earlier call may have been lost.
        if refusal.status == 400,
            try await freshGroups().contains(where: { $0.id == parts[0] && $0.nodes.contains(node) })
        {
            return
        }
        throw meaning(refusal, of: node)
    }

    /// What API Gateway sends in Neo's form when it did not get a reply of Neo's.
    private static let gatewayWords: Set = [
        "internal server error", "internal server failure", "service unavailable", "endpoint request timed out",
    ]

    private func meaning(_ refusal: AccountError, of node: NodeID) -> AccountError {
        var error = refusal
        let shown = "\(node)".onOneLine
        switch (refusal.status, refusal.serverMessage?.lowercased() ?? "") {
        case (401, let words) where words.contains("challenge"):
            error.message =
                "the cloud does not accept the board's signature: its certificate is not registered at this deployment, or the board has "
                + "another key. The request has ended: try again with a new challenge"
        case (401, let words) where words.contains("user"):
            error.message = "the request to add the board belongs to another user; try again"
        case (400, let words) where words.contains("request id"):
            error.message =
                "the request to add the board has ended: it is valid for five minutes and for one answer. Try again"
        case (_, let words) where words.contains("fetch certificate"):
            error.message =
                "\(api.base.authority) has no certificate for the board (node id \(shown)): the board must be registered in this deployment "
                + "first"
        case (500, let words) where !words.isEmpty && !Self.gatewayWords.contains(words):
            error.message =
                "\(api.base.authority) could not add the board (node id \(shown)) to the group. The request has ended: another attempt needs a "
                + "new challenge"
        default: return refusal
        }
        error.code = .mappingRefused
        return error
    }

    public func connectivity(of node: NodeID) async throws(AccountError) -> Node.Connectivity? {
        try await nodeConnectivity(node)
    }

    public func brokerHost() async throws(AccountError) -> String? { try await nodeHosts().mqtt }
}
