// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit
import RainCore

/// The code that the cloud has sent to the user. It is read only when it is wanted, so that a script can write it into a pipe
/// once it has come.
struct CodeOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The code that was sent (seen by other users: prefer --code-stdin).", valueName: "code"))
    var code: String?

    @Option(help: ArgumentHelp("Read the code from a file.", valueName: "file"), completion: .file())
    var codeFile: String?

    @Flag(help: "Read the code from standard input.")
    var codeStdin = false

    var isGiven: Bool { code != nil || codeFile != nil || codeStdin }

    /// The code as given or asked for; nil where none is given and no one can be asked.
    func read(sentTo user: String, within time: TimeBudget, _ context: Context) throws(CommandFailure) -> Secret? {
        var source = SecretSource(name: "code", flag: "--code", value: code, file: codeFile)
        source.fromStandardInput = codeStdin
        source.time = time
        if let code = try source.read(environment: [:], output: context.output) { return code }
        guard context.mayAsk else { return nil }
        let question = "The code that was sent to \(user.onOneLine): "
        guard let code = time.asking({ Terminal.readSecret(prompt: question) }) else {
            throw CommandFailure(.cancelled, message: "Cancelled.")
        }
        return code
    }

    /// The code, for commands that can do nothing without it.
    func required(sentTo user: String, within time: TimeBudget, _ context: Context) throws(CommandFailure) -> Secret {
        if let code = try read(sentTo: user, within: time, context) { return code }
        throw CommandFailure(
            .usage, reason: "missing_code", message: "No code given: use --code-stdin or --code-file FILE.")
    }
}
