import ArgumentParser
import Glibc

/// The entry. What needs no waiting (help, a version, a mistake) ends here, before a thread or a task was made for it: a tool
/// that is asked for its help a thousand times a day should cost nothing.
@main
enum Program {
    static func main() {
        // What memory holds, secrets among it, is not for a file.
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)

        let arguments = Array(CommandLine.arguments.dropFirst())
        let command: any ParsableCommand
        switch Rainctl.parsed(arguments) {
        case .ended(let status): exit(status.rawValue)
        case .command(let parsed): command = parsed
        }
        guard command is any AsyncParsableCommand else {
            exit(Rainctl.runAtOnce(command, arguments: arguments).rawValue)
        }

        let handed = Handed(command: command)
        let work = Task.detached { exit(await Rainctl.run(handed.command, arguments: arguments).rawValue) }
        Signals.whenReceived { work.cancel() }
        while true { pause() }
    }
}

/// A command on its way into the task that runs it. Nobody else has it from then on, which its type cannot say; parsing it there
/// once more, which needed no such word, was a tenth of a short command's time.
private struct Handed: @unchecked Sendable {
    let command: any ParsableCommand
}
