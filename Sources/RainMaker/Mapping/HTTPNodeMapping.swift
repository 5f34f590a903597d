// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// Maps nodes at a backend of one's own, as a ``NodeMappingDescription`` describes it, in the name of a user whom any identity
/// provider has signed in.
///
/// Where the description has `signIn`, the backend gets a one-time code, which it redeems at the identity provider itself, and its own token
/// goes with each request as `Authorization: Bearer`; call ``endSession()`` when nothing more is asked. Otherwise the session's access token
/// goes there, if the description allows it. When the backend answers 401, a new token is got and the request sent once more.
///
/// Every call throws `AccountError`: `expired` for a token that the backend does not accept, `mappingRefused` or `forbidden` where it says no,
/// `network`, `timeout`, `serverFault`, `rateLimited` or `malformedAnswer` where the same call may be made again. No error holds a secret.
///
/// ```swift
/// let description = try NodeMappingDescription(parsing: file, origin: "cloud.json")
/// let mapping = try HTTPNodeMapping(description, session: session, user: try await session.userID(), http: client)
/// ```
public struct HTTPNodeMapping: NodeMapping {
    /// What the requests are made by, as it was given.
    public let description: NodeMappingDescription
    let calls: MappingCalls
    let session: AccountSession
    let http: any HTTPClient
    let user: UserID
    let proof: BackendProof

    /// Gets a one-time code by which that client of the identity provider can sign in the same user. SPiD has such codes.
    public typealias CodeSource = @Sendable (_ client: String) async throws(AccountError) -> Secret

    /// - Parameters:
    ///   - user: to whom the nodes will belong: the session's own user, by the provider's id.
    ///   - codes: nil for an identity provider that has no one-time codes for another client.
    /// - Throws: `unreadableDefinition` for a description that was made by hand and does not hold together, `invalidConfiguration` for one
    ///   that needs codes of a provider that has none.
    public init(
        _ description: NodeMappingDescription, session: AccountSession, user: UserID, http: any HTTPClient,
        codes: CodeSource? = nil
    ) throws(AccountError) {
        do throws(MappingDescriptionProblem) {
            calls = try MappingCalls(description)
        } catch {
            throw AccountError(.unreadableDefinition, message: "\(error.member): \(error.sentence)")
        }
        self.description = description
        self.session = session
        self.user = user
        self.http = http
        if let signIn = description.signIn, let call = calls.signIn, let codes {
            proof = .ownToken(BackendSignIn(call: call, client: signIn.client, path: signIn.token, codes: codes))
        } else if description.sendsProviderToken == true {
            proof = .providerToken
        } else {
            throw AccountError(
                .invalidConfiguration,
                message:
                    "the backend signs users in with one-time codes, and this identity provider has none for another client. Set "
                    + "sendsProviderToken to true in the backend's description if it may get the provider's own access token"
            )
        }
    }

    /// Makes sure, without sending anything, that the session has the access token that is needed here.
    /// - Throws: `invalidConfiguration` for a session that holds a password or cookies in its place.
    public func checkSession() async throws(AccountError) { try await session.checkHasToken() }

    /// Whether boards that prove themselves by signing a challenge can be mapped.
    public var takesChallenges: Bool { calls.challenge != nil }

    /// Without `status` in the description the answer to the user's half is all that is known.
    public var confirmsReports: Bool { calls.status != nil }

    /// Checks that what the user wants remembered has a place in the description's requests, before anything is sent.
    /// - Throws: `unsupported` for tags or metadata without one, `invalidConfiguration` for metadata that is no JSON object.
    public func check(_ notes: MappingNotes) throws(AccountError) { _ = try values(notes, for: calls.add, "add") }

    public func addMapping(
        node: NodeID, secret: MappingSecret, notes: MappingNotes = MappingNotes()
    ) async throws(AccountError) -> RequestID {
        var values = try values(notes, for: calls.add, "add")
        values[.nodeID] = .string(node.rawValue)
        values[.secretKey] = .string(secret.secret.revealString())
        let answer = try await send(calls.add, values, hiding: [secret.secret])
        guard let path = description.add.request, let request = try answer.text(at: path) else {
            return RequestID(node.rawValue)
        }
        return RequestID(request)
    }

    public func mappingStatus(_ request: RequestID) async throws(AccountError) -> MappingStatus {
        // The success of `add` was all that this backend says.
        guard let call = calls.status, let status = description.status else { return .confirmed }
        let answer = try await send(call, [.requestID: .string(request.rawValue)])
        guard let word = try answer.text(at: status.state) else { throw answer.incomplete(status.state) }
        if status.confirmed.contains(word) { return .confirmed }
        if status.requested?.contains(word) == true { return .requested }
        if status.timedOut?.contains(word) == true { return .timedOut }
        if status.discarded?.contains(word) == true { return .discarded }
        return .other(presentable(word))
    }

    public func initiateChallenge(lifetime: Duration) async throws(AccountError) -> MappingChallenge {
        guard let call = calls.challenge, let challenge = description.challenge else { throw noChallenges }
        let answer = try await send(call, [.lifetime: .integer(lifetime.components.seconds)])
        guard let request = try answer.text(at: challenge.request) else { throw answer.incomplete(challenge.request) }
        guard let text = try answer.text(at: challenge.challenge) else { throw answer.incomplete(challenge.challenge) }
        return MappingChallenge(request: RequestID(request), challenge: Array(text.utf8))
    }

    public func verifyChallenge(
        _ request: RequestID, node: NodeID, signature: [UInt8], notes: MappingNotes = MappingNotes()
    ) async throws(AccountError) {
        guard let call = calls.verify else { throw noChallenges }
        var values = try values(notes, for: call, "verify")
        values[.requestID] = .string(request.rawValue)
        values[.nodeID] = .string(node.rawValue)
        values[.signature] = .string(lowercaseHex(signature))
        _ = try await send(call, values)
    }

    private var noChallenges: AccountError {
        AccountError(
            .unsupported,
            message:
                "the board proves itself by signing a challenge, and the backend's description has no challenge and verify"
        )
    }

    private func values(
        _ notes: MappingNotes, for call: MappingCalls.Call, _ member: String
    ) throws(AccountError) -> MappingValues {
        var values: MappingValues = [:]
        if !notes.tags.isEmpty { values[.tags] = .array(notes.tags.map { .string($0) }) }
        values[.metadata] = try notes.metadataObject()
        for (placeholder, _) in values where !call.placeholders.contains(placeholder) {
            throw AccountError(
                .unsupported,
                message: "the backend's description has no place for {\(placeholder.rawValue)} in the body of \(member)"
            )
        }
        return values
    }
}
