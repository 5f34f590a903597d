// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainMaker
import RainPrivateFiles

/// With which settings each provider was signed in to, so that later commands need none of them. No secret is in it: of the client's
/// secret only the file's path is kept.
public struct RememberedProviders: Sendable {
    /// What a sign-in was made with.
    public struct Settings: Sendable, Equatable, Codable {
        /// The provider's name.
        public var provider: String
        /// One of the definition's environments, such as `staging`; its default if nil.
        public var environment: String?
        /// The base URL, for a provider that runs at many places.
        public var base: String?
        /// The id that the provider gave this client; nil for that of the definition.
        public var clientID: String?
        /// The path of the file with the client's secret, which is read whenever it is needed.
        public var clientSecretFile: String?
        /// The OAuth scopes to ask for; those of the definition if nil.
        public var scope: [String]?
        /// The provider's own name for the way of signing in.
        public var mode: String?
        /// Values of the definition's parameters, by name; none of them secret.
        public var parameters: [String: String]?
        /// Where the profile's secrets are, by name.
        public var secretFiles: [String: String]?
        /// Which client at which addresses the two name secrets for (``client(of:)``); they are used for no other.
        public var secretsOf: String?

        public init(provider: String) { self.provider = provider }
    }

    private struct Stored: Codable {
        var schemaVersion = 1
        var providers: [String: Settings]
    }

    private let document: PrivateDocument<Stored>

    /// - Parameter state: the client's folder.
    public init(state: String) { self.init(path: "\(state)/providers.json") }

    /// - Parameter path: the JSON file; made when the first settings are remembered.
    public init(path: String) { document = PrivateDocument(path: path) }

    /// By the name under which sessions are kept.
    public func load() throws(AccountError) -> [String: Settings] {
        try document.load(orThrow: failure)?.providers ?? [:]
    }

    /// Keeps settings in the place of earlier ones of that name. Throws `cannotStore`, and `storeUnreadable` for a damaged file.
    public func remember(_ settings: Settings, as name: String) throws(AccountError) {
        try document.change(orThrow: failure) { stored throws(AccountError) in
            var providers = stored?.providers ?? [:]
            providers[name] = settings
            stored = Stored(providers: providers)
        }
    }

    private func failure(_ error: PrivateDocumentError) -> AccountError {
        switch error.code {
        case .unwritable: AccountError(.cannotStore, message: "\(error)")
        case .unreadable:
            AccountError(
                .storeUnreadable,
                message: error.sentence(
                    "the list of providers' settings", afterMoving: "give them at the next sign-in"))
        }
    }
}
