// SPDX-License-Identifier: Apache-2.0
import Glibc
@testable import IdentityProviders
@testable import RainAccount
import RainCore
import RainKitTesting
import Synchronization
import TestSupport
import Testing

/// Waiting for a turn: by the event, in order, and free to leave.
@Suite("Turns at a store")
struct TurnTests {
    @Test("if a process with the lock dies, the next one gets it without a wait")
    func deadHolder() async throws {
        try await withTemporaryFolder { folder in
            let store = FileCredentialStore(folder: folder.file("sessions"))
            let key = try CredentialKey("sim")
            try await store.exclusively(key, within: .waitLimit) { _ throws(AccountError) in }
            // util-linux's flock(1): it says when it has the lock, and keeps it.
            try await withChildProcess(
                "flock", [folder.file("sessions/sim.lock"), "sh", "-c", "echo held; cat"], input: .open
            ) { holder in
                #expect(try await holder.readyLine() == "held")
                let waiting = (0..<50).map { _ in
                    Task {
                        await accountError { () throws(AccountError) in
                            try await store.exclusively(key, within: .waitLimit) { _ throws(AccountError) in }
                        }
                    }
                }
                let late = await accountError { () throws(AccountError) in
                    try await store.exclusively(key, within: .milliseconds(50)) { _ throws(AccountError) in }
                }
                #expect(late?.code == .timeout)
                // A busy machine may not have begun to run the thread that waits.
                let end = ContinuousClock.now + .waitLimit
                while try self.waiters(for: folder.file("sessions/sim.lock")) == 0, ContinuousClock.now < end {
                    try await Task.sleep(for: .milliseconds(10))
                }
                let waiters = try self.waiters(for: folder.file("sessions/sim.lock"))
                #expect(waiters == 1, "one thread waits for all of this process")
                for task in waiting.prefix(20) { task.cancel() }
                for task in waiting.prefix(20) { #expect(await task.value?.code == .cancelled) }
                holder.kill()
                for task in waiting.dropFirst(20) { #expect(await task.value == nil) }
            }
        }
    }

    @Test("a lock that comes when nobody wants it any more is given back")
    func unwanted() async throws {
        try await withTemporaryFolder { folder in
            let store = FileCredentialStore(folder: folder.file("sessions"))
            let key = try CredentialKey("sim")
            try await store.exclusively(key, within: .waitLimit) { _ throws(AccountError) in }
            let lock = folder.file("sessions/sim.lock")
            try await withChildProcess("flock", [lock, "sh", "-c", "echo held; cat"], input: .open) { holder in
                _ = try await holder.readyLine()
                let late = await accountError { () throws(AccountError) in
                    try await store.exclusively(key, within: .milliseconds(10)) { _ throws(AccountError) in }
                }
                #expect(late?.code == .timeout)
                holder.kill()
                // Another process gets it, although ours was next in the kernel's queue.
                let next = try await run("flock", ["--timeout", "240", lock, "true"])
                #expect(next.status == .exited(0))
            }
        }
    }

    /// How many threads of all processes wait for the lock of a file: the lines with an arrow in /proc/locks (proc_locks(5)).
    private func waiters(for path: String) throws -> Int {
        var status = stat()
        guard stat(path, &status) == 0 else { throw ProcessError("\(path) does not exist") }
        return try readFile("/proc/locks").split(separator: "\n").count { line in
            line.contains("->") && line.contains(":\(status.st_ino) ")
        }
    }
}
