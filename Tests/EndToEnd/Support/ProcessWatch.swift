// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import TestSupport

/// What other programs of the machine can see of a process and of those that it started: arguments and, for programs of the
/// same user, the environment.
struct ProcessWatch {
    private(set) var arguments: Set<String> = []
    private(set) var environments: Set<String> = []

    /// Looks once. A process that has not yet become another program shows what its parent holds.
    /// - Returns: whether the process is still there.
    @discardableResult
    mutating func look(at process: Int32) -> Bool {
        // A process that is becoming another program has no arguments for a moment; one that has ended never has any.
        guard let state = try? readFile("/proc/\(process)/stat"), !state.contains(") Z ") else { return false }
        var waiting = [process]
        while let next = waiting.popLast() {
            if let words = try? readFile("/proc/\(next)/cmdline"), !words.isEmpty { arguments.insert(words) }
            if let words = try? readFile("/proc/\(next)/environ"), !words.isEmpty { environments.insert(words) }
            let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(next)/task")) ?? []
            for thread in threads {
                let children = (try? readFile("/proc/\(next)/task/\(thread)/children")) ?? ""
                waiting += children.split(separator: " ").compactMap { Int32($0) }
            }
        }
        return true
    }

    /// One line for each secret of the hunt that was to be seen.
    func findings(_ hunt: SecretHunt) -> [String] {
        arguments.flatMap { hunt.findings(in: $0, of: "the arguments of a process") }
            + environments.flatMap { hunt.findings(in: $0, of: "the environment of a process") }
    }
}

/// Watches a process from its start to its end, while the test does something else.
final class Lookout: Sendable {
    private let seen = Mutex(ProcessWatch())
    private let task: Mutex<Task<Void, Never>?> = Mutex(nil)

    func follow(_ process: Int32) {
        let watching = Task { [self] in
            while seen.withLock({ $0.look(at: process) }) { try? await Task.sleep(for: .milliseconds(20)) }
        }
        task.withLock { $0 = watching }
    }

    /// What was seen, once the process is gone.
    func finish() async -> ProcessWatch {
        await task.withLock { $0 }?.value
        return seen.withLock { $0 }
    }
}
