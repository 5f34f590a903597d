// SPDX-License-Identifier: Apache-2.0
import Glibc
import IdentityProviders
import RainAccount
import RainCore
import RainIO
import RainMaker
import RainPrivateFiles

/// Remembers the settings of each provider's last sign-in, so that later commands need none of them. The file has no secrets: only the path
/// of the file with the client's secret is kept.
public struct RememberedProviders: Sendable {
    /// The settings of one sign-in.
    public struct Settings: Sendable, Equatable, Codable {
        /// The provider's name.
        public var provider: String
        /// One of the definition's environments, such as `staging`; its default if nil.
        public var environment: String?
        /// The base URL, for a provider that can have many addresses.
        public var base: String?
        /// The id that the provider gave this client; the definition's client id if nil.
        public var clientID: String?
        /// The path of the file with the client's secret, which is read whenever it is needed.
        public var clientSecretFile: String?
        /// The OAuth scopes to request; those of the definition if nil.
        public var scope: [String]?
        /// The provider's own name for the method of signing in.
        public var mode: String?
        /// Values of the definition's parameters, by name; none of them secret.
        public var parameters: [String: String]?
        /// The paths of the files with the profile's secrets, by name.
        public var secretFiles: [String: String]?
        /// The client and the addresses that the two files' secrets belong to (``client(of:)``). The secrets are used for no others.
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

    /// - Parameter path: the JSON file. It is created when the first settings are remembered.
    public init(path: String) { document = PrivateDocument(path: path) }

    /// Returns the settings by the names under which sessions are kept.
    public func load() throws(AccountError) -> [String: Settings] {
        try document.load(orThrow: failure)?.providers ?? [:]
    }

    /// Remembers settings in place of earlier ones of that name. Throws `cannotStore`, and `storeUnreadable` for a damaged file.
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
                    "the list of providers' settings", afterMoving: "give the settings again at the next sign-in"))
        }
    }
}

/// A client's secret belongs to its client id, at its provider's addresses (RFC 6749, section 2.3.1).
extension RememberedProviders.Settings {
    /// Returns the client id of these settings, and the addresses to which its secret is sent.
    public func client(of definition: ProviderDefinition) -> String {
        let id = clientID ?? definition.client?.id ?? ""
        return ([id, "at"] + definition.origins(with: withoutSecrets)).joined(separator: " ")
    }

    /// Replaces settings by those that are given now. A parameter that is given as an empty text is removed.
    ///
    /// - Returns: whether secrets were left out, because they belong to another client or another address. Secrets that are given now are
    ///   always used.
    public mutating func update(with given: Self, for definition: ProviderDefinition) -> Bool {
        let before = self
        environment = given.environment ?? environment
        base = given.base ?? base
        clientID = given.clientID ?? clientID
        scope = given.scope ?? scope
        parameters = (parameters ?? [:]).merging(given.parameters ?? [:]) { $1 }.filter { !$0.value.isEmpty }
        let client = client(of: definition)
        let isOther = (before.secretsOf ?? before.client(of: definition)) != client
        if isOther { (clientSecretFile, secretFiles) = (nil, nil) }
        clientSecretFile = given.clientSecretFile ?? clientSecretFile
        secretFiles = (secretFiles ?? [:]).merging(given.secretFiles ?? [:]) { $1 }
        secretsOf = client
        return isOther
            && (clientSecretFile == nil && before.clientSecretFile != nil
                || before.secretFiles?.keys.contains { secretFiles?[$0] == nil } == true)
    }

    /// Returns the settings that are not given now and come from an earlier sign-in. None of them is secret.
    public func recalled(beside given: Self) -> [RecalledSetting] {
        var recalled: [RecalledSetting] = []
        func add(_ name: String, _ value: String?, _ now: String?) {
            if let value, now == nil { recalled.append(RecalledSetting(name: name, value: value)) }
        }
        add("base URL", base, given.base)
        add("client id", clientID, given.clientID)
        add("scope", scope?.joined(separator: " "), given.scope?.joined(separator: " "))
        for (name, value) in (parameters ?? [:]).sorted(by: { $0.key < $1.key }) where given.parameters?[name] == nil {
            recalled.append(RecalledSetting(name: name, value: value, isParameter: true))
        }
        return recalled
    }

    /// Whether these settings use the definition's own client. The secret that the definition names belongs to that client.
    func isDefined(by definition: ProviderDefinition) -> Bool {
        let own = definition.origins(with: ProviderSettings(environment: environment))
        let isItsClient = clientID == nil || definition.client?.id == nil || clientID == definition.client?.id
        return isItsClient && Set(own).isSubset(of: definition.origins(with: withoutSecrets))
    }

    /// The settings in the provider's form, without the secrets.
    public var withoutSecrets: ProviderSettings {
        ProviderSettings(environment: environment, base: base, clientID: clientID, parameters: parameters ?? [:])
    }
}

/// A setting of an earlier sign-in that is used again.
public struct RecalledSetting: Sendable, Equatable {
    /// The setting's name for people: `base URL`, or the name of a parameter such as `loginBy`.
    public var name: String
    /// The value from the earlier sign-in.
    public var value: String
    /// Whether it is one of the provider's own parameters.
    public var isParameter = false

    public init(name: String, value: String, isParameter: Bool = false) {
        self.name = name
        self.value = value
        self.isParameter = isParameter
    }
}

