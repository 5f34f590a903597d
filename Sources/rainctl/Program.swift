// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc

/// The entry point. Help, a version and mistakes end here, before a thread or a task is made: they should cost as little as possible.
@main
enum Program {
    static func main() {
        // No core dump: memory holds secrets.
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

/// A command on its way into the task that runs it. Only that task uses it, which its type cannot express. Parsing the arguments again
/// inside the task would avoid `@unchecked`, but takes a tenth of a short command's time.
private struct Handed: @unchecked Sendable {
    let command: any ParsableCommand
}
