// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainIO
import RainJSON
import Synchronization

/// Maps nodes at the user's own backend, as a ``NodeMappingDescription`` describes it. Any identity provider can have signed in the user.
///
/// If the description has `signIn`, the backend gets a one-time code, which it redeems at the identity provider itself. Each request then
/// carries the backend's own token as `Authorization: Bearer`. Call ``endSession()`` after the last request.
///
/// Otherwise each request carries the session's access token, if the description allows it. If the backend answers 401, the client gets a
/// new token and sends the request once more.
///
/// Every call throws `AccountError`: `expired` for a token that the backend does not accept, `mappingRefused` or `forbidden` for a refusal.
/// After `network`, `timeout`, `serverFault`, `rateLimited` or `malformedAnswer`, the same call may be repeated. No error contains a
/// secret.
///
/// ```swift
/// let description = try NodeMappingDescription(parsing: file, origin: "cloud.json")
/// let mapping = try HTTPNodeMapping(description, session: session, user: try await session.userID(), http: client)
/// ```
public struct HTTPNodeMapping: NodeMapping {
    /// The description of the requests, as the initializer received it.
    public let description: NodeMappingDescription
    private let calls: MappingCalls
    private let session: AccountSession
    private let http: any HTTPClient
    private let user: UserID
    private let proof: BackendProof

    /// Gets a one-time code with which that client of the identity provider can sign in the same user. SPiD has such codes.
    public typealias CodeSource = @Sendable (_ client: String) async throws(AccountError) -> Secret

