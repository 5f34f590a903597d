// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import RainCore
import Synchronization

/// The entry point. Help, a version and mistakes end here, before a thread or a task is made: they should cost as little as possible.
@main
enum Program {
    static func main() {
        StandardDescriptors.open()
        // No core dump: memory holds secrets.
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)

        let arguments = Array(CommandLine.arguments.dropFirst())
        let command: any ParsableCommand
        switch Rainctl.parsed(arguments) {
        case .ended(let status): exit(Ending.status(after: status).rawValue)
        case .command(let parsed): command = parsed
        }
        guard command is any AsyncParsableCommand else {
            exit(Ending.status(after: Rainctl.runAtOnce(command, arguments: arguments)).rawValue)
        }

        let handed = Handed(command: command)
        let work = Task.detached {
            hasBegun.store(true, ordering: .releasing)
            exit(Ending.status(after: await Rainctl.run(handed.command, arguments: arguments)).rawValue)
        }
        Signals.whenReceived { work.cancel() }
        endUnlessBegun()
        while true { pause() }
    }

    private static let hasBegun = Atomic(false)
    /// More than a machine takes that has too much to do.
    private static let startLimit = Duration.seconds(10)

    /// Where the system gives no thread (`ulimit -u`), libdispatch tries for ever, and no task ever runs.
    private static func endUnlessBegun() {
        let end = ContinuousClock.now + startLimit
        var pause: UInt32 = 500
        while !hasBegun.load(ordering: .acquiring) {
            guard ContinuousClock.now < end else {
                StandardStreams.err(
                    "error: The system starts no thread for this user: end other programs, or raise the limit (ulimit -u).\n"
                )
                _exit(ExitStatus.temporary.rawValue)
            }
            usleep(pause)
            pause = min(pause * 2, 50_000)
        }
    }
}

/// A command on its way into the task that runs it. Only that task uses it, which its type cannot express. Parsing the arguments again
/// inside the task would avoid `@unchecked`, but takes a tenth of a short command's time.
private struct Handed: @unchecked Sendable {
    let command: any ParsableCommand
}
