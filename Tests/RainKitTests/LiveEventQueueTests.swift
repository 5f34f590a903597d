// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON
import Testing

@testable import RainKit

@Suite("Live events that wait to be taken", .timeLimit(.minutes(20)))
struct LiveEventQueueTests {
    private func report(_ number: Int, bytes: Int = 0) -> LiveEvent {
        let text = String(repeating: "x", count: bytes)
        return .report(
            NodeReport(node: NodeID("n1"), values: ["Light": ["N": .integer(Int64(number)), "T": .string(text)]]))
    }

    private func number(_ event: LiveEvent?) -> Int64? {
        if case .report(let report)? = event { report.values["Light"]?["N"]?.integer } else { nil }
    }

    @Test("come in their order, and the end comes last")
    func order() async throws {
        let queue = LiveEventQueue()
        for number in 0..<5 { queue.add(report(number)) }
        queue.finish(RainKitError(AccountError(.unsupported, message: "no more")))
        for expected in 0..<5 { #expect(number(try await queue.next()) == Int64(expected)) }
        let error = await #expect(throws: RainKitError.self) { _ = try await queue.next() }
        #expect(error?.account?.code == .unsupported)
    }

    @Test("are bounded in number and in bytes; the newest are kept", arguments: [0, 100_000])
    func bounded(bytes: Int) async throws {
        let queue = LiveEventQueue()
        for number in 0..<5000 { queue.add(report(number, bytes: bytes)) }
        #expect(queue.weight <= LiveEventQueue.maximumBytes)
        queue.finish(RainKitError(AccountError(.cancelled, message: "cancelled")))
        var numbers: [Int64] = []
        while let event = try? await queue.next(), let next = number(event) { numbers.append(next) }
        #expect(numbers.last == 4999 && numbers == Array((5000 - Int64(numbers.count))..<5000))
        #expect(bytes == 0 ? numbers.count == LiveEventQueue.maximumEvents : (2...50).contains(numbers.count))
        #expect(queue.weight == 0)
    }

    @Test("wake a waiting task, and so does a cancellation")
    func waiting() async throws {
        let queue = LiveEventQueue()
        let first = Task { try await queue.next() }
        await Task.yield()
        queue.add(report(7))
        #expect(number(try await first.value) == 7)
        let second = Task { try await queue.next() }
        await Task.yield()
        second.cancel()
        #expect(try await second.value == nil)
    }

    @Test("the listening task ends with the loop over its events")
    func ends() async throws {
        let queue = LiveEventQueue()
        let task = Task<Void, Never> { _ = try? await Task.sleep(for: .seconds(3600)) }
        func firstEvent() async throws -> Bool {
            let listening = LiveListening(task)
            let events = AsyncThrowingStream { try await listening.next(from: queue) }
            for try await _ in events { return true }
            return false
        }
        queue.add(report(1))
        #expect(try await firstEvent())
        await task.value
        #expect(task.isCancelled)
    }
}
