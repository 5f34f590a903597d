// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON

/// An identity provider made of a definition, a person's settings and, where data is not enough, an extension.
///
/// ```swift
/// let provider = try ProviderRegistry.builtIn.provider("oidc", settings: settings, tools: tools)
/// let session = AccountSession(provider: provider, http: client, store: store, key: key)
/// ```
public struct ConfiguredProvider: IdentityProvider {
    /// The definition that it was made of, as it was read: texts with braces are not filled in.
    public let definition: ProviderDefinition
    /// What the person gave. Values with the definition's defaults are read by ``subscript(_:)``.
    public let settings: ProviderSettings
    /// The HTTP client, clock, hashes and randomness for every call, for extensions too.
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
                message: "\(definition.displayName) has no parameter \"\(presentable(name))\"",
                remedies: [.knownProvider])
        }
        if let mode = settings.mode, definition.modes?.contains(mode) != true {
            let modes = definition.modes.map { "but " + $0.joined(separator: ", ") } ?? "nor any other"
            throw AccountError(
                .invalidConfiguration,
                message: "\(definition.displayName) has no mode \"\(presentable(mode))\", \(modes)")
        }
        for name in settings.secrets.keys.sorted()
        where definition.secrets?.contains(where: { $0.name == name }) != true {
            throw AccountError(
                .invalidConfiguration,
                message: "\(definition.displayName) has no use for a secret called \"\(presentable(name))\"")
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
                message: "\(definition.displayName) has no environment \"\(presentable(name))\", but \(names)")
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
        // A definition that was changed leads elsewhere too.
        context["addresses"] = definition.origins(filledWith: values).joined(separator: " ")
        return context.merging(hooks.context(of: self)) { $1 }
    }

    /// A setting: `base`, `clientID` or one of the definition's parameters.
    public subscript(name: String) -> String? { values[name] }

    /// The text with every `{name}` filled in; nil if one of them is not set.
    public func text(_ template: String) -> String? { filled(template, values) }

    /// The same for a URL, whose parts in brackets are left out where a setting is not given.
    public func url(_ template: String) -> String? {
        filled(withoutMissingParts(template, values), values, isURL: true)
    }
}
