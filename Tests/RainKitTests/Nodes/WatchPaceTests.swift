// SPDX-License-Identifier: Apache-2.0
import RainAccount
import Testing

@testable import RainKit

@Suite("Watching nodes: how often the cloud is asked")
struct WatchPaceTests {
    private let start = Duration.seconds(100)

    @Test("soon after a change, and rarely if nothing has changed for long")
    func slower() {
        var pace = WatchPace(from: start)
        let next = { (pace: inout WatchPace, seconds: Int, hasChanged: Bool) in
            pace.next(hasChanged: hasChanged, isHeard: false, fault: nil, now: start + .seconds(seconds))
        }
        #expect(next(&pace, 1, false) == .milliseconds(200) && next(&pace, 9, false) == .milliseconds(200))
        for _ in 1...10 { _ = next(&pace, 20, false) }
        #expect(next(&pace, 20, false) == .seconds(2))
        #expect(next(&pace, 21, true) == .milliseconds(200))
    }

    @Test("as late as the cloud requests, also if nothing has changed for long", arguments: [1, 20], [true, false])
    func retryAfter(seconds: Int, isHeard: Bool) {
        var pace = WatchPace(from: start)
        var fault = AccountError(.rateLimited, message: "slow down")
        fault.retryAfter = .seconds(60)
        let now = start + .seconds(seconds)
        #expect(pace.next(hasChanged: false, isHeard: isHeard, fault: fault, now: now) == .seconds(60))
        let usual = Duration.seconds(isHeard ? 10 : 2)
        #expect(pace.next(hasChanged: false, isHeard: isHeard, fault: nil, now: now) == usual)
        fault.retryAfter = nil
        #expect(pace.next(hasChanged: false, isHeard: isHeard, fault: fault, now: now) == usual)
    }
}