    /// - Parameters:
    ///   - user: the user who will own the nodes: the session's own user, by the provider's id.
    ///   - codes: nil for an identity provider that has no one-time codes for another client.
    /// - Throws: `unreadableDefinition` for a description that was made by hand and contradicts itself, `invalidConfiguration` for one that
    ///   needs codes of a provider that has none.
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
                    "the backend signs users in with one-time codes, but this identity provider cannot issue codes for another client. If "
                    + "the backend may get the provider's own access token, set sendsProviderToken to true in the backend's description"
            )
        }
    }

    /// Checks that the session has the access token that is needed here. Sends nothing.
    /// - Throws: `invalidConfiguration` for a session that holds a password or cookies instead.
    public func checkSession() async throws(AccountError) { try await session.checkHasToken() }

    /// Whether the backend can map boards that prove themselves by signing a challenge.
    public var takesChallenges: Bool { calls.challenge != nil }

    /// Without `status` in the description, the answer to the user's half is the only evidence.
    public var confirmsReports: Bool { calls.status != nil }

    /// Checks that the description's requests have a place for the tags and metadata. Sends nothing.
    /// - Throws: `unsupported` for tags or metadata without a place, `invalidConfiguration` for metadata that is not a JSON object.
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
        // This backend reports nothing after the success of `add`.
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
        values[.signature] = .string(Hex.text(signature))
        _ = try await send(call, values)
    }

    private var noChallenges: AccountError {
        AccountError(
            .unsupported,
            message:
                "the board signs a challenge to prove its identity, but the backend's description has no challenge and no verify"
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

/// The proof that requests to a backend carry.
private enum BackendProof: Sendable {
    /// The identity provider's own access token.
    case providerToken
    /// A token that the backend issues for a one-time code.
    case ownToken(BackendSignIn)
}

/// The user's session at a backend. A one-time code begins it, and it is kept in memory until it ends.
private final class BackendSignIn: Sendable {
    let call: MappingCalls.Call
    let client: String
    /// The path to the token in the answer.
    let path: String
    let codes: HTTPNodeMapping.CodeSource
    private struct State { var token: Secret? }
    private let state = Mutex(State())
    private let turn = FairLock<Void, AccountError>()
    /// A sign-in takes two requests of ten seconds each.
    private static let patience = Duration.seconds(30)

    init(
        call: MappingCalls.Call, client: String, path: String, codes: @escaping HTTPNodeMapping.CodeSource
    ) {
        self.call = call
        self.client = client
        self.path = path
        self.codes = codes
    }

    /// Returns a token other than `rejected`. Simultaneous callers share one sign-in.
    func token(
        replacing rejected: Secret?, _ signIn: () async throws(AccountError) -> Secret
    ) async throws(AccountError) -> Secret {
        try await turn.enter(within: Self.patience, orThrow: Self.givenUp) {}
        defer { turn.leave() }
        if let known = state.withLock({ $0.token }), known != rejected { return known }
        let new = try await signIn()
        state.withLock { $0.token = new }
        return new
    }

    /// Returns the token and forgets it, because the session ends.
    func takeToken() -> Secret? {
        state.withLock { state in
            defer { state.token = nil }
            return state.token
        }
    }

    private static func givenUp(_ reason: GivenUp) -> AccountError {
        switch reason {
        case .timedOut:
            AccountError(.timeout, message: "the sign-in to the backend took longer than \(patience); try again later")
        case .cancelled: AccountError(.cancelled, message: "cancelled while signing in to the backend")
        }
    }
}

extension HTTPNodeMapping {
    /// Signs in to the backend if its description has `signIn`. A refusal therefore occurs before anything is sent to a board.
    public func beginSession() async throws(AccountError) {
        if case .ownToken(let own) = proof { _ = try await token(own, replacing: nil) }
    }

    /// Ends the backend's own session, if one was begun and the description has `signOut`. It is not an error if the backend has already
    /// ended the session.
    public func endSession() async throws(AccountError) {
        guard case .ownToken(let own) = proof, let token = own.takeToken(), let call = calls.signOut else { return }
        let request = try request(call, [:])
        let response = try await exchange(request, token)
        guard ![401, 404].contains(response.status) else { return }
        _ = try read(response, request, token, call.url.authority, [])
    }

    /// Returns the token for a request, or nil if nothing replaces a rejected token.
    private func token(replacing rejected: Secret?) async throws(AccountError) -> Secret? {
        switch proof {
        case .ownToken(let own): return try await token(own, replacing: rejected)
        case .providerToken:
            guard let rejected else { return try await session.bearerToken() }
            return try await session.bearerToken(replacing: rejected)
        }
    }

    private func token(_ own: BackendSignIn, replacing rejected: Secret?) async throws(AccountError) -> Secret {
        try await own.token(replacing: rejected) { () async throws(AccountError) in
            let code = try await own.codes(own.client)
            let request = try request(own.call, [.code: .string(code.revealString())])
            let host = own.call.url.authority
            let response = try await exchange(request, nil)
            return try read(response, request, nil, host, [code]) { answer throws(AccountError) in
                guard let token = try answer.text(at: own.path), Self.isToken(token) else {
                    throw answer.incomplete(own.path)
                }
                return Secret(token)
            }
        }
    }

    /// Whether the text may follow `Bearer` (RFC 6750, section 2.1). Other characters could end the header.
    private static func isToken(_ text: String) -> Bool {
        text.utf8.allSatisfy {
            $0.isASCIILetterOrDigit || "-._~+/=".utf8.contains($0)
        }
    }
}

extension HTTPNodeMapping {
    /// The time limit of one call to the backend.
    private static let deadline = Duration.seconds(10)

    /// Sends a request with the backend's token. If the backend does not accept the token, sends the request once more with a new one.
    /// - Parameter secrets: values in the body that must not appear in an error, whatever their members are called.
    private func send(
        _ call: MappingCalls.Call, _ values: MappingValues, hiding secrets: [Secret] = []
    ) async throws(AccountError) -> MappingAnswer {
        let request = try request(call, values)
        let token = try await token(replacing: nil)
        let host = call.url.authority
        let first = try await exchange(request, token)
        guard first.status == 401, let renewed = try await self.token(replacing: token) else {
            return try read(first, request, token, host, secrets)
        }
        let rejected = token.map { [$0] } ?? []
        return try read(try await exchange(request, renewed), request, renewed, host, secrets + rejected)
    }

    private func request(_ call: MappingCalls.Call, _ values: MappingValues) throws(AccountError) -> HTTPRequest {
        var values = values
        values[.userID] = .string(user.rawValue)
        var request = HTTPRequest(
            method: call.method, url: try call.url.filled(with: values),
            headers: [HTTPHeader("Accept", "application/json"), HTTPHeader("User-Agent", "RainKit")],
            deadline: Self.deadline, maximumResponseBytes: MappingAnswer.limits.maximumBytes)
        if let body = call.body {
            request.headers.append(HTTPHeader("Content-Type", "application/json"))
            request.body = body.filled(with: values).serialized()
        }
        return request
    }

    private func exchange(_ request: HTTPRequest, _ token: Secret?) async throws(AccountError) -> HTTPResponse {
        var request = request
        if let token { request.headers.append(HTTPHeader("Authorization", "Bearer " + token.revealString())) }
        do throws(HTTPError) { return try await http.send(request) } catch { throw AccountError(error) }
    }

    private func read(
        _ response: HTTPResponse, _ request: HTTPRequest, _ token: Secret?, _ host: String, _ secrets: [Secret]
    ) throws(AccountError) -> MappingAnswer {
        try read(response, request, token, host, secrets) { $0 }
    }

    /// Returns the result of `content` for the answer. Its errors contain no secret of the request.
    /// - Parameter token: the token that the request carried; nil for the sign-in, whose body has the code.
    private func read<Content>(
        _ response: HTTPResponse, _ request: HTTPRequest, _ token: Secret?, _ host: String, _ secrets: [Secret],
        _ content: (MappingAnswer) throws(AccountError) -> Content
    ) throws(AccountError) -> Content {
        let provedBy: MappingAnswer.Proof =
            switch proof {
            case .providerToken: .providerToken
            case .ownToken: token == nil ? .code : .ownToken
            }
        do throws(AccountError) {
            return try content(try MappingAnswer(response, from: host, provedBy: provedBy))
        } catch {
            var error = error
            error.retryAfter = response.retryAfter
            throw error.without(RequestSecrets(request, and: secrets + (token.map { [$0] } ?? [])), in: response) {
                response throws(AccountError) in
                try content(try MappingAnswer(response, from: host, provedBy: provedBy))
            }
        }
    }
}
