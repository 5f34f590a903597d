// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import RainIO
import RainKit
import Synchronization

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

/// What a command does last.
enum Ending {
    /// How long a signal waits for the answer to a renewal.
    static let afterSignal = Duration.seconds(5)
    /// How long nothing is said of it.
    private static let silence = Duration.milliseconds(300)

    /// Waits for new tokens that have been asked for: where the provider replaces refresh tokens, the session is lost with its answer. Until
    /// the renewal's own deadline, or for ``afterSignal`` once there was a signal; a second one ends the process in any case.
    static func finishRenewals(isQuiet: Bool) async {
        if await AccountSession.finishRenewals(within: silence) { return }
        if !isQuiet {
            StandardStreams.err(
                "note: waiting for the session's new tokens, to keep them. Ctrl-C may lose the session.\n")
        }
        if !Task.isCancelled, await AccountSession.finishRenewals() { return }
        guard Task.isCancelled else { return }
        // A task of its own: this one's cancellation was the signal.
        _ = await Task { await AccountSession.finishRenewals(within: afterSignal) }.value
    }

    /// Returns the exit status of the process. A result or a log that could not be written counts as a failure.
    static func status(after status: ExitStatus) -> ExitStatus {
        guard status == .ok else { return status }
        if let failure = StandardStreams.outFailure {
            // Whoever read it has enough, as `head` after its lines, and is not told so.
            if failure != EPIPE {
                let reason = String(cString: strerror(failure))
                StandardStreams.err(
                    "error: It is done, but the result could not be written to standard output: \(reason).\n")
            }
            return .cannotWrite
        }
        guard let log = PrivateLogFile.incomplete else { return status }
        StandardStreams.err("error: It is done, but the log \(log.onOneLine) is incomplete.\n")
        return .cannotWrite
    }
}

/// What a command takes of the system before it begins. Without it the runtime would not say so: it traps without descriptors, and where no
/// thread is to be had libdispatch tries for ever, so that no task goes on.
enum Resources {
    /// For tasks, for signals and timers, for what blocks.
    private static let threads = 4
    /// Two pipes, the runtime's own, a lock, a file, a connection.
    private static let descriptors = 12

    /// What is missing, and what to try; nil where nothing is.
    static var lack: CommandFailure? {
        let free = freeDescriptors
        if free < descriptors {
            let limit = sysconf(Int32(_SC_OPEN_MAX))
            return CommandFailure(
                .temporary, reason: "no_descriptors",
                message:
                    "This process may open \(limit) files, and rainctl needs at least \(limit - free + descriptors). "
                    + "Raise the limit (ulimit -n).")
        }
        if !hasThreads {
            return CommandFailure(
                .temporary, reason: "no_threads",
                message:
                    "The system gives this user no more threads, or this process too little memory for them: end other programs, or raise "
                    + "the limit (ulimit -u, ulimit -v).")
        }
        return nil
    }

    /// How many of them there are; not more are looked for.
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

    /// All of them are there at once, with memory beside their own, and no longer than it takes to begin them.
    private static var hasThreads: Bool {
        gate.withLock { _ in
            (0..<threads).allSatisfy { _ in startThread { gate.withLock { _ in } } == 0 } && hasMemory
        }
    }

    /// What a command takes beside the program, its libraries and its threads. Where less is to be had, Swift and libcrypto trap.
    private static let memory = 64 << 20

    private static var hasMemory: Bool {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard let place = mmap(nil, memory, PROT_READ | PROT_WRITE, flags, -1, 0), place != MAP_FAILED else {
            return false
        }
        munmap(place, memory)
        return true
    }

    /// The command's few threads share one heap, which grows by a megabyte (mallopt(3)). A heap for each, grown page by page, costs a short
    /// command a tenth of its time, and where memory is limited, glibc reserves 64 MB for each.
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

/// A command, or a group of commands, that asks the cloud, nearly always.
protocol CloudCommands {
    /// Starts libcurl, and with it OpenSSL, on a thread of its own: milliseconds that pass while the arguments are read and the session is
    /// looked up, instead of after that.
    static func startHTTP()
}

extension CloudCommands {
    static func startHTTP() {
        // Where there is no thread to be had, the first request does it.
        _ = startThread { CurlHTTPClient.prepare() }
    }
}

extension NodeCommand: CloudCommands {}
extension GroupCommand: CloudCommands {}
extension AutomationCommand: CloudCommands {}
extension Whoami: CloudCommands {}
