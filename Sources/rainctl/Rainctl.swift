import ArgumentParser
import Glibc

/// The root of the command tree, and the one place where a command's end becomes an exit status.
@main
struct Rainctl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rainctl",
        abstract: "Put ESP RainMaker boards on Wi-Fi and into your account.",
        discussion: """
            Example: rainctl login me@example.com
                     rainctl provision --transport serial --port /dev/ttyUSB0 --ssid Home --passphrase-file wifi.txt
            """,
        version: "0.1.0",
        subcommands: [
            Login.self, Logout.self, Whoami.self, AccountCommand.self, Provision.self, Device.self, NodeCommand.self,
            ProfileCommand.self,
        ])

    static func main() async {
        let work = Task { await run(arguments: Array(CommandLine.arguments.dropFirst())) }
        Signals.whenReceived { work.cancel() }
        Glibc.exit(await work.value.rawValue)
    }

    private static func run(arguments: [String]) async -> ExitStatus {
        do {
            var command = try parseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            return .ok
        } catch {
            return report(error, arguments: arguments)
        }
    }

    private static func report(_ error: any Error, arguments: [String]) -> ExitStatus {
        let wantsJSON = arguments.prefix { $0 != "--" }.contains("--json")
        let parserStatus = exitCode(for: error)
        if parserStatus == .success {
            // --help and --version arrive as errors too.
            StandardStreams.out(fullMessage(for: error) + "\n")
            return .ok
        }
        var failure = CommandFailure(error)
        if failure.status == .other, parserStatus == .validationFailure {
            failure = CommandFailure(.usage, message: message(for: error))
            if !wantsJSON {
                StandardStreams.err(fullMessage(for: error) + "\n")
                return .usage
            }
        }
        Output(isJSON: wantsJSON, isQuiet: false).failure(failure)
        return failure.status
    }
}
