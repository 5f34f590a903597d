// SPDX-License-Identifier: Apache-2.0
import RainCore

/// What a sign-in page sent the browser back with (RFC 6749, sections 4.1.2 and 4.2.2).
public struct AuthorizationResponse: Sendable, Equatable {
    /// What the page answered.
    public enum Outcome: Sendable, Equatable {
        /// To be redeemed at the token endpoint, once and soon.
        case code(Secret)
        /// The implicit flow's tokens.
        case tokens(TokenResponse)
        /// The user or the server said no.
        case refused(OAuthError)
    }

    /// What the page answered.
    public var outcome: Outcome
    /// What the request had as its state.
    public var state: State?
    /// Who answers (RFC 9207).
    public var issuer: String?

    public init(_ outcome: Outcome, state: State? = nil, issuer: String? = nil) {
        self.outcome = outcome
        self.state = state
        self.issuer = issuer
    }

    /// Reads the answer in a URL that the browser was sent to, from its query, its fragment or both: servers differ in where
    /// they put which.
    ///
    /// Throws `mismatch` for a URL other than `redirectURI`, `missing` if it holds no answer, `duplicate` and `conflicting` where
    /// it could be read in two ways.
    public init(url: some StringProtocol, to redirectURI: RedirectURI) throws(OAuth2FormatError) {
        guard let (query, fragment) = redirectURI.answer(in: url) else {
            throw OAuth2FormatError(.mismatch, "the address is not the redirect URI")
        }
        try self.init(query: query.utf8, fragment: fragment.utf8)
    }

    /// Reads the answer in what stands behind `?` and behind `#`.
    public init(query: some Collection<UInt8>, fragment: some Collection<UInt8> = [UInt8]())
        throws(OAuth2FormatError)
    {
        var parameters = try ParameterList(parsing: query)
        let more = try ParameterList(parsing: fragment)
        for name in more.names { try parameters.append(name, more[name] ?? "") }
        try self.init(parameters)
    }

    /// Reads an answer from parameters. Throws `conflicting` where they say two things at once, `missing` where they
    /// hold no answer.
    public init(_ parameters: ParameterList) throws(OAuth2FormatError) {
        let code = parameters["code"]
        let error = OAuthError(parameters)
        let token = parameters["access_token"]
        guard [code != nil, error != nil, token != nil].filter({ $0 }).count <= 1 else {
            throw OAuth2FormatError(.conflicting, "the answer says two things at once")
        }
        if let code {
            guard !code.isEmpty, code.utf8.allSatisfy(isVisible) else {
                throw OAuth2FormatError(.malformed, "the code is empty or not visible ASCII")
            }
            outcome = .code(Secret(code))
        } else if let error {
            outcome = .refused(error)
        } else if token != nil {
            outcome = .tokens(try TokenResponse(parameters))
        } else {
            throw OAuth2FormatError(.missing, "there is neither a code nor an error")
        }
        if let text = parameters["state"] {
            guard let state = State(text) else {
                throw OAuth2FormatError(.malformed, "the state is not a possible one")
            }
            self.state = state
        } else {
            state = nil
        }
        issuer = parameters["iss"]
    }

    /// Whether this answers the request that was made with `state`.
    ///
    /// - Parameters:
    ///   - issuer: whom the request went to, where that is known. An answer that names another one is not for us
    ///     (RFC 9207, section 2.4).
    ///   - requiresIssuer: for servers that say that they always name themselves (RFC 9207, section 3): an answer without is not theirs.
    ///   - mayLackState: for relays that do not hand the state on.
    public func check(
        state expected: State, issuer known: String?, requiresIssuer: Bool = false, mayLackState: Bool = false
    ) throws(OAuth2FormatError) {
        guard state == expected || state == nil && mayLackState else {
            throw OAuth2FormatError(
                .mismatch, state == nil ? "the answer has no state" : "the state is not the one that was sent")
        }
        if let known, let issuer, issuer != known {
            let isSlash = ServerMetadata.differOnlyInSlash(issuer, known)
            throw OAuth2FormatError(
                .mismatch,
                "the answer comes from another issuer"
                    + (isSlash ? ", whose name differs only in the \"/\" at the end" : ""))
        }
        guard issuer != nil || known == nil || !requiresIssuer else {
            throw OAuth2FormatError(.mismatch, "the answer does not say who its issuer is")
        }
    }

    /// The parameters as a server lays them behind the redirect URI.
    public func parameters() throws(OAuth2FormatError) -> ParameterList {
        var list: ParameterList
        switch outcome {
        case .code(let code):
            list = ParameterList()
            try list.append("code", code.revealString())
        case .tokens(let tokens): list = try tokens.parameters()
        case .refused(let error): list = error.parameters
        }
        if let state { try list.append("state", state.secret.revealString()) }
        if let issuer { try list.append("iss", issuer) }
        return list
    }
}
