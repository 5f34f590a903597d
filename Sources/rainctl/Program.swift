import ArgumentParser
import Glibc

/// The entry. What needs no waiting (help, a version, a mistake) ends here, before a thread or a task was made for it: a tool
/// that is asked for its help a thousand times a day should cost nothing.
@main
enum Program {
    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch Rainctl.parsed(arguments) {
        case .ended(let status): exit(status.rawValue)
        case .command(let command) where !(command is any AsyncParsableCommand):
            exit(Rainctl.runAtOnce(command, arguments: arguments).rawValue)
        case .command: break
        }

        let work = Task.detached {
            // Parsed once more, as a command may not cross into a task.
            switch Rainctl.parsed(arguments) {
            case .command(let command): exit(await Rainctl.run(command, arguments: arguments).rawValue)
            case .ended(let status): exit(status.rawValue)
            }
        }
        Signals.whenReceived { work.cancel() }
        while true { pause() }
    }
}
