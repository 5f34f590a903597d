// SPDX-License-Identifier: Apache-2.0
import RainKitTesting
import Synchronization
import Testing

@testable import ProtocommTransports

@Suite("The scan that everyone shares")
struct ScanningTests {
    private actor Scanner {
        var log: [String] = []
        func note(_ word: String) { log.append(word) }
    }

    @Test("one scan serves everyone who looks, from the first to the last")
    func counting() async throws {
        let scanner = Scanner()
        let discovery = Discovery(
            start: {
                await scanner.note("start")
                return .success(())
            }, stop: { await scanner.note("stop") })
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { try await discovery.join() } }
            try await group.waitForAll()
        }
        for _ in 0..<49 { await discovery.leave() }
        #expect(await scanner.log == ["start"])
        await discovery.leave()
        #expect(await scanner.log == ["start", "stop"])
        try await discovery.join()
        await discovery.restart()
        await discovery.leave()
        #expect(await scanner.log == ["start", "stop", "start", "start", "stop"])
    }

    static let lasting: [BluetoothError.Code] = [.accessDenied, .blocked, .radioLost, .cancelled]

    @Test(
        "a scan that cannot begin is reported to all waiting tasks if this lasts, and the next one starts it again",
        arguments: lasting)
    func failing(code: BluetoothError.Code) async throws {
        let fails = Mutex(true)
        let discovery = Discovery(
            start: { fails.withLock { $0 } ? .failure(BluetoothError(code, message: "no")) : .success(()) },
            stop: {})
        for _ in 0..<2 {
            await #expect { try await discovery.join() } throws: { ($0 as? BluetoothError)?.code == code }
        }
        fails.withLock { $0 = false }
        try await discovery.join()
        await discovery.leave()
    }

    static let passing: [BluetoothError.Code] = [.scanFailed, .poweredOff, .noBlueZ, .noAdapter]

    @Test(
        "the first start, too, is tried again if it fails for a reason that may go away", .timeLimit(.minutes(10)),
        arguments: passing)
    func firstStart(code: BluetoothError.Code) async throws {
        let clock = ManualClock()
        let failures = Mutex(2)
        let notes = Mutex<[BluetoothError.Code?]>([])
        let discovery = Discovery(
            start: {
                failures.withLock { left -> Result<Void, BluetoothError> in
                    left -= 1
                    return left >= 0 ? .failure(BluetoothError(code, message: "not yet")) : .success(())
                }
            }, stop: {}, note: { error in notes.withLock { $0.append(error?.code) } },
            sleep: { try await clock.sleep(for: $0) })
        try await discovery.join()
        #expect(notes.withLock { $0 } == [code])
        for pause in [Duration.milliseconds(250), .milliseconds(500)] {
            await clock.waitForSleepers()
            #expect(clock.nextDeadline.map { clock.now.duration(to: $0) } == pause)
            clock.advance(by: pause)
        }
        while notes.withLock({ $0.last != .some(nil) }) { await Task.yield() }
        #expect(notes.withLock { $0 } == [code, code, nil])
        await discovery.leave()
    }

    /// A scan that fails from its second time on until it is repaired. The test moves the time.
    private final class Patient: Sendable {
        let clock = ManualClock()
        let starts = Mutex(0)
        let isMended = Mutex(false)
        let isReady = Mutex(true)
        let notes = Mutex<[BluetoothError.Code?]>([])

        /// Somebody listens, BlueZ ended the scan, and did not begin it again.
        func joinInVain() async throws -> Discovery {
            let discovery = Discovery(
                start: {
                    let number = self.starts.withLock { count in
                        count += 1
                        return count
                    }
                    guard number > 1, !self.isMended.withLock({ $0 }) else { return .success(()) }
                    return .failure(BluetoothError(.connectionFailed, message: "busy"))
                }, stop: {}, isReady: { self.isReady.withLock { $0 } },
                note: { error in self.notes.withLock { $0.append(error?.code) } },
                sleep: { try await self.clock.sleep(for: $0) })
            try await discovery.join()
            await discovery.restart()
            return discovery
        }

        /// Goes to the end of the pause, and says how long it was.
        func pass() async -> Duration {
            await clock.waitForSleepers()
            let pause = clock.nextDeadline.map { clock.now.duration(to: $0) } ?? .zero
            clock.advance(by: pause)
            return pause
        }

        /// Lets whatever is under way come to its end.
        func until(_ isSo: @Sendable () -> Bool) async { while !isSo() { await Task.yield() } }
    }

    @Test(
        "is tried again at longer intervals if it cannot be started, and listeners are informed",
        .timeLimit(.minutes(10)))
    func persisting() async throws {
        let patient = Patient()
        let discovery = try await patient.joinInVain()
        #expect(patient.notes.withLock { $0 } == [.connectionFailed])
        var pauses: [Duration] = []
        for _ in 0..<7 { pauses.append(await patient.pass()) }
        #expect(pauses == [250, 500, 1000, 2000, 4000, 4000, 4000].map { .milliseconds($0) })
        await patient.clock.waitForSleepers()
        patient.isMended.withLock { $0 = true }
        _ = await patient.pass()
        await patient.until { patient.notes.withLock { $0.last == .some(nil) } }
        #expect(patient.starts.withLock { $0 } == 10)
        #expect(patient.clock.sleeperCount == 0)
        // The next failure begins with the shortest pause.
        patient.isMended.withLock { $0 = false }
        await discovery.restart()
        #expect(await patient.pass() == .milliseconds(250))
        await discovery.leave()
    }

    @Test("is not tried again for nobody", .timeLimit(.minutes(10)))
    func nobodyListens() async throws {
        let patient = Patient()
        let discovery = try await patient.joinInVain()
        await patient.clock.waitForSleepers()
        await discovery.leave()
        #expect(patient.clock.sleeperCount == 0)
        #expect(patient.starts.withLock { $0 } == 2)
        #expect(patient.notes.withLock { $0.last } == .some(nil))
    }

    @Test("is not tried again without an adapter, until that is back", .timeLimit(.minutes(10)))
    func adapterGoes() async throws {
        let patient = Patient()
        let discovery = try await patient.joinInVain()
        patient.isReady.withLock { $0 = false }
        _ = await patient.pass()
        await patient.until { patient.notes.withLock { $0.last == .some(nil) } }
        #expect(patient.clock.sleeperCount == 0)
        #expect(patient.starts.withLock { $0 } == 2)
        patient.isReady.withLock { $0 = true }
        await discovery.restart()
        #expect(await patient.pass() == .milliseconds(250))
        await discovery.leave()
    }

    @Test("is begun at once by who comes meanwhile, for all", .timeLimit(.minutes(10)))
    func another() async throws {
        let patient = Patient()
        let discovery = try await patient.joinInVain()
        await patient.clock.waitForSleepers()
        patient.isMended.withLock { $0 = true }
        try await discovery.join()
        #expect(patient.clock.sleeperCount == 0)
        #expect(patient.starts.withLock { $0 } == 3)
        #expect(patient.notes.withLock { $0.last } == .some(nil))
        await discovery.leave()
        await discovery.leave()
    }
}
