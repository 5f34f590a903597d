// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TestSupport
import Testing

/// ``EndToEndTests`` runs mutated input in processes of its own, which crash.
@Suite("Fuzzing")
struct FuzzingTests {
    private static let examples = [Array("GET / HTTP/1.1\r\n".utf8), [0x08, 0x01, 0x5A, 0x02, 0x10, 0x01]]

    @Test("the same seed gives the same inputs, another seed others")
    func seeds() {
        func inputs(_ seed: UInt64) -> [[UInt8]] {
            let seen = Mutex<[[UInt8]]>([])
            _ = fuzz("nothing", from: Self.examples, rounds: 50, seed: seed) { input in
                seen.withLock { $0.append(input) }
            }
            return seen.withLock(\.self)
        }
        #expect(inputs(1) == inputs(1))
        #expect(inputs(1) != inputs(2))
        #expect(Set(inputs(1)).count > 40)
    }

    @Test("the examples come first, unchanged, and no input is longer than the maximum")
    func examplesFirst() {
        let seen = Mutex<[[UInt8]]>([])
        _ = fuzz("nothing", from: Self.examples, rounds: 2000, maximumLength: 64) { input in
            seen.withLock { $0.append(input) }
        }
        let inputs = seen.withLock(\.self)
        #expect(Array(inputs.prefix(2)) == Self.examples)
        #expect(inputs.dropFirst(2).allSatisfy { $0.count <= 64 })
    }

    @Test("a subject that keeps memory is reported")
    func leak() {
        var kept = 1 << 30
        let report = fuzz("hoarder", from: [[1]], rounds: 5000, memory: { kept }) { _ in kept += 4096 }
        #expect(report.failures.count == 1)
    }

    @Test("a subject that keeps nothing is not reported, whatever it needs before its 500th input")
    func noLeak() {
        var (kept, round) = (1 << 30, 0)
        let report = fuzz("honest", from: [[1]], rounds: 5000, memory: { kept }) { _ in
            round += 1
            if round < 500 { kept += 1 << 20 }
        }
        #expect(report.failures == [])
    }
}
