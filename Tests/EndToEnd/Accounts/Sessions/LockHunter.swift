// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import TestSupport

/// Ends who holds a lock, a random while after it was seen to.
final class LockHunter: Sendable {
    private struct State {
        var mayEnd: Set<pid_t> = []
        var isStopped = false
    }
    private let state = Mutex(State())
    private let inode: UInt64
    private let signals: [Int32]
    private let spread: Duration

    /// - Parameters:
    ///   - signals: of which each gets one, by chance.
    ///   - spread: how long after it was seen at most.
    init(_ lock: String, signals: [Int32], spread: Duration = .milliseconds(12)) {
        self.signals = signals
        self.spread = spread
        var status = stat()
        inode = stat(lock, &status) == 0 ? UInt64(status.st_ino) : 0
    }

    /// Only processes of this test are meant.
    func mayEnd(_ pid: pid_t) { state.withLock { _ = $0.mayEnd.insert(pid) } }
    func stop() { state.withLock { $0.isStopped = true } }

    func run(prey: Int) async {
        var left = prey
        while left > 0, !state.withLock({ $0.isStopped }) {
            if let holder, state.withLock({ $0.mayEnd.contains(holder) }) {
                try? await Task.sleep(for: spread * Double.random(in: 0...1))
                kill(holder, signals.randomElement() ?? SIGKILL)
                state.withLock { _ = $0.mayEnd.remove(holder) }
                left -= 1
            } else {
                try? await Task.sleep(for: .microseconds(200))
            }
        }
    }

    /// proc(5): `1: FLOCK  ADVISORY  WRITE 4711 08:01:393217 0 EOF`; those who wait have an arrow.
    private var holder: pid_t? {
        let lines = (try? readFile("/proc/locks"))?.split(separator: "\n") ?? []
        for line in lines where line.hasSuffix(":\(inode) 0 EOF") && !line.contains("->") {
            let words = line.split(separator: " ")
            if words.count > 4, words[1] == "FLOCK" { return pid_t(words[4]) }
        }
        return nil
    }
}
