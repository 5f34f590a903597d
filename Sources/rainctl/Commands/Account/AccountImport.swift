// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

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
