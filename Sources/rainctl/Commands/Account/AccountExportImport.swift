// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import RainKit
import RainPrivateFiles

struct AccountExport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Hand the session to Espressif's own client, or to a service of systemd's.",
        discussion: """
            Example: rainctl account export --to ~/.espressif/rainmaker
                     rainctl account export --credential session.json

            Whoever has the files is signed in as you: they are readable by you alone. A service finds the credential as \
            LoadCredential=rainkit-PROFILE:/path/to/session.json; tokens that it renews live as long as the service runs.
            """)

    @Option(help: ArgumentHelp("Write a configuration folder of esp-rainmaker-cli's.", valueName: "folder"))
    var to: String?

    @Option(
        help: ArgumentHelp("Write the session to a file for LoadCredential= of systemd.", valueName: "file"),
        completion: .file())
    var credential: String?

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        guard (to == nil) != (credential == nil) else { throw ValidationError("Give --to or --credential.") }
    }

    func run() async throws {
        let context = try Context(options)
        let deployment = try context.deployment()
        let session = try await context.client().account().session.savedSession()
        let path = absolute(to ?? credential ?? "")
        if to != nil {
            try OfficialClientFolder(path: path).save(session, at: deployment)
        } else {
            do throws(PrivateFileError) {
                try PrivateFile(path: path).write(session.serialized.revealBytes())
            } catch {
                throw AccountError(.cannotStore, message: "\(error)")
            }
        }
        context.output.result(ExportResult(profile: deployment.name, userName: session.userName, path: path))
    }

    private func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        guard let here = getcwd(nil, 0) else { return path }
        defer { free(here) }
        return String(cString: here) + "/" + path
    }
}

/// Where a session was written to.
struct ExportResult: CommandResult {
    let profile: String
    let userName: String
    let path: String

    private enum CodingKeys: String, CodingKey {
        case profile
        case userName = "user_name"
        case path
    }

    var text: String {
        "The session of \(userName.onOneLine) at \(profile) is in \(path). Whoever can read it is signed in."
    }
}

struct AccountImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Take over a session of Espressif's own client, esp-rainmaker-cli.",
        discussion: """
            Example: rainctl account import

            Nothing is sent and nothing is changed there. Its profile becomes one of rainctl's, if it is not one of Espressif's.
            """)

    @Option(
        help: ArgumentHelp(
            "Its configuration folder; RM_USER_CONFIG_DIR or ~/.espressif/rainmaker if not given.", valueName: "folder")
    )
    var from: String?

    @Option(help: ArgumentHelp("Its profile; the current one if not given.", valueName: "name"))
    var officialProfile: String?

    @OptionGroup(title: "Session") var storing: StoreOptions

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        guard
            let folder = from.map({ OfficialClientFolder(path: $0) })
                ?? OfficialClientFolder(environment: context.environment)
        else {
            throw CommandFailure(
                .config, message: "\(Folders.homeProblem(context.environment)): name the folder with --from.")
        }
        let found = try folder.load(profile: officialProfile)
        let store = try await context.accounts.newAccount(
            at: found.deployment.name, named: context.options.account, user: found.session.userName,
            in: try storing.choice(context))
        var session = found.session
        session.context = try add(found.deployment, context).sessionContext
        let bound = session
        try await store.exclusively(try CredentialKey(found.deployment.name), within: StoreLockTimes.wait) {
            access async throws(AccountError) in
            try await access.save(bound)
        }
        context.tellPlace(of: store)
        if found.isExposed {
            context.output.warn(
                "other users of this machine may read \(found.file): run chmod 600 on it.", reason: "readable_by_others"
            )
        }
        let isCurrent = try context.deployment().name == found.deployment.name
        context.output.result(
            ImportResult(
                profile: found.deployment.name, baseURL: found.deployment.base.text, userName: found.session.userName,
                userID: found.session.userID.rawValue, store: store.storeName, account: store.accountName,
                isCurrent: isCurrent))
    }

    /// Adds the deployment unless it exists. A different one of the same name is an error, not replaced.
    private func add(_ deployment: Deployment, _ context: Context) throws(AccountError) -> Deployment {
        var known = deployment
        try context.deploymentFile.change { content throws(AccountError) in
            guard let existing = content.all.first(where: { $0.name == deployment.name }) else {
                return try content.add(deployment)
            }
            known = existing
            guard existing.base == deployment.base else {
                throw AccountError(
                    .invalidConfiguration,
                    message: """
                        the profile \(deployment.name) leads to \(existing.base) here and to \(deployment.base) there: \
                        rename one of them
                        """)
            }
        }
        return known
    }
}

/// A session of the official client is rainctl's too.
struct ImportResult: CommandResult {
    let profile: String
    let baseURL: String
    let userName: String
    let userID: String
    let store: String
    let account: String?
    /// Whether commands use this deployment without being told.
    let isCurrent: Bool

    private enum CodingKeys: String, CodingKey {
        case profile
        case baseURL = "base_url"
        case userName = "user_name"
        case userID = "user_id"
        case store, account
    }

    var text: String {
        "The session of \(userName.onOneLine) at \(profile) is rainctl's too."
            + (isCurrent ? "" : " To use it: rainctl profile use \(profile)")
    }
}
