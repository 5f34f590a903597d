// SPDX-License-Identifier: Apache-2.0
import CRainDescriptors
import Glibc
import RainCore
import RainIO

/// Opens an address in the user's browser: with `$BROWSER` if it is set, otherwise with `xdg-open`.
///
/// The address is an argument of the browser, which other users can read. An authorization request is safe there: it contains a challenge
/// and a state, but no verifier and no code.
public struct BrowserLauncher: Sendable {
    private let environment: [String: String]

    /// - Parameter environment: the variables that the browser inherits. Omit your own secrets.
    public init(environment: [String: String]) { self.environment = environment }

    /// Returns the commands to try, in order. `$BROWSER` is a list with colons. In each entry `%s` stands for the address; without `%s` the
    /// address comes last.
    public func commands(for url: String) -> [[String]] {
        let chosen = (environment["BROWSER"] ?? "").split(separator: ":").map { entry in
            let words = entry.split(separator: " ").map(String.init)
            guard words.contains("%s") else { return words + [url] }
            return words.map { $0 == "%s" ? url : $0 }
        }
        return chosen.filter { !$0.isEmpty && $0 != [url] } + [["xdg-open", url]]
    }

    /// The first program in `$BROWSER`, if none of its programs exists and can be run; nil otherwise.
    public var missingProgram: String? {
        // The last command is the desktop's own.
        let named = commands(for: "").dropLast().compactMap(\.first)
        let search = ProgramSearch(path: environment["PATH"])
        return named.contains { search.file(of: $0) != nil } ? nil : named.first
    }

    /// Returns whether a browser seems to have opened: a command succeeded, or was still running after a moment or when the task was
    /// cancelled.
    /// - Parameter url: http or https. No other address is opened, because a desktop might run it.
    public func open(_ url: String) async -> Bool {
        if case .opened = await opening(url) { return true }
        return false
    }

    /// The outcome of ``opening(_:)``.
    package enum Opening: Sendable, Equatable {
        case opened
        /// The reason, as a part of a sentence, such as `/bin/false (from BROWSER) failed with exit code 1`; nil if there is no browser.
        case failed(String?)
    }

    /// Does what ``open(_:)`` does, and tells why the first program of `$BROWSER` or the desktop's own failed.
    package func opening(_ url: String) async -> Opening {
        guard url.hasPrefix("https://") || url.hasPrefix("http://") else { return .failed(nil) }
        var reasons: [String] = []
        let all = commands(for: url)
        for (index, command) in all.enumerated() {
            let status = await DetachedProgram.run(command, environment: environment, within: .seconds(3))
            if Task.isCancelled { return .opened }
            let exists = ProgramSearch(path: environment["PATH"]).file(of: command[0]) != nil
            let origin = index < all.count - 1 ? " (from BROWSER)" : ""
            switch status {
            case 0: return .opened
            case nil where exists: return .opened
            case nil: reasons.append("\(command[0].onOneLine)\(origin) does not exist or cannot be run")
            case .some(-1): reasons.append("\(command[0].onOneLine)\(origin) was ended by a signal")
            case .some(let code): reasons.append("\(command[0].onOneLine)\(origin) failed with exit code \(code)")
            }
        }
        return .failed(reasons.first)
    }
}

/// Starts helper programs of the desktop, in a session of their own and without input and output. Ctrl-C in the terminal therefore does not
/// end the browser. They run in the root folder, because a helper in Python could load modules from the folder of this process.
enum DetachedProgram {
    /// Returns the exit status; nil if the program could not be started, or is still running after the time limit. It then continues.
    static func run(_ words: [String], environment: [String: String], within limit: Duration) async -> Int32? {
        guard let child = start(words, environment: environment) else { return nil }
        let end = ContinuousClock.now + limit
        var pause = Duration.milliseconds(5)
        while true {
            var status: Int32 = 0
            let found = waitpid(child, &status, WNOHANG)
            if found == child { return status & 0x7F == 0 ? (status >> 8) & 0xFF : -1 }
            if found < 0, errno != EINTR { return nil }
            guard ContinuousClock.now < end, (try? await Task.sleep(for: pause)) != nil else {
                collectLater(child)
                return nil
            }
            pause = min(pause * 2, .milliseconds(100))
        }
    }

    /// Returns the process's id, or nil.
    private static func start(_ words: [String], environment: [String: String]) -> pid_t? {
        let search = ProgramSearch(path: environment["PATH"])
        guard let program = search.file(of: words[0]) else { return nil }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addchdir_np(&actions, "/")

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for number in [SIGPIPE, SIGINT, SIGTERM] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        // This is POSIX_SPAWN_SETSID, which Glibc's module does not have.
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | 0x80))

        var argv = words.map { strdup($0) } + [nil]
        let variables = environment.merging(environment["PATH"] == nil ? [:] : ["PATH": search.path]) { $1 }
        var envp = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { (argv + envp).forEach { free($0) } }
        var child: pid_t = 0
        return posix_spawn(&child, program, &actions, &attributes, &argv, &envp) == 0 ? child : nil
    }

    /// Waits for the program on its own thread, because a program that starts a browser may run as long as the browser. If this
    /// process ends first, the system collects it.
    private static func collectLater(_ child: pid_t) {
        _ = startThread {
            while waitpid(child, nil, 0) < 0, errno == EINTR {}
        }
    }
}

/// Whether this machine has a browser that the user at the terminal can see.
public struct DesktopSession: Sendable, Equatable {
    /// The reason why there is no such browser.
    public enum Obstacle: String, Sendable {
        /// `ssh`: the terminal is on another machine. `container`: a browser in it cannot show a window to the user.
        case ssh, container
        /// Neither `DISPLAY` nor `WAYLAND_DISPLAY` is set.
        case noDisplay = "no_display"
    }

    /// The reason why the user cannot see a browser; nil on a desktop.
    public let obstacle: Obstacle?
    /// Whether `$BROWSER` is set anyway, as editors do that are connected to a remote machine.
    public let hasChosenBrowser: Bool

    /// - Parameter fileExists: whether a path exists. Container runtimes leave marker files.
    public init(
        environment: [String: String], fileExists: (String) -> Bool = { access($0, F_OK) == 0 }
    ) {
        func isSet(_ name: String) -> Bool { environment[name].map { !$0.isEmpty } ?? false }
        hasChosenBrowser = isSet("BROWSER")
        if isSet("SSH_CONNECTION") || isSet("SSH_CLIENT") || isSet("SSH_TTY") {
            obstacle = .ssh
        } else if isSet("container") || isSet("CODESPACES") || isSet("REMOTE_CONTAINERS")
            || runsInContainer(fileExists: fileExists)
        {
            obstacle = .container
        } else if !isSet("DISPLAY"), !isSet("WAYLAND_DISPLAY") {
            obstacle = .noDisplay
        } else {
            obstacle = nil
        }
    }

    /// Whether to try to open a browser.
    public var opensBrowser: Bool { obstacle == nil || hasChosenBrowser }
}
