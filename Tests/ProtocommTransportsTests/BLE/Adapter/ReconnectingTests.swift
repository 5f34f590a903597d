// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import ProtocommTransports

@Suite("Opening Bluetooth again", .timeLimit(.minutes(10)))
struct ReopeningTests {
    @Test("is tried at once, then ever more seldom, until its patience ends")
    func pauses() {
        let opened = ContinuousClock.now
        let lost = opened + .seconds(3600)
        var reopening = Reconnecting(opened: opened, lost: lost)
        #expect(reopening.first == .zero)
        var now = lost
        var pauses: [Duration] = []
        while let pause = reopening.next(now: now) {
            pauses.append(pause)
            now += pause
        }
        #expect(now == lost + AdapterLoss.patience)
        #expect(Array(pauses.prefix(6)) == [50, 100, 200, 400, 800, 1000].map { .milliseconds($0) })
        #expect(pauses.allSatisfy { $0 <= .seconds(1) })
    }

    @Test("is tried once where patience has ended before anybody asks")
    func late() {
        let lost = ContinuousClock.now
        var reopening = Reconnecting(opened: lost - .seconds(60), lost: lost)
        #expect(reopening.first == .zero)
        #expect(reopening.next(now: lost + .seconds(60)) == nil)
    }

    @Test("rests before it opens what was lost as soon as it was open")
    func thrownOut() {
        let opened = ContinuousClock.now
        #expect(Reconnecting(opened: opened, lost: opened + .milliseconds(10)).first == Reconnecting.shortestPause)
    }

    @Test("is reported to all waiting tasks, and to later ones")
    func announced() async {
        let announcement = Announcement<Int>()
        await withTaskGroup(of: Int?.self) { group in
            for _ in 0..<20 { group.addTask { await announcement.value(until: .now + .seconds(60)) } }
            announcement.make(7)
            announcement.make(8)
            for await value in group { #expect(value == 7) }
        }
        #expect(await announcement.value(until: .now + .seconds(60)) == 7)
    }

    @Test("is waited for no longer than the waiter's time, nor by one that is cancelled")
    func givenUp() async {
        let announcement = Announcement<Int>()
        #expect(await announcement.value(until: .now) == nil)
        let waiting = Task { await announcement.value(until: .now + .seconds(60)) }
        waiting.cancel()
        #expect(await waiting.value == nil)
    }
}
