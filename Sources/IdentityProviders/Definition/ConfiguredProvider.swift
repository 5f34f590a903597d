// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// An identity provider made from a definition, the user's settings and, if data is not enough, an extension.
///
/// ```swift
/// let provider = try ProviderRegistry.builtIn.provider("oidc", settings: settings, tools: tools)
/// let session = AccountSession(provider: provider, http: client, store: store, key: key)
/// ```
public struct ConfiguredProvider: IdentityProvider {
    /// The definition as it was read: the braces in its texts are not replaced.
    public let definition: ProviderDefinition
    /// The user's settings. ``subscript(_:)`` returns values that include the definition's defaults.
    public let settings: ProviderSettings
    /// The HTTP client, clock, hashes and randomness for every call, also of extensions.
    public let tools: ProviderTools
    let hooks: any ProviderExtension
    /// `base`, `clientID` and the parameters, by name.
    let values: [String: String]
    public let resources: [ServiceURL]
    let metadata = DiscoveredMetadata()
    let identityKeys = KnownIdentityKeys()
    let gate = GatePass()

    public var name: String { definition.id }
    public var title: String { definition.displayName }

    /// - Throws: `missingParameter` for a required setting that is missing; `invalidConfiguration` and `insecureURL` for an invalid base
    ///   URL.
    public init(
        definition: ProviderDefinition, settings: ProviderSettings = ProviderSettings(), tools: ProviderTools,
        extension hooks: any ProviderExtension = NoExtension()
    ) throws(AccountError) {
        self.definition = definition
        self.settings = settings
        self.tools = tools
        self.hooks = hooks
        // A misspelt name is reported before the parameter that is missing because of it.
        let known = Set((definition.parameters ?? []).map(\.name))
        for name in settings.parameters.keys.sorted() where !known.contains(name) {
            throw AccountError(
                .invalidConfiguration,
                message: "\(definition.displayName) has no parameter \"\(presentable(name))\"",
                remedies: [.knownProvider])
        }
        var values: [String: String] = [:]
        for parameter in definition.parameters ?? [] {
            values[parameter.name] = settings.parameters[parameter.name] ?? parameter.value
            guard parameter.required != true || values[parameter.name]?.isEmpty == false else {
                throw Self.missing(parameter.name, of: definition, parameter.description)
            }
        }
        if let mode = settings.mode, definition.modes?.contains(mode) != true {
            let modes = definition.modes.map { "it has " + $0.joined(separator: ", ") } ?? "it has no modes"
            throw AccountError(
                .invalidConfiguration,
                message: "\(definition.displayName) has no mode \"\(presentable(mode))\"; \(modes)")
        }
        for name in settings.secrets.keys.sorted()
        where definition.secrets?.contains(where: { $0.name == name }) != true {
            throw AccountError(
                .invalidConfiguration,
                message: "\(definition.displayName) uses no secret named \"\(presentable(name))\"")
        }
        values["clientID"] = settings.clientID ?? definition.client?.id
        let base = try Self.base(definition, settings)
        values["base"] = base?.text
        self.values = values
        var resources: [ServiceURL] = []
        for template in definition.resources ?? ["{base}"] {
            if let text = filled(template, values, isURL: true) { resources.append(try ServiceURL(text)) }
        }
        self.resources = resources
    }

    private static func base(
        _ definition: ProviderDefinition, _ settings: ProviderSettings
    ) throws(AccountError) -> ServiceURL? {
        if let base = settings.base { return try ServiceURL(base) }
        guard let environments = definition.environments else { return nil }
        guard let name = settings.environment ?? definition.defaultEnvironment else {
            throw missing("base", of: definition, "the server's base URL")
        }
        guard let base = environments[name] else {
            let names = environments.keys.sorted().joined(separator: ", ")
            throw AccountError(
                .invalidConfiguration,
                message: "\(definition.displayName) has no environment \"\(presentable(name))\"; it has \(names)")
        }
        return try ServiceURL(base)
    }

    private static func missing(_ name: String, of definition: ProviderDefinition, _ what: String?) -> AccountError {
        AccountError(
            .missingParameter,
            message: "\(definition.displayName) cannot be used without \(name)\(what.map { " (\($0))" } ?? "")",
            remedies: [name == "base" ? .baseURL : .parameter(name: name)])
    }

    public var modesWithToken: [String] {
        (definition.modes ?? []).filter { mode in
            definition.grant(ofMode: mode).map { ![.basic, .cookie].contains($0) } ?? false
        }
    }

    public var context: [String: String] {
        var context: [String: String] = [:]
        for name in definition.context ?? ["base"] { context[name] = values[name] }
        // A changed definition may lead to other addresses.
        context["addresses"] = definition.origins(filledWith: values).joined(separator: " ")
        return context.merging(hooks.context(of: self)) { $1 }
    }

    /// Returns a setting: `base`, `clientID` or one of the definition's parameters.
    public subscript(name: String) -> String? { values[name] }

    /// Replaces every `{name}` in the text. Returns nil if a setting is missing.
    public func text(_ template: String) -> String? { filled(template, values) }

    /// Replaces every `{name}` in a URL. Parts in brackets are omitted if a setting is missing.
    public func url(_ template: String) -> String? {
        filled(withoutMissingParts(template, values), values, isURL: true)
    }
}

