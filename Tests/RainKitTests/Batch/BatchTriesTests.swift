// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainKitTesting
import Synchronization
import Testing

@testable import RainKit

@Suite("Which failures of a board are tried again")
struct BatchTriesTests {
    private static func error(_ code: BoardError.Code, _ reason: String? = nil) -> RainKitError {
        RainKitError(BoardError(code, message: "scripted", reason: reason))
    }

    private func outcomes(
        _ error: RainKitError, hadStopped: Bool = false, timeLeft: Duration = .seconds(100)
    ) -> [BatchTries.Next] {
        var tries = BatchTries(maximum: 3)
        var outcomes: [BatchTries.Next] = []
        while outcomes.last != .end, outcomes.count < 10 {
            outcomes.append(
                tries.failed(error, hadStopped: hadStopped, timeLeft: timeLeft, of: .seconds(120)))
        }
        return outcomes
    }

    @Test("a fault that may go away is tried three times, others once")
    func tries() {
        for error in [
            Self.error(.deviceLost), Self.error(.busy), Self.error(.unavailable, "connection_failed"),
            RainKitError(.deadline, message: "late"),
        ] {
            #expect(outcomes(error) == [.again, .again, .end])
        }
        for error in [Self.error(.wrongProofOfPossession), Self.error(.unavailable, "powered_off")] {
            #expect(outcomes(error) == [.end])
        }
    }

    @Test("a board that is not found is searched for until its time is over")
    func absent() {
        let absent = Self.error(.unavailable, "not_found")
        #expect(outcomes(absent, timeLeft: .seconds(20)) == [.end])
        #expect(outcomes(absent, timeLeft: .seconds(90)).allSatisfy { $0 == .search })
        // A board that was there is not searched for as if it had never been.
        var tries = BatchTries(maximum: 3)
        _ = tries.failed(Self.error(.deviceLost), hadStopped: false, timeLeft: .seconds(100), of: .seconds(120))
        #expect(tries.failed(absent, hadStopped: false, timeLeft: .seconds(100), of: .seconds(120)) == .end)
    }

    @Test("an attempt during which the process was stopped costs no try, as often as there are tries")
    func stopped() {
        let late = Self.error(.unavailable, "timeout")
        #expect(outcomes(late) == [.end])
        #expect(outcomes(late, hadStopped: true) == [.again, .again, .again, .end])
        #expect(outcomes(Self.error(.wrongProofOfPossession), hadStopped: true) == [.end])
    }

    @Test("a process that was stopped is noticed, one that is only slow is not")
    func standstill() async {
        let clock = ManualClock()
        let time = Timekeeper(clock)
        let stopped = StoppedTime(time)
        let watch = Task { await stopped.watch() }
        for _ in 0..<20 {
            await clock.waitForSleepers()
            clock.advance(by: .seconds(1))
        }
        await clock.waitForSleepers()
        #expect(!stopped.happened(since: .zero))
        let begin = time.elapsed()
        clock.advance(by: .seconds(60))
        // The deadline of a board may be noticed before the watch has woken.
        #expect(stopped.happened(since: begin))
        #expect(!stopped.happened(since: time.elapsed() + .seconds(1)))
        watch.cancel()
        await watch.value
    }
}

@Suite("A cloud that is away")
struct CloudOutageTests {
    /// The answers of a cloud, and the times of the questions.
    private final class Cloud: Sendable {
        let clock = ManualClock()
        private let state: Mutex<(answers: [AccountError?], asked: [Duration])>

        init(_ answers: [AccountError?]) { state = Mutex((answers, [])) }

        var asked: [Duration] { state.withLock { $0.asked } }

        func ask() throws(AccountError) {
            let error = state.withLock { state in
                state.asked.append(clock.now.offset)
                return state.answers.isEmpty ? nil : state.answers.removeFirst()
            }
            if let error { throw error }
        }
    }

    private static let away = AccountError(.network, message: "no network")
    private static let failure = RainKitError(away)

    private func outage(_ cloud: Cloud, patience: Duration = .seconds(600), _ told: Told) -> CloudOutage {
        CloudOutage(
            time: Timekeeper(cloud.clock), patience: patience,
            report: { event in
                if case .cloudUnreachable = event { told.add("away") }
                if case .cloudAnswers = event { told.add("back") }
            }, isOver: { told.add("over") }
        ) { () async throws(AccountError) in try cloud.ask() }
    }

    private final class Told: Sendable {
        private let words = Mutex<[String]>([])
        var all: [String] { words.withLock { $0 } }
        func add(_ word: String) { words.withLock { $0.append(word) } }
    }

    /// Moves the clock whenever somebody sleeps, until the work is done.
    private func run<Value: Sendable>(_ clock: ManualClock, _ work: @escaping @Sendable () async -> Value) async
        -> Value
    {
        let isDone = Atomic(false)
        async let driver: Void = {
            while !isDone.load(ordering: .acquiring) {
                if let next = clock.nextDeadline { clock.advance(by: clock.now.duration(to: next)) }
                await Task.yield()
            }
        }()
        let value = await work()
        isDone.store(true, ordering: .releasing)
        await driver
        return value
    }

    @Test("a cloud that answers has no outage; a refusal is an answer")
    func none() async {
        for answer in [nil, AccountError(.expired, message: "expired")] {
            let told = Told()
            #expect(await outage(Cloud([answer]), told).verdict(after: Self.failure) == .none)
            #expect(told.all.isEmpty)
        }
    }

    @Test("many boards ask one question, with growing pauses, and go on together")
    func shared() async {
        let (cloud, told) = (Cloud(Array(repeating: Self.away, count: 5)), Told())
        let outage = outage(cloud, told)
        let verdicts = await run(cloud.clock) {
            await withTaskGroup(of: CloudOutage.Verdict.self) { group in
                for _ in 0..<20 { group.addTask { await outage.verdict(after: Self.failure) } }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        // A board that comes after the end asks once more, and gets an answer.
        #expect(verdicts.allSatisfy { $0 != .lasting } && verdicts.contains(.over))
        #expect(told.all == ["away", "back", "over"])
        let pauses = zip(cloud.asked.prefix(6).dropFirst(), cloud.asked).map { $0 - $1 }
        #expect(pauses.first == .seconds(1) && zip(pauses, pauses.dropFirst()).allSatisfy { $0 < $1 }, "\(pauses)")
        #expect(!outage.isDown)
    }

    @Test("the wait ends with the patience, and when the station stops")
    func ends() async {
        let (cloud, told) = (Cloud(Array(repeating: Self.away, count: 1000)), Told())
        let lasting = outage(cloud, told)
        #expect(await run(cloud.clock) { await lasting.verdict(after: Self.failure) } == .lasting)
        #expect(cloud.asked.last.map { $0 >= .seconds(600) && $0 < .seconds(700) } == true)
        let stopped = outage(Cloud(Array(repeating: Self.away, count: 1000)), patience: .seconds(1_000_000), Told())
        async let verdict = stopped.verdict(after: Self.failure)
        while !stopped.isDown { await Task.yield() }
        stopped.giveUp()
        #expect(await verdict == .lasting)
    }
}
