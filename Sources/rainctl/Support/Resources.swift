// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainIO
import Synchronization

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