extension AccountError {
    /// Adds the settings of an earlier sign-in to the message, since the user has not given them now and may have forgotten them. Errors
    /// that no setting can cause stay as they are.
    public func recalling(_ settings: [RecalledSetting]) -> AccountError {
        let causes: Set<Code> = [
            .invalidCredentials, .unknownUser, .invalidUserName, .wrongContext, .missingParameter,
            .invalidConfiguration,
            .unsupported, .clientRefused, .untrustedAnswer, .insecureURL, .moved, .rejected, .forbidden, .invalidGrant,
        ]
        guard causes.contains(code), !settings.isEmpty else { return self }
        var error = self
        let list = settings.map { "\($0.name)=\(presentable($0.value))" }.joined(separator: ", ")
        error.message += ". Settings of an earlier sign-in were used: \(list)"
        error.remedies.append(.rememberedSettings(settings.filter(\.isParameter).map(\.name)))
        return error
    }
}

extension RememberedProviders.Settings {
    /// RainKit's own variable, for a client's secret whose variable no definition names.
    public static let clientSecretVariable = "RAINKIT_CLIENT_SECRET"

    /// Returns the settings with their secrets. Each secret comes from the file that they name, else from the variable that the definition
    /// names, else from ``clientSecretVariable``. Secrets of another client, or for another address, are not used.
    /// Throws `storeUnreadable` for a file or a variable that holds no usable text.
    public func withSecrets(
        for definition: ProviderDefinition, environment: [String: String]
    ) throws(AccountError) -> ProviderSettings {
        let client = isDefined(by: definition) ? definition.client : nil
        let areOurs = secretsOf == nil || secretsOf == self.client(of: definition)
        var clientSecret: Secret?
        if let file = areOurs ? clientSecretFile ?? client?.secretFile : client?.secretFile {
            clientSecret = try SecretFile.contents(of: file, name: "client secret")
        } else {
            let names = [client?.secretEnvironment, Self.clientSecretVariable].compactMap(\.self)
            if let name = names.first(where: { environment[$0]?.isEmpty == false }) {
                clientSecret = try Self.secret(environment[name] ?? "", of: name)
            }
        }
        var secrets: [String: Secret] = [:]
        for (name, file) in areOurs ? secretFiles ?? [:] : [:] {
            secrets[name] = try SecretFile.contents(of: file, name: name)
        }
        return ProviderSettings(
            environment: self.environment, base: base, clientID: clientID, clientSecret: clientSecret, scope: scope,
            mode: mode, parameters: parameters ?? [:], secrets: secrets)
    }

    /// Reads a secret by the rules of ``FileText``: a variable may come from a file with Windows line ends.
    private static func secret(_ text: String, of name: String) throws(AccountError) -> Secret {
        do throws(FileText.Fault) {
            return Secret(try FileText.secret(Array(text.utf8)[...]))
        } catch {
            throw AccountError(.storeUnreadable, message: "the client secret in \(name) cannot be used: \(error)")
        }
    }
}

/// A secret in one of the user's files.
enum SecretFile {
    /// The maximum size that is read.
    static let maximumBytes = 4096

    /// Returns the one line of the file (``FileText/secret(_:)``). A pipe is read to its end, and may take five seconds for each part.
    ///
    /// Throws `storeUnreadable` if the file is absent, cannot be read or is too long, if it is not one line of text, or if others may read
    /// it too.
    static func contents(of path: String, name: String) throws(AccountError) -> Secret {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure(name, path, systemErrorText(errno)) }
        defer { close(descriptor) }
        if isOpenToOthers(descriptor) {
            throw failure(name, path, "other users of this machine may read it; restrict it with chmod 600")
        }
        var buffer = [UInt8](repeating: 0, count: maximumBytes + 1)
        defer { for index in buffer.indices { buffer[index] = 0 } }
        var count = 0
        while count < buffer.count {
            // A pipe that nobody has opened for writing would look empty.
            guard hasMore(descriptor) else { throw failure(name, path, "nothing was written to it in time") }
            let room = buffer.count - count
            let more = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress! + count, room) }
            if more == 0 { break }
            guard more > 0 else {
                if errno == EINTR || errno == EAGAIN { continue }
                throw failure(name, path, systemErrorText(errno))
            }
            count += more
        }
        guard count <= maximumBytes else { throw failure(name, path, "it is longer than \(maximumBytes) bytes") }
        do throws(FileText.Fault) {
            let text = try FileText.secret(buffer[..<count])
            if !text.isEmpty { return Secret(text) }
        } catch {
            throw failure(name, path, "\(error)")
        }
        throw AccountError(.storeUnreadable, message: "the \(name) is empty: write it into the file \(path)")
    }

    /// Whether other users may access a file: all of them, or the group of a file that is the user's own. A file that root gives to a
    /// service is for its user alone: the access lists of systemd's credentials appear as the group's rights. A pipe is private.
    private static func isOpenToOthers(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
        return status.st_mode & S_IRWXO != 0 || status.st_uid == geteuid() && status.st_mode & S_IRWXG != 0
    }

    /// Waits up to five seconds for data or the end. For a file it returns at once.
    private static func hasMore(_ descriptor: Int32) -> Bool {
        pollDescriptor(descriptor, for: .readable, until: .after(.seconds(5)))
    }

    private static func failure(_ name: String, _ path: String, _ why: String) -> AccountError {
        AccountError(.storeUnreadable, message: "the \(name) cannot be read from \(path): \(why)")
    }
}
