// SPDX-License-Identifier: Apache-2.0
import RainIO
import Synchronization
import Testing

@Suite("Work that blocks")
struct BlockingWorkTests {
    private struct Failure: Error, Equatable {
        var number: Int32
    }

    @Test("each call has its own answer, from a thread that runs no task, and one runs at a time")
    func answers() async {
        final class Inside: Sendable {
            let count = Atomic(0)
        }
        let work = BlockingWork()
        let inside = Inside()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let answer = try? await work.run(noThread: { Failure(number: $0) }) { () throws(Failure) -> Int in
                        #expect(withUnsafeCurrentTask { $0 == nil })
                        #expect(inside.count.add(1, ordering: .acquiringAndReleasing).newValue == 1)
                        inside.count.subtract(1, ordering: .acquiringAndReleasing)
                        return number
                    }
                    #expect(answer == number)
                }
            }
        }
    }

    @Test("what the work throws is thrown")
    func failure() async {
        let error = await #expect(throws: Failure.self) {
            try await BlockingWork().run(noThread: { Failure(number: $0) }) { () throws(Failure) in
                throw Failure(number: -1)
            }
        }
        #expect(error == Failure(number: -1))
    }

    @Test("a cancelled task's work is still done")
    func cancelled() async {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await BlockingWork().run(noThread: { Failure(number: $0) }) { () throws(Failure) in "done" }
        }
        #expect((try? await task.value) == "done")
    }
}
