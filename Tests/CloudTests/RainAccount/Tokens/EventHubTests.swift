// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Foundation
import Synchronization
import Testing

@testable import IdentityProviders
@testable import RainAccount

@Suite("Listeners that leave during an event")
struct EventHubTests {
    /// The runtime holds a task's own lock while it runs a cancellation handler, and takes it to resume the task. A thread that resumes the
    /// task while holding a lock that the handler needs would stop for ever, and block all others.
    @Test("a listener that is cancelled during an event delays nobody")
    func cancelledWhileTold() async throws {
        let hub = EventHub()
        let listeners = (0..<2).map { _ in ListeningTask(to: hub.stream()) }
        for listener in listeners { try await within(300) { listener.isWaiting } }
        // The first listener to get the event cancels the other one before that one gets it.
        let isCancelled = Atomic(false)
        for (listener, other) in zip(listeners, listeners.reversed()) {
            listener.whenResumed {
                guard !isCancelled.exchange(true, ordering: .acquiringAndReleasing) else { return }
                Thread.detachNewThread { other.cancel() }
                Thread.sleep(forTimeInterval: 0.2)
            }
        }
        // These are separate threads, because the test's own threads must not be the ones that stop.
        let isTold = Mutex(false)
        Thread.detachNewThread {
            hub.happened(.signedOut(.here))
            _ = hub.moment
            isTold.withLock { $0 = true }
        }
        try await within(300) { isTold.withLock { $0 } }
        for listener in listeners { listener.cancel() }
    }

    @Test("a listener that has left is forgotten, also without any event")
    func forgotten() async throws {
        let hub = EventHub()
        for _ in 0..<100 { for await _ in hub.stream().prefix(0) {} }
        #expect(hub.listenerCount <= 1)
        let stays = hub.stream()
        hub.happened(.signedOut(.here))
        #expect(hub.listenerCount == 1)
        for await event in stays.prefix(1) { #expect(event.name == "signedOut here") }
    }

    private func within(_ seconds: Int, _ isTrue: () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(seconds)
        while !isTrue() {
            try #require(ContinuousClock.now < end, "nothing goes on any more")
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}

/// A task that listens, on an executor that reports when the task is resumed.
private final class ListeningTask: Sendable {
    private final class Executor: TaskExecutor {
        struct State {
            struct Hook { var run: @Sendable () -> Void }
            var hook: Hook?
            var jobs = 0
            var hasRun = false
        }
        let state = Mutex(State())

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            let hook = state.withLock { state in
                state.jobs += 1
                return state.hook
            }
            hook?.run()
            Thread.detachNewThread {
                job.runSynchronously(on: self.asUnownedTaskExecutor())
                self.state.withLock { state in
                    state.jobs -= 1
                    state.hasRun = true
                }
            }
        }
    }

    private let executor = Executor()
    private let task: Task<Void, Never>

    init(to stream: AsyncStream<AccountEvent>) {
        task = Task(executorPreference: executor) { for await _ in stream {} }
    }

    /// Whether it has gone as far as it can without an event.
    var isWaiting: Bool { executor.state.withLock { $0.hasRun && $0.jobs == 0 } }

    func whenResumed(_ hook: @escaping @Sendable () -> Void) {
        executor.state.withLock { $0.hook = .init(run: hook) }
    }

    func cancel() { task.cancel() }
}
