// SPDX-License-Identifier: Apache-2.0
import Glibc
import IdentityProviders
import RainAccount
import RainJSON
import RainMaker
import RainPrivateFiles

/// Reads the provider definitions that a user has added: JSON files in one folder, read when they are needed. Nothing is compiled.
///
/// The definitions decide where passwords are sent. The files must therefore belong to the user or to root, and nobody else may be able to
/// write them.
public struct ProviderFolder: Sendable {
    /// The folder's path. The folder may be absent.
    public let path: String

    /// The maximum number of files. A folder with more files is meant for something else.
    public static let maximumFiles = 64

    public init(path: String) { self.path = path }

    /// Returns the built-in providers and those of the folder, and for each invalid file its problem.
    /// - Throws: `unreadableDefinition` for a folder with too many files.
    public func load() throws(AccountError) -> (registry: ProviderRegistry, problems: [String: AccountError]) {
        let (registry, unusable) = try read()
        var problems: [String: AccountError] = [:]
        for file in unusable { problems[file.name] = file.error }
        return (registry, problems)
    }

    /// Returns the provider of that name. If its file is invalid, the file's problem is thrown.
    public func entry(_ id: String) throws(AccountError) -> ProviderRegistry.Entry {
        let (registry, unusable) = try read()
        do throws(AccountError) {
            return try registry.entry(id)
        } catch {
            throw unusable.first { $0.isNamed(id) }?.error ?? error
        }
    }

    /// Returns the problem of a file that is meant to define this provider and is not used; nil if there is no such file.
    ///
    /// The provider may exist anyway: a file cannot replace a built-in one.
    /// - Throws: `unreadableDefinition` for a folder with too many files.
    package func problem(with id: String) throws(AccountError) -> AccountError? {
        try read().unusable.first { $0.isNamed(id) }?.error
    }

    /// A file that is not used.
    private struct UnusableFile {
        /// The file's name, without the suffix.
        let name: String
        /// The provider's id in the file, if it can be read.
        let id: String?
        let error: AccountError

        /// Whether a request for this provider means this file. Ids are lower case, which people overlook.
        func isNamed(_ id: String) -> Bool {
            let wanted = id.lowercased()
            return name.lowercased() == wanted || self.id?.lowercased() == wanted
        }
    }

    private func read() throws(AccountError) -> (registry: ProviderRegistry, unusable: [UnusableFile]) {
        var registry = ProviderRegistry.builtIn
        var unusable: [UnusableFile] = []
        for name in try names() {
            var text: [UInt8] = []
            do throws(AccountError) {
                text = try contents(of: name)
                try registry.add(parsing: text, origin: "\(path)/\(name)")
            } catch {
                let json = try? JSONValue(parsing: text, limits: ProviderDefinition.limits)
                unusable.append(UnusableFile(name: String(name.dropLast(5)), id: json?["id"]?.string, error: error))
            }
        }
        return (registry, unusable)
    }

    /// The names of the folder's JSON files, sorted; empty if there is no folder.
    private func names() throws(AccountError) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name.hasSuffix(".json"), !name.hasPrefix(".") else { continue }
            names.append(name)
            guard names.count <= Self.maximumFiles else {
                throw AccountError(
                    .unreadableDefinition,
                    message: "\(path) has more than \(Self.maximumFiles) files; keep only the definitions that you use")
            }
        }
        return names.sorted()
    }

    private func contents(of name: String) throws(AccountError) -> [UInt8] {
        let file = "\(path)/\(name)"
        let limit = ProviderDefinition.limits.maximumBytes
        do throws(PrivateFileError) {
            if let bytes = try OwnedFile.contents(of: file, maximumBytes: limit) { return bytes }
        } catch {
            throw failure(file, error.code == .tooLarge ? "it is longer than \(limit) bytes" : "\(error)")
        }
        throw failure(file, "it no longer exists")
    }

    private func failure(_ file: String, _ what: String) -> AccountError {
        AccountError(.unreadableDefinition, message: "the provider's definition \(file) cannot be used: \(what)")
    }
}

extension RainMakerIdentity {
    /// The definition that lists RainMaker's sign-in beside the other providers. ``RainMakerIdentity`` does the sign-in, not this profile.
    public static let listing: ProviderDefinition = {
        do throws(AccountError) {
            return try ProviderDefinition(parsing: Array(text.utf8), origin: "built in")
        } catch {
            preconditionFailure("the listing is not valid: \(error)")
        }
    }()

    private static let text = """
        {
          "schemaVersion": 1,
          "id": "rainmaker",
          "title": "ESP RainMaker",
          "grants": { "authorizationCode": {}, "password": {}, "refreshToken": {} },
          "unsupported": {
            "implicit": "RainMaker gives codes, which are safer: no token appears in an address",
            "deviceCode": "RainMaker has no sign-in on another device: sign in with a one-time code, or paste the address",
            "clientCredentials": "RainMaker's tokens belong to users, never to a program",
            "assertion": "RainMaker does not accept another provider's tokens directly: sign in at its page through google, github or \
            apple",
            "basic": "RainMaker accepts tokens, not a password with each request",
            "cookie": "RainMaker accepts tokens, not cookies"
          },
          "links": {
            "terms": "https://rainmaker.espressif.com/docs/terms-of-use.html",
            "privacy": "https://rainmaker.espressif.com/docs/privacy-policy.html",
            "help": "https://rainmaker.espressif.com/docs/get-started.html"
          }
        }
        """
}
