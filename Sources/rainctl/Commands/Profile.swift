// SPDX-License-Identifier: Apache-2.0
import RainCore
import ArgumentParser
import Glibc
import RainKit
import RainMaker

/// The commands for deployments of the cloud: Espressif's, and those that a user adds.
struct ProfileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile", abstract: "Manage deployments of the RainMaker cloud: Espressif's and your own.",
        subcommands: [
            ProfileList.self, ProfileShow.self, ProfileAdd.self, ProfileSet.self, ProfileUse.self, ProfileRemove.self,
        ])
}

struct ProfileAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "add", abstract: "Add a profile for your own deployment of the RainMaker cloud.",
        discussion: """
            Example: rainctl profile add lab --base-url https://rainmaker.example.com
                     rainctl profile add home --neo rmng-client-outputs.json

            For a deployment of RainMaker Neo, give its file rmng-client-outputs.json with --neo. Without this file, give --base-url and \
            the three --neo-… options. rainctl refuses a name that already exists. To change a profile, run rainctl profile set.
            """)

    @Argument(help: "The profile's name.")
    var name: String

    @Option(
        name: .customLong("base-url"), help: ArgumentHelp("Set the base URL of the API, without v1/.", valueName: "url")
    )
    var base: String?

    @OptionGroup var addresses: DeploymentOptions

    @OptionGroup(title: "RainMaker Neo") var neo: NeoDeploymentOptions

    @OptionGroup(title: "Sign-in in a browser") var web: WebSignInOptions

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        try neo.validate(base: base)
        guard (base == nil) != (neo.outputs == nil) else {
            throw ValidationError("Give --base-url, or --neo for a deployment of RainMaker Neo.")
        }
        if neo.isGiven, addresses.claim != nil || addresses.authorization != nil || web.isGiven {
            throw ValidationError(
                "For a deployment of RainMaker Neo, omit --claim-url, --auth-url and the options of the sign-in in a browser."
            )
        }
    }

    func run() async throws {
        let context = try Context(options)
        let authorities = try CertificateOption.path(options)
        let outputs = try await neo.loaded(context, authorities)
        let deployment = try Deployment(
            name: name, base: outputs?.api ?? base ?? "", claim: addresses.claim,
            authorization: addresses.authorization, clientID: addresses.clientID ?? outputs?.clientID,
            certificateAuthorities: authorities, webSignIn: web.webSignIn(),
            neo: outputs?.services ?? neo.services())
        try context.deploymentFile.change { content throws(AccountError) in try content.add(deployment) }
        context.output.result(ProfileChangeResult(change: .added, profile: name))
    }
}

/// The addresses of a RainMaker Neo deployment: all in one document, or one by one.
struct NeoDeploymentOptions: ParsableArguments {
    @Option(
        name: .customLong("neo"),
        help: ArgumentHelp(
            "Read all addresses from the deployment's rmng-client-outputs.json.", valueName: "file|url"))
    var outputs: String?

    @Option(
        name: .customLong("neo-accounts-url"),
        help: ArgumentHelp("Set the URL of the API for accounts (EspUserApiUrl).", valueName: "url"))
    var accounts: String?

    @Option(
        name: .customLong("neo-region"), help: ArgumentHelp("Set the AWS region (StackRegion).", valueName: "region"))
    var region: String?

    @Option(
        name: .customLong("neo-broker"),
        help: ArgumentHelp("Set the host of the MQTT broker (IoTEndpointUrl).", valueName: "host"))
    var broker: String?

    var isGiven: Bool { outputs != nil || singles.contains { $0 != nil } }

    private var singles: [String?] { [accounts, region, broker] }

    func validate(base: String?) throws {
        let given = singles.compactMap(\.self).count
        guard given == 0 || given == 3 && base != nil && outputs == nil else {
            throw ValidationError(
                "Give --neo alone, or all of --base-url, --neo-accounts-url, --neo-region and --neo-broker.")
        }
    }

    func loaded(_ context: Context, _ authorities: String?) async throws -> NeoOutputs? {
        guard let outputs else { return nil }
        return try await NeoOutputs.load(
            outputs, tools: context.tools, certificateAuthorities: authorities ?? context.certificateAuthorities)
    }

    func services() throws(AccountError) -> NeoServices? {
        guard let accounts, let region, let broker else { return nil }
        return try NeoServices(accounts: accounts, region: region, broker: broker)
    }
}

/// The addresses of a deployment besides its base URL, and the client's id there.
struct DeploymentOptions: ParsableArguments {
    @Option(name: .customLong("claim-url"), help: ArgumentHelp("Set the URL of the claim service.", valueName: "url"))
    var claim: String?

    @Option(
        name: .customLong("auth-url"), help: ArgumentHelp("Set the URL at which browsers sign in.", valueName: "url"))
    var authorization: String?

    @Option(
        name: .customLong("client-id"),
        help: ArgumentHelp("Set the client id that rainctl uses at the deployment.", valueName: "id"))
    var clientID: String?
}

