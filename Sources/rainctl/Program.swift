// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc

/// The entry point. Help, a version and mistakes end here, before a thread or a task is made: they should cost as little as possible.
@main
enum Program {
    static func main() {
        StandardDescriptors.open()
        Signals.ignoreBrokenPipes()
        Resources.shareHeap()
        // No core dump: memory holds secrets.
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        Self.refuseTracing()

        let arguments = Array(CommandLine.arguments.dropFirst())
        let command: any ParsableCommand
        switch Rainctl.parsed(arguments) {
        case .ended(let status): end(status)
        case .command(let parsed): command = parsed
        }
        guard command is any AsyncParsableCommand else {
            end(Rainctl.runAtOnce(command, arguments: arguments))
        }

        if let lack = Resources.lack {
            if let doctor = command as? Doctor { end(doctor.runAtOnce()) }
            Output(isJSON: arguments.contains("--json"), isQuiet: false).failure(lack)
            _exit(lack.status.rawValue)
        }
        Signals.catchAll()
        let handed = Handed(command: command)
        let work = Task.detached {
            Self.end(await Rainctl.run(handed.command, arguments: arguments))
        }
        Signals.whenReceived { work.cancel() }
        while true { pause() }
    }

    /// Without the exit handlers of the libraries: there is nothing to flush, they take time, and OpenSSL's is not for a process in which
    /// another thread still uses it (see ``CloudCommands``).
    private static func end(_ status: ExitStatus) -> Never { _exit(Ending.status(after: status).rawValue) }

    /// No other program of this user reads its memory (`PR_SET_DUMPABLE`, prctl(2)). Glibc's module has no variadic functions.
    private static func refuseTracing() {
        typealias Control = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
        guard let symbol = dlsym(nil, "prctl") else { return }
        let setDumpable: Int32 = 4
        _ = unsafeBitCast(symbol, to: Control.self)(setDumpable, 0, 0, 0, 0)
    }
}

/// A command on its way into the task that runs it. Only that task uses it, which its type cannot express. Parsing the arguments again
/// inside the task would avoid `@unchecked`, but takes a tenth of a short command's time.
private struct Handed: @unchecked Sendable {
    let command: any ParsableCommand
}
