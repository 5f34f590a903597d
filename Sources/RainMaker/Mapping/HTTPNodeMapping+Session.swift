// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainIO
import RainJSON
import Synchronization

/// What the requests to a backend prove themselves with.
enum BackendProof: Sendable {
    /// The identity provider's own access token.
    case providerToken
    /// A token that the backend gives for a one-time code.
    case ownToken(BackendSignIn)
}

/// The user's session at a backend: begun with a one-time code, and kept in memory until it is ended.
final class BackendSignIn: Sendable {
    let call: MappingCalls.Call
    let client: String
    /// Where the answer has the token.
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

    /// The token, another one than `rejected`; all who ask at once share one sign-in.
    func token(
        replacing rejected: Secret?, _ signIn: () async throws(AccountError) -> Secret
    ) async throws(AccountError) -> Secret {
        try await turn.enter(within: Self.patience, orThrow: Self.givenUp) {}
        defer { turn.leave {} }
        if let known = state.withLock({ $0.token }), known != rejected { return known }
        let new = try await signIn()
        state.withLock { $0.token = new }
        return new
    }

    /// Takes the token away: the session is not used any more.
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
    /// Signs in to the backend where its description says how, so that a refusal comes before anything is sent to a board.
    public func beginSession() async throws(AccountError) {
        if case .ownToken(let own) = proof { _ = try await token(own, replacing: nil) }
    }

    /// Ends the backend's own session, if one was begun and the description has `signOut`. A session that the backend has ended already is
    /// no error.
    public func endSession() async throws(AccountError) {
        guard case .ownToken(let own) = proof, let token = own.takeToken(), let call = calls.signOut else { return }
        let request = try request(call, [:])
        let response = try await exchange(request, token)
        guard ![401, 404].contains(response.status) else { return }
        _ = try read(response, request, token, call.url.authority, [])
    }

    /// What a request carries; nil for a rejected token that nothing replaces.
    func token(replacing rejected: Secret?) async throws(AccountError) -> Secret? {
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

    /// RFC 6750, section 2.1: what may stand behind `Bearer`. Anything else could end the header.
    private static func isToken(_ text: String) -> Bool {
        text.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || "-._~+/=".utf8.contains($0)
        }
    }
}