extension ConfiguredProvider {
    /// - Throws: `missingParameter` without a client id.
    public func clientID() throws(AccountError) -> String {
        guard let id = values["clientID"], !id.isEmpty else {
            throw AccountError(
                .missingParameter,
                message: "\(title) cannot be used without a client id, which its operator assigns",
                remedies: [.clientID])
        }
        return id
    }

    /// Returns how the client authenticates with this grant.
    public func client(for grant: GrantName) async throws(AccountError) -> ClientAuthentication {
        let id = try clientID()
        let rules = definition.grants?[grant.rawValue]
        guard let secret = settings.clientSecret else {
            if lacksSecret(for: grant) {
                throw AccountError(
                    grant == .refreshToken ? .notRenewable : .missingParameter,
                    message: rules?.publicClientRemark ?? "\(title) requires the client's secret for this",
                    remedies: [.clientSecret])
            }
            return .none(clientID: id)
        }
        switch rules?.clientAuthentication ?? definition.client?.authentication {
        case "none": return .none(clientID: id)
        case "basic": return .basic(clientID: id, secret: secret)
        case "post": return .post(clientID: id, secret: secret)
        case "signed": return .signed(clientID: id)
        default:
            let methods =
                definition.discovery == nil ? nil : try await serverMetadata().tokenEndpointAuthenticationMethods
            if let methods, !methods.contains("client_secret_basic"), methods.contains("client_secret_post") {
                return .post(clientID: id, secret: secret)
            }
            return .basic(clientID: id, secret: secret)
        }
    }

    /// Whether the provider requires the client's secret with this grant, by its definition, and it is missing.
    func lacksSecret(for grant: GrantName) -> Bool {
        guard settings.clientSecret == nil else { return false }
        let rules = definition.grants?[grant.rawValue]
        let wanted = rules?.clientAuthentication ?? definition.client?.authentication
        return rules?.publicClient == false || wanted != nil && wanted != "none"
    }

    /// The scope to request.
    public var scope: [String] {
        let asked = settings.scope ?? (definition.scope?.usual ?? []).compactMap { text($0) }
        return asked + (definition.scope?.always ?? []).compactMap { text($0) }.filter { !asked.contains($0) }
    }
}

extension ConfiguredProvider {
    /// The answer of a call that succeeded.
    public struct Reply: Sendable {
        /// The content, without the provider's envelope; `null` if no JSON was needed and none arrived.
        public var json: JSONValue
        /// The HTTP response with the content, for its headers and its status.
        public var response: HTTPResponse
    }

    /// Sends a request unchanged and reads the answer.
    /// - Throws: the meaning of a failure by the extension or the definition; `network` and similar codes.
    public func exchange(
        _ request: HTTPRequest, for grant: GrantName? = nil, wantsJSON: Bool = true
    ) async throws(AccountError) -> Reply {
        // Challenges are judged by the request without the header for a server in front.
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

    /// Returns nil for an answer of the provider itself. Its refusals are JSON.
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

    /// Sends a form to one of the provider's endpoints, with the client's proof.
    public func post(
        _ form: FormRequest, to url: String, as client: ClientAuthentication, for grant: GrantName,
        wantsJSON: Bool = true
    ) async throws(AccountError) -> Reply {
        let inQuery = definition.grants?[grant.rawValue]?.placement == "query"
        var request = HTTPRequest(form, to: url, as: client, inQuery: inQuery)
        try hooks.prepare(&request, for: grant, self)
        return try await exchange(request, for: grant, wantsJSON: wantsJSON)
    }

    /// Sends a request as the user, once. Renewing is the session's task.
    public func send(
        _ request: HTTPRequest, with tokens: Tokens, wantsJSON: Bool = true
    ) async throws(AccountError) -> Reply {
        var request = request
        authorize(&request, with: tokens)
        return try await exchange(request, wantsJSON: wantsJSON)
    }

    /// Reads an answer that arrived through other code, usually a session. Its errors may quote the request.
    public func read(_ response: HTTPResponse, of url: String) throws(AccountError) -> Reply {
        try read(response, from: hostName(of: url), for: nil, wantsJSON: true)
    }

    private func read(
        _ response: HTTPResponse, from host: String, for grant: GrantName?, wantsJSON: Bool
    ) throws(AccountError) -> Reply {
        if let error = AccountError(interference: response, from: host) { throw error }
        let json = try? JSONValue(parsing: response.body, limits: TokenResponse.limits)
        // A session's calls can go to any address, and its renewal has succeeded before.
        let isSignIn = grant != nil && grant != .refreshToken
        if let failure = hooks.failure(of: response, json, self) {
            throw isSignIn ? failure.nothingThere(at: self, host) : failure
        }
        if let refusal = EndpointRefusal(response, json, from: host, isForTokens: grant != nil) {
            if let error = definition.error(for: refusal, grant) { throw error }
            let isUnnamed = refusal.refusal == nil
            throw isSignIn && isUnnamed ? refusal.error.nothingThere(at: self, host) : refusal.error
        }
        guard let json else {
            guard wantsJSON else { return Reply(json: .null, response: response) }
            throw .unreadable(response, from: host)
        }
        return Reply(json: try hooks.content(of: json, in: response, self), response: response)
    }

    private func hostName(of url: String) -> String { host(of: url) ?? name }
}