struct ProfileSet: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "set", abstract: "Change the profile of one of your own deployments.",
        discussion: """
            Example: rainctl profile set lab --claim-url https://claim.example.com

            Settings that you omit stay unchanged. An empty value removes a setting. Before you change the base URL or the claim \
            URL, sign out all accounts of the deployment. Their sessions are valid only for these URLs.
            """)

    @Argument(help: "The profile's name.", completion: .profiles)
    var name: String

    @Option(
        name: .customLong("base-url"), help: ArgumentHelp("Set the base URL of the API, without v1/.", valueName: "url")
    )
    var base: String?

    @OptionGroup var addresses: DeploymentOptions

    @OptionGroup(title: "Sign-in in a browser") var web: WebSignInOptions

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func validate() throws {
        guard
            [base, addresses.claim, addresses.authorization, addresses.clientID, options.caFile].contains(where: {
                $0 != nil
            }) || web.isGiven
        else { throw ValidationError("Give a setting to change, such as --claim-url.") }
    }

    func run() async throws {
        let context = try Context(options)
        let authorities = options.caFile == "" ? "" : try CertificateOption.path(options)
        let old = try context.deploymentFile.load().ownDeployment(named: name)
        let changed = try Deployment(
            name: name, base: base ?? old.base.text, claim: Self.value(addresses.claim, old.claim?.text),
            authorization: Self.value(addresses.authorization, old.authorization?.text),
            clientID: Self.value(addresses.clientID, old.clientID),
            certificateAuthorities: Self.value(authorities, old.certificateAuthorities),
            webSignIn: web.webSignIn(instead: old.webSignIn), neo: old.neo)
        if changed.base != old.base || changed.claim != old.claim,
            let account = try context.accounts.known.load().entries(at: name).first
        {
            throw CommandFailure(
                .usage, reason: "in_use",
                message: """
                    \(account.name.onOneLine) is signed in at this deployment. A session is valid only for the base URL and the claim URL \
                    of its sign-in, so first run rainctl logout --profile \(name.asShellWord) --account \(account.name.asShellWord).
                    """)
        }
        try context.deploymentFile.change { content throws(AccountError) in try content.replace(changed) }
        context.output.result(ProfileChangeResult(change: .changed, profile: name))
    }

    /// The given value, or the earlier one. An empty value removes the setting.
    private static func value(_ given: String?, _ old: String?) -> String? {
        guard let given else { return old }
        return given.isEmpty ? nil : given
    }
}

/// `--ca-file` of a command that stores it.
private enum CertificateOption {
    /// Returns the file's absolute path, because later commands may run in another folder. The file is opened now, so that a wrong name
    /// fails here.
    static func path(_ options: GlobalOptions) throws(CommandFailure) -> String? {
        guard let file = options.caFile else { return nil }
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else { throw cannotBeRead(file, errno) }
        close(descriptor)
        guard status.st_mode & S_IFMT != S_IFDIR else { throw cannotBeRead(file, EISDIR) }
        guard let path = absolutePath(file) else { throw cannotBeRead(file, ENOENT) }
        return path
    }

    private static func cannotBeRead(_ file: String, _ cause: Int32) -> CommandFailure {
        CommandFailure(
            .badData, reason: "ca_file",
            message: "The CA file \(file.onOneLine) cannot be read: \(systemErrorText(cause)).")
    }
}

/// The deployment's sign-in page, and how it redirects browsers. The defaults are those of Espressif's clouds.
struct WebSignInOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Set the path of the sign-in page, relative to --auth-url.", valueName: "path"))
    var authorizePath: String?

    @Option(help: ArgumentHelp("Set the path of the token endpoint, relative to --auth-url.", valueName: "path"))
    var tokenPath: String?

    @Option(help: ArgumentHelp("Request these scopes, separated by spaces.", valueName: "scope"))
    var scope: String?

    @Option(help: ArgumentHelp("Set the page that redirects browsers to localhost.", valueName: "url"))
    var relayURL: String?

    @Flag(
        help:
            "Add random characters to the OAuth parameter \"state\". The page of --relay-url must return the parameter unchanged."
    )
    var relayExtendedState = false

    @Option(
        help: ArgumentHelp(
            "Set the path of the redirect URI that is registered for 127.0.0.1 and ::1.", valueName: "path"))
    var loopbackPath: String?

    @Option(
        help: ArgumentHelp("Set the registered redirect URI for rainctl login --redirect scheme.", valueName: "uri"))
    var schemeRedirect: String?

    var isGiven: Bool {
        relayExtendedState
            || [authorizePath, tokenPath, scope, relayURL, loopbackPath, schemeRedirect].contains { $0 != nil }
    }

    /// - Parameter usual: the settings without an option.
    func webSignIn(instead usual: WebSignIn = .standard) throws(AccountError) -> WebSignIn {
        let relay = relayURL.map { $0.isEmpty ? nil : $0 } ?? usual.relay
        let scheme = schemeRedirect.map { $0.isEmpty ? nil : $0 } ?? usual.schemeRedirect
        return try WebSignIn(
            authorizePath: authorizePath ?? usual.authorizePath, tokenPath: tokenPath ?? usual.tokenPath,
            scope: scope.map { $0.split(separator: " ").map(String.init) } ?? usual.scope, relay: relay,
            relayTakesExtendedState: relayExtendedState || relayURL == nil && usual.relayTakesExtendedState,
            loopbackPath: loopbackPath ?? usual.loopbackPath,
            schemeRedirect: scheme)
    }
}

