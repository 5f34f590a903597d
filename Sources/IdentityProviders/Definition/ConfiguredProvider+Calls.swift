// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

extension ConfiguredProvider {
    /// What came back from a call that succeeded.
    public struct Reply: Sendable {
        /// The content, taken out of its envelope if the provider has one; `null` if no JSON was wanted and none came.
        public var json: JSONValue
        /// The HTTP response that the content came in, for its headers and its status.
        public var response: HTTPResponse
    }

    /// Sends a request as it is and reads the answer.
    /// - Throws: what the extension or the definition makes of a failure; `network` and its neighbours.
    public func exchange(
        _ request: HTTPRequest, for grant: GrantName? = nil, wantsJSON: Bool = true
    ) async throws(AccountError) -> Reply {
        // Challenges are judged by what the request has without the pass.
        let own = request
        let host = hostName(of: own.url)
        var request = own
        gate.apply(to: &request, for: host)
        var answer: HTTPHeader?
        var failures = 0
        while true {
            let (sent, asked, before) = (request, answer == nil ? own : request, failures)
            let outcome = try await tools.http.send(sent) { response throws(AccountError) in
                metadata.learn(status: response.status, from: sent.url)
                if let challenge = challenge(in: response, to: asked, before) { return Outcome.challenge(challenge) }
                return .reply(try read(response, from: host, for: grant, wantsJSON: wantsJSON))
            }
            switch outcome {
            case .reply(let reply):
                if let answer { gate.set(answer, for: host) }
                return reply
            case .challenge(let challenge):
                gate.forget(for: host)
                let name = challenge.header.lowercased()
                guard !own.headers.contains(where: { $0.name.lowercased() == name }) else {
                    let mode = settings.mode == "cookie" ? nil : definition.modes?.first { $0 == "cookie" }
                    throw challenge.conflict(mode: mode)
                }
                let new = try await tools.answer(challenge)
                request = own
                request.headers.append(new)
                answer = new
                failures += 1
            }
        }
    }

    private enum Outcome {
        case reply(Reply)
        case challenge(AuthenticationChallenge)
    }

    /// Nil for what the provider itself says. Its refusals are JSON.
    private func challenge(
        in response: HTTPResponse, to request: HTTPRequest, _ failures: Int
    ) -> AuthenticationChallenge? {
        guard
            let challenge = AuthenticationChallenge(
                response, host: hostName(of: request.url), previousFailureCount: failures),
            (try? JSONValue(parsing: response.body, limits: TokenResponse.limits))?.members == nil,
            failures > 0 || challenge.isFromGate(request, realm: hooks.realm)
        else { return nil }
        return challenge
    }

    /// Sends a form to one of the provider's endpoints, with the client's own proof.
    public func post(
        _ form: FormRequest, to url: String, as client: ClientAuthentication, for grant: GrantName,
        wantsJSON: Bool = true
    ) async throws(AccountError) -> Reply {
        let inQuery = definition.grants?[grant.rawValue]?.placement == "query"
        var request = HTTPRequest(form, to: url, as: client, inQuery: inQuery)
        try hooks.prepare(&request, for: grant, self)
        return try await exchange(request, for: grant, wantsJSON: wantsJSON)
    }

    /// Sends a request in the user's name, once: renewing is the session's.
    public func send(
        _ request: HTTPRequest, with tokens: Tokens, wantsJSON: Bool = true
    ) async throws(AccountError) -> Reply {
        var request = request
        authorize(&request, with: tokens)
        return try await exchange(request, wantsJSON: wantsJSON)
    }

    /// Reads an answer that came by another way, a session's above all. What it throws may quote the request.
    public func read(_ response: HTTPResponse, of url: String) throws(AccountError) -> Reply {
        try read(response, from: hostName(of: url), for: nil, wantsJSON: true)
    }

    private func read(
        _ response: HTTPResponse, from host: String, for grant: GrantName?, wantsJSON: Bool
    ) throws(AccountError) -> Reply {
        if let error = AccountError(interference: response, from: host) { throw error }
        let json = try? JSONValue(parsing: response.body, limits: TokenResponse.limits)
        // A session's calls go to any address, and its renewal succeeded before.
        let isSignIn = grant != nil && grant != .refreshToken
        if let failure = hooks.failure(of: response, json, self) {
            throw isSignIn ? failure.nothingThere(of: title, at: host) : failure
        }
        if let refusal = EndpointRefusal(response, json, from: host, isForTokens: grant != nil) {
            if let error = definition.error(for: refusal, grant) { throw error }
            let isUnnamed = refusal.refusal == nil
            throw isSignIn && isUnnamed ? refusal.error.nothingThere(of: title, at: host) : refusal.error
        }
        guard let json else {
            guard wantsJSON else { return Reply(json: .null, response: response) }
            throw .unreadable(response, from: host)
        }
        return Reply(json: try hooks.content(of: json, in: response, self), response: response)
    }

    private func hostName(of url: String) -> String { host(of: url) ?? name }
}
