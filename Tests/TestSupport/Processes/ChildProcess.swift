// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// A program under test, in its own process group.
///
/// It never outlives the test: ``withChildProcess(_:_:environment:directory:input:body:)`` kills what is left, letting go of
/// the value does too, and the kernel does when the whole test run dies. All waits have a deadline.
public final class ChildProcess: Sendable {
    public enum Input: Sendable {
        /// The child reads end of file at once.
        case empty
        /// The child reads this, then end of file.
        case text(String)
        /// The test writes with ``ChildProcess/write(_:)`` and ends with ``ChildProcess/closeInput()``.
        case open
    }

    public let pid: pid_t
    public let name: String
    private let output = Watched(OutputLines())
    private let errors = Watched(OutputLines())
    private let status = Watched<ChildExit?>(nil)
    private let input: Mutex<Int32?>

    /// Starts `executable` (a path, or a name that `PATH` finds). `environment` is laid over the test's own. With a `terminal` (the path of
    /// a pty's near end) standard input and standard error are that, see ``Person``.
    public static func start(
        _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:],
        directory: String? = nil, input: Input = .empty, terminal: String? = nil
    ) async throws -> ChildProcess {
        let spawn = Spawn(
            executable: executable, arguments: arguments, environment: currentEnvironment().merging(environment) { $1 },
            directory: directory, terminal: terminal)
        let started = await withCheckedContinuation { continuation in
            SpawningThread.run { continuation.resume(returning: spawn.start()) }
        }
        let name = String(executable.split(separator: "/").last ?? "")
        return ChildProcess(try started.get(), name: name, sending: input)
    }

    private init(_ started: Spawn.Started, name: String, sending: Input) {
        pid = started.pid
        self.name = name
        input = Mutex(started.input)
        Self.collect(started.output, into: output)
        Self.collect(started.errors, into: errors)
        let status = status
        let pid = pid
        startThread {
            // Looked at, not collected: until deinit the id stays ours, so that killing the group never meets a stranger.
            var ended = siginfo_t()
            while waitid(P_PID, id_t(pid), &ended, WEXITED | WNOWAIT) == -1 && errno == EINTR {}
            let code = Int(ended._sifields._sigchld.si_status)
            status.change { $0 = ended.si_code == CLD_EXITED ? .exited(code) : .signalled(code) }
        }
        switch sending {
        case .empty: closeInput()
        case .text(let text):
            let end = input.withLock { end in
                defer { end = nil }
                return end!
            }
            startThread {
                writeAll(Array(text.utf8), to: end)
                close(end)
            }
        case .open: break
        }
    }

    deinit {
        kill()
        closeInput()
        let pid = pid
        startThread { while waitpid(pid, nil, 0) == -1 && errno == EINTR {} }
    }

    // MARK: what it says

    /// The next line of standard output; nil when the stream ended.
    public func line(within limit: Duration = .waitLimit) async throws -> String? {
        try await nextLine(of: output, "standard output", within: limit)
    }

    /// The next line of standard error; nil when the stream ended.
    public func errorLine(within limit: Duration = .waitLimit) async throws -> String? {
        try await nextLine(of: errors, "standard error", within: limit)
    }

    /// The line that says that a server is ready: the first on standard output.
    public func readyLine(within limit: Duration = .waitLimit) async throws -> String {
        guard let line = try await line(within: limit) else {
            let status = try await wait()
            throw ProcessError("\(name) ended (\(status)) before it was ready: \(standardError.suffix(2000))")
        }
        return line
    }

    /// Waits until standard output holds `text` somewhere.
    public func output(containing text: String, within limit: Duration = .waitLimit) async throws {
        try await wait(for: text, in: output, within: limit)
    }

    /// Waits until standard error holds `text` somewhere.
    public func errorOutput(containing text: String, within limit: Duration = .waitLimit) async throws {
        try await wait(for: text, in: errors, within: limit)
    }

    private func wait(for text: String, in stream: Watched<OutputLines>, within limit: Duration) async throws {
        let found = await stream.wait(within: limit) { lines in
            lines.text.contains(text) ? true : (lines.ended ? false : nil)
        }
        guard found == true else {
            throw ProcessError("\(name) did not write \"\(text)\": \(stream.read(\.text).suffix(2000))")
        }
    }

    /// All of standard output up to now.
    public var standardOutput: String { output.read(\.text) }
    /// All of standard error up to now.
    public var standardError: String { errors.read(\.text) }

    private func nextLine(of stream: Watched<OutputLines>, _ what: String, within limit: Duration) async throws
        -> String?
    {
        let found: String?? = await stream.wait(within: limit) { lines in
            if let line = lines.takeLine() { return .some(line) }
            return lines.ended ? .some(nil) : nil
        }
        guard let found else {
            throw ProcessError(
                "\(name) wrote no line to \(what) within \(limit); errors: \(standardError.suffix(2000))")
        }
        return found
    }

    // MARK: input and signals

    public func write(_ text: String) { write(Array(text.utf8)) }

    public func write(_ bytes: [UInt8]) {
        guard let end = input.withLock({ $0 }) else { return }
        writeAll(bytes, to: end)
    }

    public func closeInput() {
        input.withLock { end in
            if let open = end { close(open) }
            end = nil
        }
    }

    /// Sends a signal to the process alone, unless it has ended.
    public func signal(_ number: Int32) {
        guard status.read({ $0 == nil }) else { return }
        _ = Glibc.kill(pid, number)
    }

    /// Ends the process and what it started, at once.
    public func kill() {
        _ = Glibc.kill(-pid, SIGKILL)
    }

    // MARK: how it ends

    /// Waits until it has ended. What it wrote is read by then, but for what something that it started still writes.
    public func wait(within limit: Duration = .waitLimit) async throws -> ChildExit {
        guard let ended = await status.wait(within: limit, for: { $0 }) else {
            throw ProcessError("\(name) still runs after \(limit); errors: \(standardError.suffix(2000))")
        }
        // Whatever it started may keep the streams open for good, so this wait has a limit that is not a failure.
        for stream in [output, errors] { _ = await stream.wait(within: .seconds(10), for: { $0.ended ? true : nil }) }
        return ended
    }

    /// Asks the process to end, as `systemd` would, and waits until it did.
    @discardableResult
    public func terminate(_ number: Int32 = SIGTERM, within limit: Duration = .waitLimit) async throws -> ChildExit {
        signal(number)
        return try await wait(within: limit)
    }

    /// Waits until both streams have ended, so that nothing is missing from what was read.
    public func drained(within limit: Duration = .waitLimit) async throws {
        for stream in [output, errors] {
            guard await stream.wait(within: limit, for: { $0.ended ? true : nil }) != nil else {
                throw ProcessError("\(name) ended, but something it started keeps its output open")
            }
        }
    }

    private static func collect(_ end: Int32, into stream: Watched<OutputLines>) {
        startThread {
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)
            defer {
                buffer.deallocate()
                close(end)
                stream.change { $0.end() }
            }
            while true {
                let count = read(end, buffer.baseAddress!, buffer.count)
                if count > 0 {
                    stream.change { $0.append(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
                } else if count == 0 || errno != EINTR {
                    return
                }
            }
        }
    }
}

