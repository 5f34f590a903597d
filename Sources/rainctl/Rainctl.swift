// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

/// The root of the command tree. It turns a command's error into an exit status.
struct Rainctl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rainctl",
        abstract: "Put ESP RainMaker boards on Wi-Fi and into your account.",
        discussion: """
            Example: rainctl login me@example.com
                     rainctl provision --ssid Home --passphrase-file wifi.txt

            docs/glossary.md explains the terms of the help pages.
            """,
        version: RainKitVersion.current,
        subcommands: [
            Login.self, Logout.self, Whoami.self, AccountCommand.self, Provision.self, SwitchOn.self, SwitchOff.self,
            SwitchToggle.self, SetPrimary.self, Device.self, NodeCommand.self, GroupCommand.self,
            AutomationCommand.self, BatchCommand.self, StationCommand.self, BridgeCommand.self, QRCommand.self,
            ProfileCommand.self, Serve.self, MCPCommand.self,
            Doctor.self, CompletionCommand.self, ManualPages.self,
        ])

    /// Returns a command of ``configuration`` by its name.
    static func command(_ name: String) -> (any ParsableCommand.Type)? {
        switch name {
        case "login": Login.self
        case "logout": Logout.self
        case "whoami": Whoami.self
        case "account": AccountCommand.self
        case "provision": Provision.self
        case "on": SwitchOn.self
        case "off": SwitchOff.self
        case "toggle": SwitchToggle.self
        case "set": SetPrimary.self
        case "device": Device.self
        case "node": NodeCommand.self
        case "group": GroupCommand.self
        case "automation": AutomationCommand.self
        case "batch": BatchCommand.self
        case "station": StationCommand.self
        case "bridge": BridgeCommand.self
        case "qr": QRCommand.self
        case "profile": ProfileCommand.self
        case "serve": Serve.self
        case "mcp": MCPCommand.self
        case "doctor": Doctor.self
        case "completion": CompletionCommand.self
        case "manual-pages": ManualPages.self
        default: nil
        }
    }

    /// Returns the command of the arguments. Help, a version and a usage error are printed at once, and result in a status.
    static func parsed(_ arguments: [String]) -> Parsed {
        if let offer = CompletionOffer.requested(by: arguments) {
            StandardStreams.out(offer.text)
            return .ended(.ok)
        }
        let named = NamedCommand(arguments)
        if let answer = named.helpOrVersion {
            StandardStreams.out(answer)
            return .ended(.ok)
        }
        if let first = named.path.first, CloudCommands.all.contains(where: { $0 == first }) {
            CloudCommands.startHTTP()
        }
        if let command = named.parsed() { return .command(command) }
        if let topic = HelpTopic(of: named) {
            StandardStreams.out(topic.text(columns: HelpText.columns))
            return .ended(.ok)
        }
        do {
            if named.lacksCommand { throw CommandSuggestion.missingCommand(named) }
            return .command(try named.root.parseAsRoot(named.arguments))
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

    static func run(_ command: some ParsableCommand, arguments: [String]) async -> ExitStatus {
        guard var waiting = command as? any AsyncParsableCommand else {
            return runAtOnce(command, arguments: arguments)
        }
        let failure: (any Error)?
        // Every command reads this option itself; here it is needed before its start and after its end.
        let isQuiet = GlobalOptions.areQuiet(arguments)
        await NetworkMessages.restore(isQuiet: isQuiet)
        do {
            try await waiting.run()
            failure = nil
        } catch {
            failure = error
        }
        await Ending.finishRenewals(isQuiet: isQuiet)
        guard let failure else { return .ok }
        // The terminal has shown Ctrl-C as ^C, in the line of the next output.
        if Interruption.hasBegun, TerminalStyle.ofErrors.isLive { StandardStreams.err(StandardStreams.eraseLine) }
        if Interruption.hasBegun, command is any EndsByInterruption, CommandFailure(failure).status == .cancelled {
            return .cancelled
        }
        return report(failure, arguments: arguments)
    }

    /// A replacement for the parser's errors that name a wrong cause.
    private static func betterSentence(for error: any Error, _ arguments: [String]) -> String? {
        let message = message(for: error)
        if let sentence = CommandSuggestion.passwordSentence(for: arguments, message)
            ?? CommandSuggestion.boardsSentence(for: arguments, message)
            ?? CommandSuggestion.missingBoardSentence(for: arguments, message)
            ?? CommandSuggestion.earlyOptionSentence(for: arguments, message)
        {
            return sentence
        }
        if ["Unexpected argument", "Unknown option"].contains(where: message.contains) {
            return CommandSuggestion.terminatorSentence(for: arguments)
                ?? CommandSuggestion.quotationSentence(for: arguments, message)
        }
        let negative = CommandSuggestion.negativeSentence(for: arguments, message)
        return CommandSuggestion.formSentence(negative ?? message) ?? negative
    }

    private static func report(_ error: any Error, arguments: [String]) -> ExitStatus {
        let output = Output(arguments: arguments)
        let parserStatus = exitCode(for: error)
        if parserStatus == .success {
            if let suggestion = CommandSuggestion.sentence(for: arguments) {
                // For an unknown command, the parser shows the help of its parent.
                let failure = CommandFailure(.usage, reason: "no_such_command", message: suggestion)
                output.failure(explained(failure, arguments))
                return failure.status
            }
            // `--help` and `--version` also arrive as errors.
            let root = NamedCommand(arguments).root
            let text = CompletionScript.replaced(root.fullMessage(for: error))
            StandardStreams.out(HelpText.arranged(text) + "\n")
            return .ok
        }
        var failure = CommandFailure(error)
        if failure.status == .other, parserStatus == .validationFailure {
            if let sentence = CommandSuggestion.dashSentence(for: arguments) {
                failure = CommandFailure(.usage, message: sentence)
            } else if let suggestion = CommandSuggestion.sentence(for: arguments) {
                failure = CommandFailure(.usage, reason: "no_such_command", message: suggestion)
            } else if let sentence = Self.betterSentence(for: error, arguments) {
                failure = CommandFailure(.usage, message: sentence)
            } else {
                failure = CommandFailure(
                    .usage, message: CommandSuggestion.withoutFarSuggestion(message(for: error)))
                if !output.isJSON, explained(failure, arguments).message == failure.message {
                    // All errors have one style. The usage follows.
                    output.usageError(CommandSuggestion.withoutFarSuggestion(fullMessage(for: error)))
                    return .usage
                }
            }
        }
        failure = explained(failure, arguments)
        output.failure(failure)
        return failure.status
    }

    /// Returns the failure with a cause that is in the text of an argument or of a variable.
    private static func explained(_ failure: CommandFailure, _ arguments: [String]) -> CommandFailure {
        let status = failure.status
        guard status != .deadline, status != .cancelled, status != .temporary else { return failure }
        let isRefusal =
            status == .usage || status == .config || status == .badData || failure.reason == "not_signed_in"
            || failure.reason.hasPrefix("no_such_") || failure.reason.hasPrefix("unknown_")
        var failure = failure
        failure.message = GivenCause.explained(
            failure.message, isUsage: status == .usage, isRefusal: isRefusal, arguments: arguments,
            environment: Invocation.current.environment)
        return failure
    }
}
