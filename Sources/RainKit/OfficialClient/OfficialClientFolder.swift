// SPDX-License-Identifier: Apache-2.0
import Glibc
import IdentityProviders
import RainAccount
import RainCore
import RainJSON
import RainMaker
import RainPrivateFiles

/// The configuration folder of Espressif's own command-line client (esp-rainmaker-cli 1.14.1): its profiles, and the session of each.
///
/// ```
/// FOLDER/profiles/current_profile          the name of a profile; `global` where the file is missing
/// FOLDER/profiles/profiles.json            {"profiles": {…}, "custom_profiles": {NAME: {"host": …/v1/, …}}}
/// FOLDER/profiles/NAME_config.json         {"idtoken": …, "refreshtoken": …, "accesstoken": …}
/// FOLDER/rainmaker_config.json             the same and `host`, of versions without profiles
/// ```
public struct OfficialClientFolder: Sendable {
    /// The folder that holds `profiles`; it is only read.
    public let path: String

    public init(path: String) { self.path = path }

    /// Finds the folder as that client does: `RM_USER_CONFIG_DIR`, or a folder in the home.
    public init?(environment: [String: String]) {
        if let path = environment["RM_USER_CONFIG_DIR"], !path.isEmpty {
            self.init(path: path)
        } else if let home = environment["HOME"], home.hasPrefix("/") {
            self.init(path: "\(home)/.espressif/rainmaker")
        } else {
            return nil
        }
    }

    /// A session of that client, and its deployment.
    public struct Found: Sendable {
        /// The cloud that the session is for, from that client's profile.
        public var deployment: Deployment
        /// The tokens and their user, ready for a store of this library.
        public var session: SavedSession
        /// The file with the session.
        public var file: String
        /// Whether other users of the machine may read that file, as that client's umask allows.
        public var isExposed: Bool
    }

    /// Loads the session of a profile, or of the current one if none is named. Nothing is changed.
    ///
    /// Throws `notSignedIn` if there is no session, `storeUnreadable` for a file that cannot be read, `invalidConfiguration` for a profile
    /// that does not exist or has no deployment.
    public func load(profile name: String? = nil) throws(AccountError) -> Found {
        var status = stat()
        let exists = stat(path, &status) == 0
        guard exists || ![ENOENT, ENOTDIR].contains(errno) else {
            throw AccountError(
                .notSignedIn,
                message: "a session of esp-rainmaker-cli cannot be imported: the folder \(path) does not exist")
        }
        if exists, status.st_mode & S_IFMT != S_IFDIR {
            throw AccountError(
                .storeUnreadable,
                message:
                    "the path \(path) is a file; give the folder of esp-rainmaker-cli, which contains the folder profiles"
            )
        }
        let current = try read("profiles/current_profile").map { text in
            String(decoding: text.bytes.filter { $0 > 0x20 }, as: UTF8.self)
        }
        let profiles = try json("profiles/profiles.json")
        let name = name ?? current ?? "global"
        if let tokens = try json("profiles/\(try safe(name))_config.json") {
            return try found(tokens, at: try deployment(name, in: profiles?.value))
        }
        if profiles == nil, let legacy = try json("rainmaker_config.json") {
            let host = legacy.value["host"]?.string ?? ""
            let isChina = host.hasPrefix(Deployment.china.base.text)
            return try found(legacy, at: isChina ? .china : .global)
        }
        throw AccountError(
            .notSignedIn,
            message: "the folder \(path) contains no session of esp-rainmaker-cli for the profile \"\(name)\"")
    }

    private func found(_ file: JSONFile, at deployment: Deployment) throws(AccountError) -> Found {
        let texts = try texts(["accesstoken", "refreshtoken", "idtoken"], of: file.value, in: file.path)
        let token = { (key: String) in texts[key].flatMap { $0.isEmpty ? nil : Secret($0) } }
        guard let access = token("accesstoken") else {
            throw AccountError(
                .notSignedIn, message: "the file \(file.path) has no session: esp-rainmaker-cli is signed out")
        }
        let session = try SavedSession(
            rainMakerAccess: access, refresh: token("refreshtoken"), identity: token("idtoken"))
        if session.userName != session.userID.rawValue {
            try AccountName.check(session.userName, from: file.path, .storeUnreadable)
        }
        return Found(deployment: deployment, session: session, file: file.path, isExposed: file.isExposed)
    }

    private func deployment(_ name: String, in profiles: JSONValue?) throws(AccountError) -> Deployment {
        for builtIn in [Deployment.global, .china] where builtIn.name == name { return builtIn }
        guard let profile = profiles?["custom_profiles"]?[name] else {
            throw AccountError(
                .invalidConfiguration, message: "esp-rainmaker-cli's profile \"\(name)\" is not in \(path)")
        }
        let texts = try texts(
            ["host", "token_url", "claim_base_url", "client_id"], of: profile, in: "\(path)/profiles/profiles.json")
        guard let host = texts["host"] else {
            throw AccountError(.invalidConfiguration, message: "esp-rainmaker-cli's profile \"\(name)\" has no host")
        }
        // That client's `profile add` does not write these keys. Without them it uses Espressif's services, which are not this
        // deployment's.
        var authorization = texts["token_url"]
        if authorization?.hasSuffix("/token") == true { authorization = authorization.map { String($0.dropLast(6)) } }
        return try Deployment(
            name: name, base: host, claim: texts["claim_base_url"], authorization: authorization,
            clientID: texts["client_id"])
    }

