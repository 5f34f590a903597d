import ArgumentParser
import Glibc
import RainJSON
import RainKit

/// Deployments of the cloud: Espressif's, and those that a user adds.
struct ProfileCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profile", abstract: "Deployments of the RainMaker cloud: Espressif's and your own.",
        subcommands: [
            ProfileList.self, ProfileShow.self, ProfileAdd.self, ProfileUse.self, ProfileRemove.self,
        ])
}

struct ProfileList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the deployments; the one in use has a star.",
        discussion: "Example: rainctl profile list")

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let content = try context.deploymentFile.load()
        let entries = content.all.map { deployment in
            JSONValue.object([
                .init("name", .string(deployment.name)), .init("base_url", .string(deployment.base.text)),
                .init("current", .bool(deployment.name == content.currentName)),
            ])
        }
        let lines = content.all.map { deployment in
            "\(deployment.name == content.currentName ? "*" : " ") \(deployment.name)  \(deployment.base)"
        }
        context.output.result([.init("profiles", .array(entries))], text: lines.joined(separator: "\n"))
    }
}

struct ProfileAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a deployment of your own.",
        discussion: "Example: rainctl profile add lab --base-url https://rainmaker.example.com")

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
        context.output.result([.init("name", .string(name))], text: "Added. To use it: rainctl profile use \(name)")
    }

    /// The file that was named, as later commands find it: they run elsewhere, and a wrong name would be theirs to explain.
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

struct ProfileUse: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "use", abstract: "Use this deployment from now on.",
        discussion: "Example: rainctl profile use global")

    @Argument(help: "Its name.")
    var name: String

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        try context.deploymentFile.change { content throws(AccountError) in
            content.current = try content.deployment(named: name).name
        }
        context.output.result([.init("name", .string(name))], text: "Using \(name).")
    }
}
