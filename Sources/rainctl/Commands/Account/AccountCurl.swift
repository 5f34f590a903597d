// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import RainKit
import RainCore

/// Replaces itself by curl, which reads the proof of who asks from a pipe. It is never in a file, nor among the arguments, which
/// every user of the machine can read.
struct AccountCurl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "curl", abstract: "Run curl as the signed-in user, to the deployment's own hosts only.",
        discussion: """
            Example: rainctl account curl -- --json @params.json -X PUT /v1/user/nodes/params?node_id=N1

            A path stands for a URL below the deployment's base. Once curl has started, its exit code is this command's.
            Options that would show the token or send it elsewhere are refused: --verbose, --location, --insecure, --proxy \
            and others. ~/.curlrc is not read.
            """)

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @Argument(parsing: .postTerminator, help: ArgumentHelp("What curl is to do, after --.", valueName: "argument"))
    var arguments: [String] = []

    @OptionGroup var which: ProviderOption

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let account = try context.client(which).account()
        let end = ContinuousClock.now + timeout.duration
        // Arguments are refused before a token is renewed, and once more when it is known where the token goes.
        let urls = try CurlCommand(arguments, base: account.base, isAllowed: account.session.isForTokens).urls
        guard let program = CurlCommand.program else {
            throw CommandFailure(.unavailable, reason: "no_curl", message: "There is no curl to run: install it.")
        }
        let proof = try await withTimeout(timeout.duration) { try await account.session.requestProof(for: urls) }
        let curl = try CurlCommand(
            arguments, base: account.base, hasSecretURL: !proof.query.isEmpty, isAllowed: account.session.isForTokens)
        let configuration = CurlCommand.configuration(
            proof: proof, certificateAuthorities: account.certificateAuthorities,
            usesProxy: account.base.hasPrefix("https:"), within: end - .now)
        for name in context.secretVariables { unsetenv(name) }
        try curl.replaceThisProcess(by: program, reading: configuration)
    }
}
