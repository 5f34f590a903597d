// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import RainAccount
import RainKit
import RainPrivateFiles

struct AccountExport: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "export",
        abstract: "Write the session to files for Espressif's own client or for a systemd service.",
        discussion: """
            Example: rainctl account export --to ~/.espressif/rainmaker
                     rainctl account export --credential session.json

            Anyone who has the files can act as you, so rainctl makes them readable only by you. To give the session to a systemd service, \
            write LoadCredential=rainkit-PROFILE:/path/to/session.json into its unit file. When the service stops, it loses the tokens \
            that it has renewed. At the next start, the service reads the file again.
            """)

    @Option(help: ArgumentHelp("Write the session to this folder, for esp-rainmaker-cli.", valueName: "folder"))
    var to: String?

    @Option(
        help: ArgumentHelp("Write the session to this file, for a systemd service.", valueName: "file"),
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
        let path = (to ?? credential ?? "").absolutePath
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
}

/// The place to which a session was written.
struct ExportResult: ConfirmingResult {
    let profile: String
    let userName: String
    let path: String

    var text: String {
        "The session of \(userName.onOneLine) at \(profile) is in \(path). Anyone who can read this file can act as this user."
    }
}

struct AccountImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "import", abstract: "Copy a session from Espressif's own client, esp-rainmaker-cli.",
        discussion: """
            Example: rainctl account import

            rainctl only reads the client's files, and sends nothing to the cloud. If rainctl has no profile for the client's cloud, \
            rainctl adds one.
            """)

    @Option(
        help: ArgumentHelp(
            "Read the client's configuration from this folder (default: $RM_USER_CONFIG_DIR or ~/.espressif/rainmaker).",
            valueName: "folder")
    )
    var from: String?

    @Option(
        help: ArgumentHelp(
            "Copy the session of this profile of esp-rainmaker-cli (default: its current profile).", valueName: "name"
        ))
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
                .config,
                message:
                    "\(Folders.homeProblem(context.environment)), so the folder of esp-rainmaker-cli is unknown. Give this folder with --from."
            )
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

    /// Adds the deployment if it does not exist. A different deployment with the same name is an error, and is not replaced.
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
                        the profile \(deployment.name) has the address \(existing.base) here, but \(deployment.base) in esp-rainmaker-cli: \
                        rename one of the two profiles
                        """)
            }
        }
        return known
    }
}

/// A session of the official client that rainctl now also has.
struct ImportResult: ConfirmingResult {
    let profile: String
    let baseURL: String
    let userName: String
    let userID: String
    let store: String
    let account: String?
    /// Whether commands use this deployment by default.
    @TextOnly var isCurrent: Bool

    var text: String {
        "rainctl now also has the session of \(userName.onOneLine) at \(profile)."
            + (isCurrent ? "" : " To use it: rainctl profile use \(profile)")
    }
}
