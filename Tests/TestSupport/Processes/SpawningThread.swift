// SPDX-License-Identifier: Apache-2.0
import RainCore
import Glibc
import Synchronization

/// The one thread that starts children. It never ends: a child that asks to die with its parent (`PR_SET_PDEATHSIG`) dies
/// with the *thread* that started it, and a task's thread may end at any time.
enum SpawningThread {
    private static let work: Mutex<[@Sendable () -> Void]> = Mutex([])
    /// The writing end of a pipe: one byte for each job.
    private static let wake: Int32 = {
        let (jobs, wake) = makePipe()
        startThread {
            var byte: UInt8 = 0
            while true {
                guard read(jobs, &byte, 1) == 1 else { continue }
                let job = work.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                job?()
            }
        }
        return wake
    }()

    static func run(_ job: @escaping @Sendable () -> Void) {
        work.withLock { $0.append(job) }
        var byte: UInt8 = 1
        _ = write(wake, &byte, 1)
    }
}

/// A pipe that no later child inherits. (Between two calls one could: so children's pipes are made on ``SpawningThread``.)
func makePipe() -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    precondition(pipe(&ends) == 0, "no pipe: \(systemErrorText(errno))")
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
}

/// Runs `body` on a thread of its own and returns its result. For calls that block: tasks have two threads on a small machine, and
/// one that blocks would stop half of all tests.
public func onOwnThread<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () throws(Failure) -> Value
) async throws(Failure) -> Value {
    let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
        startThread { continuation.resume(returning: Result { () throws(Failure) in try body() }) }
    }
    return try result.get()
}

/// Runs `body` on its own thread, so that a blocking read never takes a thread from the tasks.
func startThread(_ body: @escaping @Sendable () -> Void) {
    final class Box {
        let body: @Sendable () -> Void; init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Box(body)).toOpaque()
    let failure = pthread_create(
        &thread, nil,
        {
            Unmanaged<Box>.fromOpaque($0!).takeRetainedValue().body(); return nil
        }, box)
    precondition(failure == 0, "no thread could be started: \(systemErrorText(failure))")
    pthread_detach(thread)
}
