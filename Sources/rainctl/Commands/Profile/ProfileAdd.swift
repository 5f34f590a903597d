// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import RainKit

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
