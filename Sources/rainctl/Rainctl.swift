// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

/// The root of the command tree. An error that a command throws becomes its exit status here, and nowhere else.
struct Rainctl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rainctl",
        abstract: "Put ESP RainMaker boards on Wi-Fi and into your account.",
        discussion: """
            Example: rainctl login me@example.com
                     rainctl provision --ssid Home --passphrase-file wifi.txt
            """,
        version: RainKitVersion.current,
        subcommands: [
            Login.self, Logout.self, Whoami.self, AccountCommand.self, Provision.self, Device.self, NodeCommand.self,
            GroupCommand.self, AutomationCommand.self, QRCommand.self, ProfileCommand.self,
            Doctor.self,
        ])

    /// The command that the arguments name. Help, a version and a mistake are printed at once, and end with a status.
    static func parsed(_ arguments: [String]) -> Parsed {
        let named = NamedCommand(arguments)
        (named.path.first as? any CloudCommands.Type)?.startHTTP()
        if let command = named.parsed() { return .command(command) }
        do {
            return .command(try parseAsRoot(arguments))
        } catch {
            return .ended(report(error, arguments: arguments))
        }
    }

    enum Parsed { case command(any ParsableCommand), ended(ExitStatus) }

    static func runAtOnce(_ command: any ParsableCommand, arguments: [String]) -> ExitStatus {
        do {
            var command = command
            try command.run()
            return .ok
        } catch {
            return report(error, arguments: arguments)
        }
    }

    static func run(_ command: any ParsableCommand, arguments: [String]) async -> ExitStatus {
        guard var waiting = command as? any AsyncParsableCommand else {
            return runAtOnce(command, arguments: arguments)
        }
        let failure: (any Error)?
        await NetworkWords.restore(isQuiet: Self.isQuiet(arguments))
        do {
            try await waiting.run()
            failure = nil
        } catch {
            failure = error
        }
        await Ending.finishRenewals(isQuiet: Self.isQuiet(arguments))
        return failure.map { report($0, arguments: arguments) } ?? .ok
    }

    /// Every command has the option, and reads it itself: here it is wanted after the command's end.
    private static func isQuiet(_ arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains { $0 == "--quiet" || $0 == "-q" }
    }

    private static func report(_ error: any Error, arguments: [String]) -> ExitStatus {
        let wantsJSON = arguments.prefix { $0 != "--" }.contains("--json")
        let parserStatus = exitCode(for: error)
        if parserStatus == .success {
            if let suggestion = CommandSuggestion.sentence(for: arguments) {
                // The parser has help for what is above a command that does not exist.
                let failure = CommandFailure(.usage, reason: "no_such_command", message: suggestion)
                Output(isJSON: wantsJSON, isQuiet: false).failure(failure)
                return failure.status
            }
            // --help and --version arrive as errors too.
            StandardStreams.out(CompletionScript.withoutExpansion(fullMessage(for: error)) + "\n")
            return .ok
        }
        var failure = CommandFailure(error)
        if failure.status == .other, parserStatus == .validationFailure {
            if let sentence = CommandSuggestion.dashSentence(for: arguments) {
                failure = CommandFailure(.usage, message: sentence)
            } else if let suggestion = CommandSuggestion.sentence(for: arguments) {
                failure = CommandFailure(.usage, reason: "no_such_command", message: suggestion)
            } else {
                failure = CommandFailure(.usage, message: message(for: error))
                if !wantsJSON {
                    // One style for every error; how the command is used follows.
                    let words = fullMessage(for: error).linesWithoutControls
                    StandardStreams.err("error: \(words.hasPrefix("Error: ") ? String(words.dropFirst(7)) : words)\n")
                    return .usage
                }
            }
        }
        Output(isJSON: wantsJSON, isQuiet: false).failure(failure)
        return failure.status
    }
}
