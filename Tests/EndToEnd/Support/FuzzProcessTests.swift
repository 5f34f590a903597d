// SPDX-License-Identifier: Apache-2.0
import Synchronization
import Testing

@testable import TestSupport

/// Each test runs again in its own process. Swift Testing's exit tests would do that, too. While one runs, its thread asks the kernel without a
/// pause which child has ended. That keeps a processor busy as long as other tests have children that they have not collected.
@Suite("Fuzzing, in its own process")
struct FuzzProcessTests {
    /// Runs `body` in the test's own process. Returns how that process ended; nil in that process.
    private func inOwnProcess(_ body: () -> Void) async throws -> FinishedProcess? {
        guard SoakProcess.ownCase == nil else {
            body()
            return nil
        }
        return try await SoakProcess.run(try #require(Test.current), case: "own")
    }

    private func expectSuccess(_ finished: FinishedProcess?) {
        guard let finished else { return }
        #expect(finished.status == .exited(0), "\(finished.standardOutput)\(finished.standardError)")
        #expect((finished.standardOutput + finished.standardError).contains("Test run with 1 test in "))
    }

    @Test("a subject that keeps memory is reported")
    func leak() async throws {
        let finished = try await inOwnProcess {
            let kept = Mutex<[[UInt8]]>([])
            let report = fuzz("hoarder", from: [[1]], rounds: 5000, memory: residentMemory) { _ in
                kept.withLock { $0.append([UInt8](repeating: 1, count: 4096)) }
            }
            #expect(report.failures.count == 1)
        }
        expectSuccess(finished)
    }

    @Test("a subject that keeps nothing is not reported")
    func noLeak() async throws {
        let finished = try await inOwnProcess {
            let report = fuzz("honest", from: [[1]], rounds: 5000, memory: residentMemory) { input in _ = input + input
            }
            #expect(report.failures == [])
        }
        expectSuccess(finished)
    }

    @Test("a subject that crashes takes its own process down and no other")
    func crash() async throws {
        let finished = try await inOwnProcess {
            _ = fuzz("brittle", from: [[1, 2, 3]], rounds: 5000) { input in precondition(!input.isEmpty) }
        }
        guard let finished else { return }
        guard case .signalled = finished.status else {
            Issue.record("\(finished.status): \(finished.standardOutput)\(finished.standardError)")
            return
        }
    }
}
