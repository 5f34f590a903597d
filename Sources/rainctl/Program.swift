// SPDX-License-Identifier: Apache-2.0
import RainCore
import ArgumentParser
import Glibc
import RainHTTPCurl
import RainIO
import RainKit
import Synchronization

/// The entry point. Help, a version and usage errors end here, before a thread or a task is made, so that they cost little time.
@main
enum Program {
    static func main() {
        StandardDescriptors.open()
        Signals.ignoreBrokenPipes()
        Resources.shareHeap()
        // No core dump, because memory holds secrets.
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        Self.refuseTracing()

        let arguments = Array(CommandLine.arguments.dropFirst())
        if let damaged = Self.damagedArgument {
            Output(arguments: arguments).failure(damaged)
            end(damaged.status)
        }
        let command: any ParsableCommand
        switch Rainctl.parsed(arguments) {
        case .ended(let status): end(status)
        case .command(let parsed): command = parsed
        }
        // Of the type, because for a value Swift first looks for a conformance of `any ParsableCommand` itself.
        guard type(of: command) is any AsyncParsableCommand.Type else {
            end(Rainctl.runAtOnce(command, arguments: arguments))
        }

        if let lack = Resources.lack {
            if let doctor = command as? Doctor { end(doctor.runAtOnce()) }
            Output(arguments: arguments).failure(lack)
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

    /// The error for an argument that is not UTF-8. Swift would put a replacement character into it, so another text would be used.
    private static var damagedArgument: CommandFailure? {
        for index in 1..<max(Int(CommandLine.argc), 1) {
            guard let bytes = CommandLine.unsafeArgv[index], String(validatingCString: bytes) == nil else { continue }
            return CommandFailure(
                .usage,
                message:
                    "\"\(CommandLine.arguments[index].onOneLine)\" is not UTF-8 text: check the locale of the terminal (LANG), and the "
                    + "encoding of the script.")
        }
        return nil
    }

    /// Ends without the exit handlers of the libraries. There is nothing to flush, and they take time. OpenSSL's is not safe in a process
    /// in which another thread still uses it (see ``CloudCommands``).
    private static func end(_ status: ExitStatus) -> Never {
        let final = Ending.status(after: status)
        TypedInput.restore()
        _exit(final.rawValue)
    }

    /// Prevents other programs of this user from reading the process's memory (`PR_SET_DUMPABLE`, prctl(2)). Glibc's module has no variadic
    /// functions.
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

/// The last steps of a command.
enum Ending {
    /// How long a signal waits for the answer to a renewal.
    private static let afterSignal = Duration.seconds(5)
    /// How long to wait before a note is printed.
    private static let silence = Duration.milliseconds(300)

    /// Waits for new tokens that were requested. If the provider replaces refresh tokens, losing its answer loses the session. Waits until
    /// the renewal's own deadline, or for ``afterSignal`` after a signal. A second signal always ends the process.
    static func finishRenewals(isQuiet: Bool) async {
        if await AccountSession.finishRenewals(within: silence) { return }
        if !isQuiet {
            Screen.shared.write(
                "note: waiting for the session's new tokens, to store them. If you press Ctrl-C now, the session may be lost."
            )
        }
        if !Task.isCancelled, await AccountSession.finishRenewals() { return }
        guard Task.isCancelled else { return }
        // In a separate task, because the signal has cancelled this one.
        _ = await Task { await AccountSession.finishRenewals(within: afterSignal) }.value
    }

    /// Returns the exit status of the process. A result or a log that could not be written counts as a failure.
    static func status(after status: ExitStatus) -> ExitStatus {
        guard status == .ok else { return status }
        if let failure = StandardStreams.outFailure {
            // The reader has enough, like `head` after its lines, so this is not reported.
            if failure != EPIPE {
                let reason = systemErrorText(failure)
                Screen.shared.write(
                    "error: The command succeeded, but its result could not be written to standard output: \(reason).",
                    indent: 2)
            }
            return .cannotWrite
        }
        guard let log = PrivateLogFile.incomplete else { return status }
        Screen.shared.write(
            "error: The log \(log.path.onOneLine) is incomplete: \(String(cString: strerror(log.failure))). The command itself succeeded.",
            indent: 2)
        return .cannotWrite
    }
}

/// The system resources that a command needs. Without them the runtime would not report it: it traps without descriptors. Without threads,
/// libdispatch retries forever, so that no task continues.
enum Resources {
    /// For tasks, signals, timers, and blocking calls.
    private static let threads = 4
    /// Two pipes, the runtime's own descriptors, a lock, a file, a connection.
    private static let descriptors = 12

    /// The error for missing resources; nil if nothing is missing.
    static var lack: CommandFailure? {
        let free = freeDescriptors
        if free < descriptors {
            let limit = sysconf(Int32(_SC_OPEN_MAX))
            return CommandFailure(
                .temporary, reason: "no_descriptors",
                message:
                    "This process may open only \(limit) files, but the command needs at least \(limit - free + descriptors). "
                    + "Raise the limit (ulimit -n).")
        }
        if !hasThreads {
            return CommandFailure(
                .temporary, reason: "no_threads",
                message:
                    "The system could not start a thread: this user has too many threads, or this process has too little memory. End "
                    + "other programs, or raise the limit (ulimit -u, ulimit -v).")
        }
        return nil
    }

    /// The number of free descriptors, counted up to the number that is needed.
    private static var freeDescriptors: Int {
        var copies: [Int32] = []
        defer { for copy in copies { close(copy) } }
        for _ in 0..<descriptors {
            let copy = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
            guard copy >= 0 else { break }
            copies.append(copy)
        }
        return copies.count
    }

    /// Whether all threads can exist at once, with their memory. They end as soon as they have started.
    private static var hasThreads: Bool {
        gate.withLock { _ in
            (0..<threads).allSatisfy { _ in startThread { gate.withLock { _ in } } == 0 } && hasMemory
        }
    }

    /// The memory that a command needs besides the program, its libraries and its threads. With less, Swift and libcrypto trap.
    private static let memory = 64 << 20

    private static var hasMemory: Bool {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard let place = mmap(nil, memory, PROT_READ | PROT_WRITE, flags, -1, 0), place != MAP_FAILED else {
            return false
        }
        munmap(place, memory)
        return true
    }

    /// Lets the command's few threads share one heap, which grows by a megabyte (mallopt(3)). A heap for each thread, grown page by page,
    /// costs a short command a tenth of its time. If memory is limited, glibc reserves 64 MB for each heap.
    static func shareHeap() {
        // <malloc.h> is not part of Swift's Glibc.
        guard let address = dlsym(nil, "mallopt") else { return }
        typealias Option = @convention(c) (Int32, Int32) -> Int32
        let set = unsafeBitCast(address, to: Option.self)
        let (arenaMaximum, topPadding): (Int32, Int32) = (-8, -2)
        _ = set(arenaMaximum, 1)
        _ = set(topPadding, 1 << 20)
    }

    private static let gate = Mutex(())
}

/// The commands, and the groups of commands, that nearly always ask the cloud.
enum CloudCommands {
    static let all: [Any.Type] = [NodeCommand.self, GroupCommand.self, AutomationCommand.self, Whoami.self]

    /// Starts libcurl, and with it OpenSSL, on a separate thread. This takes milliseconds, which pass while the arguments are read and the
    /// session is looked up.
    static func startHTTP() {
        // If no thread is available, the first request does this.
        _ = startThread { CurlHTTPClient.prepare() }
    }
}
