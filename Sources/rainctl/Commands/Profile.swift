// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import RainKit

/// Deployments of the cloud: Espressif's, and those that a user adds.
struct ProfileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile", abstract: "Deployments of the RainMaker cloud: Espressif's and your own.",
        subcommands: [
            ProfileList.self, ProfileShow.self, ProfileAdd.self, ProfileUse.self, ProfileRemove.self,
        ])
}

struct ProfileAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a deployment of your own.",
        discussion: """
            Example: rainctl profile add lab --base-url https://rainmaker.example.com

            A name that exists is refused: to change a profile, remove it first.
            """)

    @Argument(help: "What to call it.")
    var name: String

    @Option(name: .customLong("base-url"), help: ArgumentHelp("The API's base, without v1/.", valueName: "url"))
    var base: String

    @Option(name: .customLong("claim-url"), help: ArgumentHelp("The claim service.", valueName: "url"))
    var claim: String?

    @Option(name: .customLong("auth-url"), help: ArgumentHelp("Where browsers sign in.", valueName: "url"))
    var authorization: String?

    @Option(name: .customLong("client-id"), help: ArgumentHelp("This client's id there.", valueName: "id"))
    var clientID: String?

    @OptionGroup(title: "How browsers sign in there") var web: WebSignInOptions

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let deployment = try Deployment(
            name: name, base: base, claim: claim, authorization: authorization, clientID: clientID,
            certificateAuthorities: certificateAuthorities(), webSignIn: web.webSignIn())
        try context.deploymentFile.change { content throws(AccountError) in try content.add(deployment) }
        context.output.result(ProfileChangeResult(change: .added, profile: name))
    }

    /// The file as an absolute path, because later commands may run in another folder. It is opened now, so that a wrong name fails here.
    private func certificateAuthorities() throws(CommandFailure) -> String? {
        guard let file = options.caFile else { return nil }
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else { throw cannotBeRead(file, errno) }
        close(descriptor)
        guard status.st_mode & S_IFMT != S_IFDIR else { throw cannotBeRead(file, EISDIR) }
        guard let path = absolutePath(file) else { throw cannotBeRead(file, ENOENT) }
        return path
    }

    private func cannotBeRead(_ file: String, _ cause: Int32) -> CommandFailure {
        CommandFailure(
            .badData, reason: "ca_file",
            message: "The CA file \(file.onOneLine) cannot be read: \(String(cString: strerror(cause))).")
    }
}

/// Where a deployment's sign-in page is and how it redirects browsers. The defaults are those of Espressif's clouds.
struct WebSignInOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The page's path below --auth-url.", valueName: "path"))
    var authorizePath: String?

    @Option(help: ArgumentHelp("The token endpoint's path below --auth-url.", valueName: "path"))
    var tokenPath: String?

    @Option(help: ArgumentHelp("What is asked for, separated by spaces.", valueName: "scope"))
    var scope: String?

    @Option(help: ArgumentHelp("The page that sends browsers on to localhost.", valueName: "url"))
    var relayURL: String?

    @Flag(help: "That page hands on a state with a random part behind the port.")
    var relayExtendedState = false

    @Option(help: ArgumentHelp("The path registered for 127.0.0.1 and ::1.", valueName: "path"))
    var loopbackPath: String?

    @Option(help: ArgumentHelp("The registered address with a scheme of its own.", valueName: "uri"))
    var schemeRedirect: String?

    func webSignIn() throws(AccountError) -> WebSignIn {
        let usual = WebSignIn.standard
        return try WebSignIn(
            authorizePath: authorizePath ?? usual.authorizePath, tokenPath: tokenPath ?? usual.tokenPath,
            scope: scope.map { $0.split(separator: " ").map(String.init) } ?? usual.scope, relay: relayURL,
            relayTakesExtendedState: relayExtendedState, loopbackPath: loopbackPath ?? usual.loopbackPath,
            schemeRedirect: schemeRedirect)
    }
}

struct ProfileUse: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "use", abstract: "Use this deployment from now on.",
        discussion: "Example: rainctl profile use global")

    @Argument(help: "Its name.", completion: .profiles)
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
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Forget a deployment of your own.",
        discussion: """
            Example: rainctl profile remove lab

            Nobody may be signed in there: without its profile a session could not be ended any more.
            """)

    @Argument(help: "Its name.", completion: .profiles)
    var name: String

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let accounts = try context.accounts.known.load().entries(at: name)
        // Without its deployment, a session could not be ended any more.
        if let account = accounts.first {
            throw CommandFailure(
                .usage, reason: "in_use",
                message: """
                    \(account.name.onOneLine) is signed in there: first run rainctl logout --profile \(name) --account \
                    \(account.name.asShellWord).
                    """)
        }
        try context.deploymentFile.change { content throws(AccountError) in try content.remove(name) }
        context.output.result(ProfileChangeResult(change: .removed, profile: name))
    }
}

/// A deployment was added, removed, or is in use from now on.
struct ProfileChangeResult: CommandResult {
    enum Change { case added, removed, inUse }

    let change: Change
    let profile: String

    private enum CodingKeys: CodingKey { case profile }

    var text: String {
        switch change {
        case .added: "Added. To use it: rainctl profile use \(profile)"
        case .removed: "Removed \(profile)."
        case .inUse: "Using \(profile)."
        }
    }
}

struct ProfileList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the deployments; the one in use has a star.",
        discussion: "Example: rainctl profile list")

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let content = try context.deploymentFile.load()
        let profiles = content.all.map { deployment in
            ProfileListResult.Entry(
                profile: deployment.name, baseURL: deployment.base.text, current: deployment.name == content.currentName
            )
        }
        context.output.result(ProfileListResult(profiles: profiles))
    }
}

/// The deployments that there are.
struct ProfileListResult: CommandResult {
    let profiles: [Entry]

    var text: String {
        profiles.map { "\($0.current ? "*" : " ") \($0.profile)  \($0.baseURL)" }.joined(separator: "\n")
    }

    struct Entry: Encodable, Sendable {
        let profile: String
        let baseURL: String
        let current: Bool

        private enum CodingKeys: String, CodingKey {
            case profile
            case baseURL = "base_url"
            case current
        }
    }
}

struct ProfileShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a deployment's settings; with --origin, where each is from.",
        discussion: """
            Example: rainctl profile show --origin

            An option goes before a variable of the environment (RAINKIT_PROFILE, RAINKIT_ACCOUNT, RAINKIT_STORE, RAINKIT_CA_FILE), \
            a variable before a project's .rainkit.json, that before your own settings, yours before the machine's, and those before what \
            is built in.
            """)

    @Argument(help: "Its name; the one in use if not given.", completion: .profiles)
    var name: String?

    @Flag(help: "Say where each value is from.")
    var origin = false

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let settings = try ProfileSettings(context, named: name)
        context.output.result(ProfileShowResult(values: settings.values, showsOrigin: origin))
    }
}

/// A deployment's settings, each under its own name; their origins beside them, under the same names, where those were asked for.
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
