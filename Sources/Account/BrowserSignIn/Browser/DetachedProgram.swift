// SPDX-License-Identifier: Apache-2.0
import CRainDescriptors
import Glibc
import RainCore
import RainIO

/// Starts a desktop's helper programs: in a session of their own, so that Ctrl-C in the terminal does not end the browser, with
/// nothing on their standard streams. They run in the root folder: a helper in Python, for one, would load modules from the folder in which
/// this process was started.
enum DetachedProgram {
    /// The exit status; nil if the program could not be started, or still runs when the time is over. It goes on running then.
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

    /// The process's id, or nil.
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
        // POSIX_SPAWN_SETSID, which Glibc's module leaves out.
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | 0x80))

        var argv = words.map { strdup($0) } + [nil]
        let variables = environment.merging(environment["PATH"] == nil ? [:] : ["PATH": search.path]) { $1 }
        var envp = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { (argv + envp).forEach { free($0) } }
        var child: pid_t = 0
        return posix_spawn(&child, program, &actions, &attributes, &argv, &envp) == 0 ? child : nil
    }

    /// Waits for the program on a thread of its own, as one that starts a browser may run as long as the browser. If this process ends
    /// first, the system collects it.
    private static func collectLater(_ child: pid_t) {
        _ = startThread {
            while waitpid(child, nil, 0) < 0, errno == EINTR {}
        }
    }
}