struct ProfileUse: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "use", abstract: "From now on, use this deployment.",
        discussion: "Example: rainctl profile use global")

    @Argument(help: "The profile's name.", completion: .profiles)
    var name: String

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        try context.deploymentFile.change { content throws(AccountError) in
            content.current = try content.deployment(named: name).name
        }
        context.output.result(ProfileChangeResult(change: .inUse, profile: name))
    }
}

struct ProfileRemove: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "remove", abstract: "Remove the profile of one of your own deployments from this machine.",
        discussion: """
            Example: rainctl profile remove lab

            First sign out all accounts of this deployment. rainctl needs the profile to end their sessions.
            """)

    @Argument(help: "The profile's name.", completion: .profiles)
    var name: String

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let accounts = try context.accounts.known.load().entries(at: name)
        // Without its deployment, a session could no longer be ended.
        if let account = accounts.first {
            throw CommandFailure(
                .usage, reason: "in_use",
                message: """
                    \(account.name.onOneLine) is signed in at this deployment: first run rainctl logout --profile \(name) --account \
                    \(account.name.asShellWord).
                    """)
        }
        try context.deploymentFile.change { content throws(AccountError) in try content.remove(name) }
        context.output.result(ProfileChangeResult(change: .removed, profile: name))
    }
}

/// A deployment that was added, removed, or is now in use.
struct ProfileChangeResult: ConfirmingResult {
    enum Change { case added, changed, removed, inUse }

    @TextOnly var change: Change
    let profile: String

    var text: String {
        switch change {
        case .added: "Added profile \(profile.onOneLine). To use it: rainctl profile use \(profile.asShellWord)"
        case .changed: "Changed profile \(profile.onOneLine)"
        case .removed: "Removed profile \(profile.onOneLine)"
        case .inUse: "Using profile \(profile.onOneLine)"
        }
    }
}

struct ProfileList: AsyncParsableCommand, ListCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "list", abstract: "List the deployments. A star marks the deployment in use.",
        discussion: "Example: rainctl profile list")

    @Option(help: .listForm) var format = ListForm.text

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options, list: format)
        let content = try context.deploymentFile.load()
        let profiles = content.all.map { deployment in
            ProfileListResult.Entry(
                profile: deployment.name, baseURL: deployment.base.text, current: deployment.name == content.currentName
            )
        }
        context.output.result(ProfileListResult(profiles: profiles))
    }
}

/// All deployments.
struct ProfileListResult: CommandResult {
    let profiles: [Entry]

    var text: String {
        profiles.map { "\($0.current ? "*" : " ") \($0.profile)  \($0.baseURL)" }.joined(separator: "\n")
    }

    struct Entry: Encodable, Sendable {
        let profile: String
        let baseURL: String
        let current: Bool
    }
}

extension ProfileListResult: ListResult {
    var table: ListTable { ListTable(member: "profiles", columns: ["profile", "base_url", "current"]) }
}

struct ProfileShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "show",
        abstract: "Show a deployment's settings. With --origin, also show where each value comes from.",
        discussion: """
            Example: rainctl profile show --origin

            rainctl looks for each setting in these places, in this order: options, environment variables, the project's file \
            .rainkit.json, your own settings, the machine's settings, built-in values. The variables are RAINKIT_PROFILE, RAINKIT_ACCOUNT, \
            RAINKIT_STORE and RAINKIT_CA_FILE.
            """)

    @Argument(help: "The profile's name (default: the profile in use).", completion: .profiles)
    var name: String?

    @Flag(help: "Show where each value comes from.")
    var origin = false

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let settings = try ProfileSettings(context, named: name)
        context.output.result(ProfileShowResult(values: settings.values, showsOrigin: origin))
    }
}

/// A deployment's settings by name, and their origins under the same names if requested.
struct ProfileShowResult: CommandResult {
    let values: [ProfileSettings.Value]
    let showsOrigin: Bool

    func encode(to encoder: any Encoder) throws {
        var members = NamedMembers()
        for value in values { members.add(value.key, value.text) }
        if showsOrigin {
            var origins = NamedMembers()
            for value in values { origins.add(value.key, value.origin.description) }
            members.add("origins", origins)
        }
        try members.encode(to: encoder)
    }

    var text: String {
        let width = values.map(\.key.count).max() ?? 0
        return values.map { value in
            let key = value.key + String(repeating: " ", count: width - value.key.count)
            return "\(key)  \(value.text.onOneLine)" + (showsOrigin ? "  (\(value.origin))" : "")
        }.joined(separator: "\n")
    }
}
