// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainMaker
import RainJSON
import RainPrivateFiles
import RainCore

extension OfficialClientFolder {
    /// Writes a session for that client, and makes its deployment the client's current profile. What the client has beside it stays.
    ///
    /// Folders that are made have mode 0700, the files 0600. Throws `cannotStore`, and `invalidConfiguration` for a relative path.
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
            // The outer folder too: a file's own makes its parents private only if they are new.
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

    /// The client's profiles and this one. Nil where it needs none: it knows Espressif's own, and writes them itself.
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
        // It fills in what its own profile lacks; a file without any would be one without `global`.
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
