import IdentityProviders
import RainAccount
import RainMaker
import RainJSON
import RainPrivateFiles

/// With which settings each provider was signed in to, so that later commands need none of them. No secret is in it: of the client's
/// secret only the file's path is kept.
public struct RememberedProviders: Sendable {
    /// What a sign-in was made with.
    public struct Settings: Sendable, Equatable, Codable {
        /// The provider's name.
        public var provider: String
        public var environment: String?
        public var base: String?
        public var clientID: String?
        public var clientSecretFile: String?
        public var scope: [String]?
        public var mode: String?
        public var parameters: [String: String]?
        /// Where the profile's secrets are, by name.
        public var secretFiles: [String: String]?

        public init(provider: String) { self.provider = provider }
    }

    private struct Stored: Codable {
        var schemaVersion = 1
        var providers: [String: Settings]
    }

    private let file: PrivateFile

    public init(path: String) { file = PrivateFile(path: path) }

    /// By the name under which sessions are kept.
    public func load() throws(AccountError) -> [String: Settings] {
        do {
            return try Self.decoded(try file.read())
        } catch {
            throw failure(error)
        }
    }

    public func remember(_ settings: Settings, as name: String) throws(AccountError) {
        do {
            try file.update { bytes in
                var providers = try Self.decoded(bytes)
                providers[name] = settings
                return (try JSONCoder.encode(Stored(providers: providers)), ())
            }
        } catch {
            throw failure(error)
        }
    }

    private static func decoded(_ bytes: [UInt8]?) throws -> [String: Settings] {
        guard let bytes else { return [:] }
        return try JSONCoder.decode(Stored.self, from: bytes).providers
    }

    private func failure(_ error: any Error) -> AccountError {
        switch error {
        case let error as PrivateFileError where [.unwritable, .openFolder, .locked].contains(error.code):
            AccountError(.cannotStore, message: "\(error)")
        default:
            AccountError(
                .storeUnreadable, message: "what is remembered of the providers cannot be used: \(file.path): \(error)")
        }
    }
}
