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

    /// Does the work with a code, and asks a person for it again where the cloud does not take it: three times in all.
    func entering<Value: Sendable>(
        _ code: Secret, sentTo user: String, within time: TimeBudget, _ context: Context,
        _ work: @escaping @Sendable (Secret) async throws -> Value
    ) async throws -> Value {
        var code = code
        for _ in 1..<3 {
            do {
                let entered = code
                return try await time.run { try await work(entered) }
            } catch let error as AccountError where error.code == .wrongCode && context.mayAsk && !isGiven {
                context.screen.say(error.message.asSentence)
                let question = "The code that was sent to \(user.onOneLine) again (Enter to stop): "
                guard let another = time.asking({ Terminal.readSecret(prompt: question) }), !another.isEmpty else {
                    throw error
                }
                code = another
            }
        }
        let entered = code
        return try await time.run { try await work(entered) }
    }

    /// The code, for commands that can do nothing without it.
    func required(sentTo user: String, within time: TimeBudget, _ context: Context) throws(CommandFailure) -> Secret {
        if let code = try read(sentTo: user, within: time, context) { return code }
        throw CommandFailure(
            .usage, reason: "missing_code", message: "No code given: use --code-stdin or --code-file FILE.")
    }
}
