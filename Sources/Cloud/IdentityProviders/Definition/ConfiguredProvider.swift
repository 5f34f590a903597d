import RainAccount
import RainHTTP
import RainJSON
import RainOAuth
import Synchronization
import RainCore

/// An identity provider made of a definition, a person's settings and, where data is not enough, an extension.
///
/// ```swift
/// let provider = try ProviderRegistry.builtIn.provider("oidc", settings: settings, tools: tools)
/// let session = AccountSession(provider: provider, http: client, store: store, key: key)
/// ```
public struct ConfiguredProvider: IdentityProvider {
    public let definition: ProviderDefinition
    public let settings: ProviderSettings
    public let tools: ProviderTools
    let hooks: any ProviderExtension
    /// `base`, `clientID` and the parameters, by name.
    let values: [String: String]
    public let resources: [ServiceURL]
    let metadata = DiscoveredMetadata()

    public var name: String { definition.id }

    /// - Throws: `missingParameter` for what the definition requires and nobody gave; `invalidConfiguration` and `insecureURL` for a base
    ///   that is none.
    public init(
        definition: ProviderDefinition, settings: ProviderSettings = ProviderSettings(), tools: ProviderTools,
        extension hooks: any ProviderExtension = NoExtension()
    ) throws(AccountError) {
        self.definition = definition
        self.settings = settings
        self.tools = tools
        self.hooks = hooks
        var values: [String: String] = [:]
        for parameter in definition.parameters ?? [] {
            values[parameter.name] = settings.parameters[parameter.name] ?? parameter.value
            guard parameter.required != true || values[parameter.name]?.isEmpty == false else {
                throw Self.missing(parameter.name, of: definition, parameter.description)
            }
        }
        for name in settings.parameters.keys.sorted() where values[name] == nil {
            throw AccountError(
                .invalidConfiguration,
                message: "\(definition.id) has no parameter \"\(presentable(name))\"", remedies: [.knownProvider])
        }
        if let mode = settings.mode, definition.modes?.contains(mode) != true {
            let modes = definition.modes.map { "but " + $0.joined(separator: ", ") } ?? "nor any other"
            throw AccountError(
                .invalidConfiguration, message: "\(definition.id) has no mode \"\(presentable(mode))\", \(modes)")
        }
        for name in settings.secrets.keys.sorted()
        where definition.secrets?.contains(where: { $0.name == name }) != true {
            throw AccountError(
                .invalidConfiguration,
                message: "\(definition.id) has no use for a secret called \"\(presentable(name))\"")
        }
        values["clientID"] = settings.clientID ?? definition.client?.id
        let base = try Self.base(definition, settings)
        values["base"] = base?.text
        self.values = values
        var resources: [ServiceURL] = []
        for template in definition.resources ?? ["{base}"] {
            if let text = filled(template, values) { resources.append(try ServiceURL(text)) }
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
                message: "\(definition.id) has no environment \"\(presentable(name))\", but \(names)")
        }
        return try ServiceURL(base)
    }

    private static func missing(_ name: String, of definition: ProviderDefinition, _ what: String?) -> AccountError {
        AccountError(
            .missingParameter,
            message: "\(definition.id) cannot be used without \(name)\(what.map { " (\($0))" } ?? "")",
            remedies: [name == "base" ? .baseURL : .parameter(name: name)])
    }

    public var context: [String: String] {
        var context: [String: String] = [:]
        for name in definition.context ?? ["base"] { context[name] = values[name] }
        return context.merging(hooks.context(of: self)) { $1 }
    }

    /// A setting: `base`, `clientID` or one of the definition's parameters.
    public subscript(name: String) -> String? { values[name] }

    /// The text with every `{name}` filled in; nil if one of them is not set.
    public func text(_ template: String) -> String? { filled(template, values) }

    // MARK: Endpoints

    /// The URL for a use, such as `token`.
    /// - Throws: `unsupported` if the provider has none, `missingParameter` if a setting in it is not given, `insecureURL`, and what
    ///   discovery throws.
    public func endpoint(_ use: String) async throws(AccountError) -> String {
        if let endpoint = try await findEndpoint(use) { return endpoint }
        throw AccountError(.unsupported, message: "\(name) has no endpoint for \(use)")
    }

    /// nil where the provider has none for that use.
    public func findEndpoint(_ use: String, _ more: [String: String] = [:]) async throws(AccountError) -> String? {
        if let template = definition.endpoints?[use] {
            let values = values.merging(more) { $1 }
            guard let text = filled(withoutMissingParts(template, values), values, isURL: true) else {
                throw AccountError(
                    .missingParameter,
                    message: "\(name)'s \(use) endpoint needs a setting that was not given: \(template)")
            }
            return try secureURL(text)
        }
        guard definition.discovery != nil else { return nil }
        let metadata = try await serverMetadata()
        let found: String? =
            switch use {
            case "authorize": metadata.authorizationEndpoint
            case "token": metadata.tokenEndpoint
            case "user": metadata.userInfoEndpoint
            case "revoke": metadata.revocationEndpoint
            case "introspect": metadata.introspectionEndpoint
            case "device": metadata.deviceAuthorizationEndpoint
            case "endSession": metadata.endSessionEndpoint
            default: nil
            }
        return try found.map { text throws(AccountError) in try secureURL(text) }
    }

    /// What the server calls itself, where that is known.
    public func issuer() async throws(AccountError) -> String? {
        if definition.discovery != nil { return try await serverMetadata().issuer }
        return definition.issuer.flatMap(text)
    }

    // MARK: The client

    /// - Throws: `missingParameter` without a client id.
    public func clientID() throws(AccountError) -> String {
        guard let id = values["clientID"], !id.isEmpty else {
            throw AccountError(
                .missingParameter,
                message: "\(name) cannot be used without a client id, which its operator gives", remedies: [.clientID])
        }
        return id
    }

    /// How the client proves who it is with this grant.
    public func client(for grant: GrantName) async throws(AccountError) -> ClientAuthentication {
        let id = try clientID()
        let rules = definition.grants?[grant.rawValue]
        guard let secret = settings.clientSecret else {
            let wanted = rules?.clientAuthentication ?? definition.client?.authentication
            if rules?.publicClient == false || wanted != nil && wanted != "none" {
                throw AccountError(
                    grant == .refreshToken ? .notRenewable : .missingParameter,
                    message: rules?.publicClientRemark ?? "\(name) wants the client's secret for this",
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

    /// What to ask for.
    public var scope: [String] {
        let asked = settings.scope ?? (definition.scope?.usual ?? []).compactMap { text($0) }
        return asked + (definition.scope?.always ?? []).compactMap { text($0) }.filter { !asked.contains($0) }
    }
}

/// A template with its braces filled in; nil if a value is missing. In a URL values are escaped, but for `base`.
func filled(_ template: String, _ values: [String: String], isURL: Bool = false) -> String? {
    var result = ""
    var rest = Substring(template)
    while let open = rest.firstIndex(of: "{") {
        guard let close = rest[open...].firstIndex(of: "}") else { break }
        let name = String(rest[rest.index(after: open)..<close])
        guard let value = values[name] else { return nil }
        result += rest[..<open] + (isURL && name != "base" && name != "issuer" ? percentEncoded(value) : value)
        rest = rest[rest.index(after: close)...]
    }
    return result + rest
}

/// https, or plain http to this machine only, as for ``ServiceURL``; with a query it may come.
func secureURL(_ text: String) throws(AccountError) -> String {
    let end = text.firstIndex(of: "?") ?? text.endIndex
    _ = try ServiceURL(String(text[..<end]))
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), !text.contains("#") else {
        throw AccountError(.invalidConfiguration, message: "\"\(presentable(text))\" is not an endpoint's URL")
    }
    return text
}