/// Starts a program, hands it to `body`, and kills it and all that it started when `body` ends in whatever way.
public func withChildProcess<Result>(
    _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:], directory: String? = nil,
    input: ChildProcess.Input = .empty, body: (ChildProcess) async throws -> Result
) async throws -> Result {
    let child = try await ChildProcess.start(
        executable, arguments, environment: environment, directory: directory, input: input)
    defer { child.kill() }
    return try await body(child)
}

/// Writes until everything is written or the reader is gone. The signal of the latter is blocked on this thread.
private func writeAll(_ bytes: [UInt8], to end: Int32) {
    var brokenPipe = sigset_t()
    sigemptyset(&brokenPipe)
    sigaddset(&brokenPipe, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &brokenPipe, nil)
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(end, $0.baseAddress!, $0.count) }
        if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { return }
    }
}

/// The environment that the test run was started with. What it sets for itself later is not part of it, so no child inherits that.
public func currentEnvironment() -> [String: String] { initialEnvironment }

private let initialEnvironment = environmentOfProcess()

private func environmentOfProcess() -> [String: String] {
    var found: [String: String] = [:]
    var next = environ
    while let entry = next.pointee {
        let pair = String(cString: entry).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        found[String(pair[0])] = pair.count > 1 ? String(pair[1]) : ""
        next += 1
    }
    return found
}
