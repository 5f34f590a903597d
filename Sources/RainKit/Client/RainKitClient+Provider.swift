// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import RainHTTP

/// A provider with its settings, ready for a session.
struct OpenProvider {
    /// Under which name its sessions are kept.
    var name: String
    var provider: ConfiguredProvider
    var server: ServerClock
    var http: any HTTPClient
}

extension RainKitClient {
    /// The definitions of identity providers: those built in, and the user's own.
    public var providerDefinitions: ProviderFolder { ProviderFolder(path: configuration.definitions) }

    /// With which settings each provider was signed in to from this folder.
    public var rememberedProviders: RememberedProviders {
        RememberedProviders(state: configuration.state)
    }

    func configuredProvider(_ selection: ProviderSelection) throws(AccountError) -> OpenProvider {
        if let settings = selection.settings {
            let entry = try providerDefinitions.entry(selection.name)
            return try configuredProvider(
                entry, settings, named: entry.definition.name(in: settings.environment), selection.challenges)
        }
        let remembered = try rememberedProviders.load()[selection.name]
        do throws(AccountError) {
            let settings = remembered ?? RememberedProviders.Settings(provider: selection.name)
            let entry = try providerDefinitions.entry(settings.provider)
            let found = try configuredProvider(
                entry, try settings.withSecrets(for: entry.definition, environment: configuration.environment),
                named: selection.name, selection.challenges)
            // A provider without an address has no services.
            guard remembered != nil || found.provider["base"] != nil || entry.definition.resources != nil else {
                throw AccountError(.missingParameter, message: "\(selection.name) cannot be used without its address")
            }
            return found
        } catch {
            // Settings that are missing are not what keeps somebody out who never signed in.
            guard remembered == nil, error.code == .missingParameter else { throw error }
            throw AccountError(
                .notSignedIn,
                message: "nobody is signed in to \(title(of: selection)) here; sign in to that provider first")
        }
    }

    /// As the provider's owners write it.
    func title(of selection: ProviderSelection) -> String {
        (try? providerDefinitions.entry(selection.name).definition.displayName) ?? selection.name
    }

    private func configuredProvider(
        _ entry: ProviderRegistry.Entry, _ settings: ProviderSettings, named name: String,
        _ challenges: (any ChallengeResolver)?
    ) throws(AccountError) -> OpenProvider {
        let tools = configuration.tools
        let server = ServerClock(clock: tools.clock)
        let http = tools.http(configuration.certificateAuthorities)
        let provider = try ConfiguredProvider(
            definition: entry.definition, settings: settings,
            tools: ProviderTools(
                http: server.listening(to: http), clock: tools.clock, hashes: tools.crypto,
                signatures: tools.signatures, challenges: challenges, random: tools.randomBytes), extension: entry.hooks
        )
        return OpenProvider(name: name, provider: provider, server: server, http: http)
    }
}

extension ProviderDefinition {
    /// What its settings and sessions are called when they are for that environment.
    public func name(in environment: String?) -> String {
        guard let environment, environment != defaultEnvironment else { return id }
        return "\(id)-\(environment)"
    }
}