    /// Returns the members that exist. One of the wrong type is an error: without it, the session would differ from that client's.
    private func texts(
        _ names: [String], of json: JSONValue, in file: String
    ) throws(AccountError) -> [String: String] {
        var texts: [String: String] = [:]
        do throws(JSONError) {
            let members = try JSONMembers(json)
            for name in names { texts[name] = try members.text(name) }
        } catch {
            throw AccountError(.storeUnreadable, message: "\(file) cannot be used: \(error.message)")
        }
        return texts
    }

    // MARK: Files

    struct JSONFile {
        var path: String
        var value: JSONValue
        var isExposed: Bool
    }

    /// The maximum size of any of these files.
    private static let maximumBytes = 1 << 20

    private func safe(_ name: String) throws(AccountError) -> String {
        guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")), !name.hasPrefix(".") else {
            throw AccountError(.invalidConfiguration, message: "\"\(name)\" is not a valid profile name")
        }
        return name
    }

    func json(_ name: String) throws(AccountError) -> JSONFile? {
        guard let text = try read(name) else { return nil }
        guard let value = try? JSONValue(parsing: text.bytes), value.members != nil else {
            throw AccountError(.storeUnreadable, message: "\(path)/\(name) is not a JSON object")
        }
        return JSONFile(path: "\(path)/\(name)", value: value, isExposed: text.isExposed)
    }

    /// Reads a file of any mode and owner, since that client checks neither. The path is the user's own folder.
    private func read(_ name: String) throws(AccountError) -> (bytes: [UInt8], isExposed: Bool)? {
        let path = "\(path)/\(name)"
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw AccountError(
                .storeUnreadable, message: "\(path) cannot be opened: \(systemErrorText(errno))")
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= Self.maximumBytes else {
            throw AccountError(.storeUnreadable, message: "\(path) is not a file of esp-rainmaker-cli")
        }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        while bytes.count <= Self.maximumBytes {
            let count = Glibc.read(file, &chunk, chunk.count)
            if count == 0 { return (bytes, status.st_mode & 0o077 != 0) }
            if count < 0, errno != EINTR { break }
            if count > 0 { bytes += chunk[..<count] }
        }
        throw AccountError(.storeUnreadable, message: "\(path) cannot be read")
    }
}

extension OfficialClientFolder {
    /// Writes a session for that client, and makes its deployment the client's current profile. The client's other data stays.
    ///
    /// New folders get mode 0700, files 0600. Throws `cannotStore`, and `invalidConfiguration` for a relative path.
    public func save(_ session: SavedSession, at deployment: Deployment) throws(AccountError) {
        guard path.hasPrefix("/") else {
            throw AccountError(.invalidConfiguration, message: "\(path) is not an absolute path")
        }
        let profiles = try profiles(with: deployment)
        let tokens: JSONValue = [
            "idtoken": .string(session.tokens.identity?.revealString() ?? ""),
            "refreshtoken": .string(session.tokens.refresh?.revealString() ?? ""),
            "accesstoken": .string(session.tokens.access.revealString()),
        ]
        do throws(PrivateFileError) {
            // The outer folder too: writing a file makes its parent folders private only if they are new.
            _ = try PrivateFolder.open(path, create: true)
            guard let folder = try PrivateFolder.open("\(path)/profiles", create: true) else {
                throw PrivateFileError.missing("\(path)/profiles")
            }
            try folder.replace("\(deployment.name)_config.json", with: tokens.serialized())
            if let profiles { try folder.replace("profiles.json", with: profiles.serialized(pretty: true)) }
            try folder.replace("current_profile", with: Array(deployment.name.utf8))
        } catch {
            throw AccountError(.cannotStore, message: "\(error)")
        }
    }

    /// The client's profiles and this one. Nil for Espressif's own deployments: the client knows them, and writes their profiles itself.
    private func profiles(with deployment: Deployment) throws(AccountError) -> JSONValue? {
        if [Deployment.global, .china].contains(where: { $0.name == deployment.name }) { return nil }
        var members: [JSONValue.Member] = [
            .init("name", .string(deployment.name)), .init("description", "Exported by rainctl"),
            .init("host", .string(deployment.base.text + "/v1/")), .init("builtin", false),
            .init("ui_login_supported", false), .init("node_cache_enabled", false),
        ]
        if let claim = deployment.claim { members.append(.init("claim_base_url", .string(claim.text + "/"))) }
        if let clientID = deployment.clientID { members.append(.init("client_id", .string(clientID))) }

        let old = try json("profiles/profiles.json")?.value
        // The client adds missing keys only to its own profile. A file without `global` would stay without it.
        let global: JSONValue = [
            "global": [
                "name": "global", "description": "Global ESP RainMaker (Rest of World)",
                "host": .string(Deployment.global.base.text + "/v1/"), "builtin": true, "ui_login_supported": true,
            ]
        ]
        let custom = (old?["custom_profiles"]?.members ?? []).filter { $0.name != deployment.name }
        let rest = (old?.members ?? []).filter { !["profiles", "custom_profiles"].contains($0.name) }
        return .object(
            rest + [
                .init("profiles", old?["profiles"] ?? global),
                .init("custom_profiles", .object(custom + [.init(deployment.name, .object(members))])),
            ])
    }
}
