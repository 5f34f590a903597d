// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

extension RainMakerCloud: NodeMapping {
    public func addMapping(
        node: NodeID, secret: MappingSecret, notes: MappingNotes = MappingNotes()
    ) async throws(AccountError) -> RequestID {
        let body: [JSONValue.Member] = [
            .init("node_id", .string(node.rawValue)), .init("secret_key", .string(secret.secret.revealString())),
            .init("operation", "add"),
        ]
        let reply = try await call(
            RainMakerCall(.put, "user/nodes/mapping", body: .object(body + (try members(notes)))))
        guard let request = reply["request_id"]?.string, !request.isEmpty else {
            throw incomplete("request_id", in: reply)
        }
        return RequestID(request)
    }

    public func mappingStatus(_ request: RequestID) async throws(AccountError) -> MappingStatus {
        let query = [(name: "request_id", value: request.rawValue)]
        let reply = try await call(RainMakerCall(.get, "user/nodes/mapping", query: query))
        switch reply["request_status"]?.string {
        case "requested": return .requested
        case "confirmed": return .confirmed
        case "timedout": return .timedOut
        case "discarded": return .discarded
        case let word?: return .other(presentable(word))
        case nil: throw incomplete("request_status")
        }
    }

    /// Removes a node from the user's account. The cloud does not notify the node.
    public func removeMapping(node: NodeID) async throws(AccountError) {
        let body: JSONValue = ["node_id": .string(node.rawValue), "operation": "remove"]
        _ = try await call(RainMakerCall(.put, "user/nodes/mapping", body: body))
    }

    public func initiateChallenge(lifetime: Duration) async throws(AccountError) -> MappingChallenge {
        // The service's description does not give the unit. Every client sends 360 and means six minutes.
        let body: JSONValue = ["timeout": .integer(lifetime.components.seconds)]
        let reply = try await call(RainMakerCall(.post, RainMakerCall.initiateMapping, body: body))
        guard let request = reply["request_id"]?.string, !request.isEmpty else {
            throw incomplete("request_id", in: reply)
        }
        guard let challenge = reply["challenge"]?.string, !challenge.isEmpty else {
            throw incomplete("challenge", in: reply)
        }
        return MappingChallenge(request: RequestID(request), challenge: Array(challenge.utf8))
    }

    public func verifyChallenge(
        _ request: RequestID, node: NodeID, signature: [UInt8], notes: MappingNotes = MappingNotes()
    ) async throws(AccountError) {
        let body: [JSONValue.Member] = [
            .init("request_id", .string(request.rawValue)), .init("node_id", .string(node.rawValue)),
            .init("challenge_response", .string(Hex.text(signature))),
        ]
        let call = RainMakerCall(.post, "user/nodes/mapping/verify", body: .object(body + (try members(notes))))
        do {
            _ = try await self.call(call)
        } catch {
            // This call repeats an earlier one whose answer was lost.
            guard error.serverCode == Self.alreadyConfirmed else { throw error }
        }
    }

    public func connectivity(of node: NodeID) async throws(AccountError) -> Node.Connectivity? {
        try await nodeConnectivity(node)
    }

    public func brokerHost() async throws(AccountError) -> String? { try await mqttHost() }

    /// The error code for "Mapping request is already confirmed."
    private static let alreadyConfirmed = 103_033

    private func members(_ notes: MappingNotes) throws(AccountError) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        if !notes.tags.isEmpty { members.append(.init("tags", .array(notes.tags.map { .string($0) }))) }
        if let metadata = try notes.metadataObject() { members.append(.init("metadata", metadata)) }
        return members
    }
}

extension MappingNotes {
    /// Returns the metadata as JSON, or nil if there is no metadata.
    func metadataObject() throws(AccountError) -> JSONValue? {
        guard let text = metadata else { return nil }
        guard let object = try? JSONValue(parsing: Array(text.utf8)), object.members != nil else {
            throw AccountError(.invalidConfiguration, message: "the metadata is not a JSON object")
        }
        return object
    }
}
