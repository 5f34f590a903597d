// SPDX-License-Identifier: Apache-2.0
import RainCore
import Glibc

/// `posix_spawn` for tests: a separate process group, the three given descriptors, default signals, and an end with the parent.
/// Signals need this because threads of libdispatch block them, and children inherit that.
struct Spawn: Sendable {
    var executable: String
    var arguments: [String]
    var environment: [String: String]
    var directory: String?
    /// The near end of a terminal that becomes the child's standard input and standard error, and controls it.
    var terminal: String?

    struct Started: Sendable {
        var pid: pid_t
        /// Our ends of the three pipes.
        var input: Int32
        var output: Int32
        var errors: Int32
    }

    /// Starts the process. To be called on ``SpawningThread``.
    func start() -> Result<Started, ProcessError> {
        let (childInput, input) = makePipe()
        let (output, childOutput) = makePipe()
        let (errors, childErrors) = makePipe()
        defer { for end in [childInput, childOutput, childErrors] { close(end) } }

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (target, source) in [childInput, childOutput, childErrors].enumerated() {
            posix_spawn_file_actions_adddup2(&actions, source, Int32(target))
        }

        // Other tests run in this process: a descriptor that one of them has just opened stays here.
        closeAll(from: 3, &actions)

        if let terminal {
            // The first terminal that the leader of a session opens controls it.
            posix_spawn_file_actions_addopen(&actions, 0, terminal, O_RDWR, 0)
            posix_spawn_file_actions_adddup2(&actions, 0, 2)
        }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        // POSIX_SPAWN_SETSID, which the module map leaves out: a session is its own process group, too.
        let group = terminal == nil ? POSIX_SPAWN_SETPGROUP : 0x80
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) | Int16(group))

        // setpriv (util-linux, always there on Debian) asks for the signal and becomes the program, under the same id.
        let there = directory.map { ["env", "--chdir=\($0)"] } ?? []
        let words = ["setpriv", "--pdeathsig", "KILL", "--"] + there + [executable] + arguments
        var argv = words.map { strdup($0) } + [nil]
        var envp = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { (argv + envp).forEach { free($0) } }
        var pid: pid_t = 0
        let failure = posix_spawnp(&pid, "setpriv", &actions, &attributes, &argv, &envp)
        guard failure == 0 else {
            for end in [input, output, errors] { close(end) }
            return .failure(ProcessError("\(executable) could not be started: \(systemErrorText(failure))"))
        }
        return .success(Started(pid: pid, input: input, output: output, errors: errors))
    }
}

/// `posix_spawn_file_actions_addclosefrom_np` (glibc 2.34), which Glibc's module leaves out.
private func closeAll(from first: Int32, _ actions: inout posix_spawn_file_actions_t) {
    typealias Add = @convention(c) (UnsafeMutableRawPointer, Int32) -> Int32
    guard let symbol = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else { return }
    _ = unsafeBitCast(symbol, to: Add.self)(&actions, first)
}
