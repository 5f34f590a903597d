// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import ProtocommTransports

@Suite("Which adapter a board is connected through")
struct AdapterPoolTests {
    private static let start = ContinuousClock.now

    private static func both(_ first: Int? = -50, _ second: Int? = -50) -> [AdapterPool.Reception] {
        [.init(adapter: "a", signal: first), .init(adapter: "b", signal: second)]
    }

    private static func pool(_ adapters: String...) -> Pool {
        let pool = Pool()
        pool.update(present: adapters)
        return pool
    }

    /// A pool that expectations may change.
    private final class Pool {
        private var value = AdapterPool()

        func update(present: [String]) { value.update(present: present) }

        func take(
            _ receptions: [AdapterPool.Reception], for board: String, avoiding avoided: Set<String> = [],
            others: [String: Set<String>] = [:], now: ContinuousClock.Instant = start
        ) -> AdapterPool.Choice { value.take(receptions, for: board, avoiding: avoided, others: others, now: now) }

        func connected(_ adapter: String) { value.connected(adapter) }

        func refused(
            _ adapter: String, board: String, others: Set<String> = [], now: ContinuousClock.Instant = start
        ) { value.refused(adapter, board: board, others: others, now: now) }

        func failed(
            _ adapter: String, board: String, isCertain: Bool = false, now: ContinuousClock.Instant = start
        ) { value.failed(adapter, board: board, isCertain: isCertain, now: now) }

        func aborted(_ adapter: String, board: String, connected: Set<String>) -> Bool {
            value.aborted(adapter, board: board, connected: connected)
        }

        func ended(_ adapter: String, board: String) { value.ended(adapter, board: board) }
        func limit(of adapter: String) -> Int? { value.limit(of: adapter) }
        var boards: Int { value.boards }
    }

    @Test("boards are spread over the adapters; between equals the stronger signal decides")
    func spread() {
        let pool = Self.pool("a", "b")
        #expect(pool.take(Self.both(-70, -50), for: "1") == .take("b"))
        #expect(pool.take(Self.both(-70, -50), for: "2") == .take("a"))
        #expect(pool.take(Self.both(-70, -50), for: "3") == .take("b"))
        #expect(pool.take([.init(adapter: "b", signal: -50)], for: "4") == .take("b"))
        #expect(pool.take([.init(adapter: "c", signal: -50)], for: "5") == .unheard)
    }

    @Test("a refusal teaches the number of links, and other programs' links count")
    func refusal() {
        let pool = Self.pool("a")
        let only = [AdapterPool.Reception(adapter: "a", signal: nil)]
        for board in ["1", "2", "3", "4"] { #expect(pool.take(only, for: board) == .take("a")) }
        pool.refused("a", board: "4", others: ["1", "foreign"])
        #expect(pool.limit(of: "a") == 4)
        #expect(pool.take(only, for: "5") == .take("a"))
        #expect(pool.take(only, for: "6") == .full)
        pool.ended("a", board: "1")
        #expect(pool.take(only, for: "6", others: ["a": ["foreign"]]) == .full)
        #expect(pool.take(only, for: "6") == .take("a"))
    }

    @Test("many aborted attempts count as a refusal, if the adapter has links, and no further one comes up")
    func aborts() {
        let pool = Self.pool("a")
        let only = [AdapterPool.Reception(adapter: "a", signal: nil)]
        for board in ["1", "2", "3"] { _ = pool.take(only, for: board) }
        func abort(_ times: Int, _ connected: Set<String>) -> [Bool] {
            (0..<times).map { _ in pool.aborted("a", board: "3", connected: connected) }
        }
        let many = AdapterPool.abortsBeforeLimit
        // Links of other programs only: this adapter may be too far from the board.
        #expect(abort(many, ["mouse"]) == Array(repeating: false, count: many))
        pool.connected("a")
        #expect(abort(many - 1, ["1", "2"]).allSatisfy { !$0 })
        // A link came up, or ended.
        #expect(abort(many - 1, ["1"]).allSatisfy { !$0 })
        #expect(abort(many - 1, ["1", "2"]).allSatisfy { !$0 })
        #expect(pool.limit(of: "a") == nil)
        // A link that came up earlier is only now ready.
        pool.connected("a")
        // The next one is a refusal, and so are those of the other boards that still try.
        #expect(abort(2, ["1", "2", "3"]) == [true, true])
        #expect(pool.limit(of: "a") == 2)
        pool.refused("a", board: "3", others: ["1", "2"])
        #expect(pool.limit(of: "a") == 2)
        #expect(pool.take(only, for: "4") == .full)
        // One link more is tried out later, with fewer attempts.
        for _ in 0..<AdapterPool.firstTrial { pool.connected("a") }
        #expect(pool.limit(of: "a") == 3)
        #expect(abort(1, ["1"]) == [false])
        #expect(abort(AdapterPool.abortsOfTrial, ["1", "2"]).last == true)
        #expect(pool.limit(of: "a") == 2)
    }

    @Test("a learned number is tried out again, less and less often")
    func trial() {
        let pool = Self.pool("a")
        let only = [AdapterPool.Reception(adapter: "a", signal: nil)]
        _ = pool.take(only, for: "1")
        _ = pool.take(only, for: "2")
        pool.refused("a", board: "2")
        #expect(pool.limit(of: "a") == 1)
        for _ in 1..<AdapterPool.firstTrial { pool.connected("a") }
        #expect(pool.limit(of: "a") == 1)
        pool.connected("a")
        #expect(pool.limit(of: "a") == 2)
        _ = pool.take(only, for: "2")
        pool.refused("a", board: "2")
        for _ in 1...AdapterPool.firstTrial { pool.connected("a") }
        #expect(pool.limit(of: "a") == 1)
    }

    @Test("an adapter that refuses its first link, or fails for several boards, rests; it is used if there is no other")
    func resting() {
        let pool = Self.pool("a", "b")
        let (now, later) = (Self.start, Self.start + AdapterPool.firstRest)
        pool.refused("a", board: "1", now: now)
        #expect(pool.limit(of: "a") == nil)
        #expect(pool.take(Self.both(-10, -90), for: "1", now: now) == .take("a"))
        pool.failed("a", board: "1", now: now)
        #expect(pool.take(Self.both(-10, -90), for: "1", now: now) == .take("b"))
        #expect(pool.take([.init(adapter: "a", signal: -10)], for: "2", now: now) == .take("a"))
        #expect(pool.take(Self.both(-10, -90), for: "3", now: now) == .take("b"))
        pool.failed("a", board: "2", isCertain: true, now: later)
        pool.ended("b", board: "1")
        pool.ended("b", board: "3")
        // The second rest is longer.
        #expect(pool.take(Self.both(-10, -90), for: "4", now: later.advanced(by: AdapterPool.firstRest)) == .take("b"))
        #expect(
            pool.take(Self.both(-10, -90), for: "5", now: later.advanced(by: AdapterPool.firstRest * 2)) == .take("a"))
        pool.connected("a")
        pool.failed("a", board: "5", now: later)
        #expect(pool.take(Self.both(-10, -90), for: "6", now: later) == .take("a"))
    }

    @Test("a board whose connection failed at an adapter prefers another")
    func avoiding() {
        let pool = Self.pool("a", "b")
        #expect(pool.take(Self.both(-10, -90), for: "1", avoiding: ["a"]) == .take("b"))
        #expect(pool.take([.init(adapter: "a", signal: nil)], for: "2", avoiding: ["a"]) == .take("a"))
    }

    @Test("an adapter that is gone is not chosen, and keeps what was learned")
    func gone() {
        let pool = Self.pool("a", "b")
        _ = pool.take([.init(adapter: "a", signal: nil)], for: "1")
        _ = pool.take([.init(adapter: "a", signal: nil)], for: "2")
        pool.refused("a", board: "2")
        pool.update(present: ["b"])
        #expect(pool.take([.init(adapter: "a", signal: nil)], for: "3") == .unheard)
        #expect(pool.take(Self.both(), for: "3") == .take("b"))
        pool.update(present: ["a", "b"])
        #expect(pool.limit(of: "a") == 1)
    }

    @Test("as many boards of a batch begin as there are links, and a few more")
    func boards() {
        let pool = Self.pool("a", "b")
        #expect(pool.boards == AdapterPool.firstBoards)
        for number in 1...8 { _ = pool.take(Self.both(), for: "\(number)") }
        pool.connected("a")
        #expect(pool.boards == AdapterPool.firstBoards + 8)
        pool.refused("a", board: "1")
        #expect(pool.boards > AdapterPool.firstBoards)
        pool.refused("b", board: "2")
        // Each has three links left in use, when the refused one is taken off.
        #expect(pool.boards == 2 * (3 + 2))
        #expect(AdapterPool().boards == AdapterPool.firstBoards)
    }

    /// Two adapters with real limits, and boards that come, fail and go at random. No adapter is given more than it was seen to carry, every
    /// board gets through, and the limits are learned.
    @Test("in any order of events, every board is served and no link is lost", arguments: 0..<300)
    func interleavings(seed: Int) {
        var random = Numbers(state: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 &+ 1)
        let limits = ["a": 1 + random.below(6), "b": 1 + random.below(6)]
        let abort = random.below(50)
        let pool = Self.pool("a", "b")
        var now = Self.start
        var waiting = (0..<60).map { "\($0)" }
        var connecting: [(board: String, adapter: String)] = []
        var up: [(board: String, adapter: String)] = []
        var done: Set<String> = []
        var present = ["a", "b"]
        var steps = 0
        func links(_ adapter: String) -> Int { up.count { $0.adapter == adapter } }
        while done.count < 60, steps < 100_000 {
            steps += 1
            now += .milliseconds(Int64(random.below(200)))
            switch random.below(4) {
            case 0, 1:
                guard let board = waiting.first else { break }
                let receptions = present.map { AdapterPool.Reception(adapter: $0, signal: -40 - random.below(40)) }
                if case .take(let adapter) = pool.take(receptions, for: board, now: now) {
                    #expect(present.contains(adapter))
                    waiting.removeFirst()
                    connecting.append((board, adapter))
                }
            case 2:
                guard !connecting.isEmpty else { break }
                let (board, adapter) = connecting.remove(at: random.below(connecting.count))
                if !present.contains(adapter) {
                    pool.failed(adapter, board: board, isCertain: true, now: now)
                    waiting.append(board)
                } else if links(adapter) >= limits[adapter]! {
                    pool.refused(
                        adapter, board: board, others: Set(up.filter { $0.adapter == adapter }.map(\.board)), now: now)
                    waiting.append(board)
                } else if random.below(100) < abort {
                    pool.failed(adapter, board: board, now: now)
                    waiting.append(board)
                } else {
                    pool.connected(adapter)
                    up.append((board, adapter))
                }
            default:
                if !up.isEmpty {
                    let (board, adapter) = up.remove(at: random.below(up.count))
                    pool.ended(adapter, board: board)
                    done.insert(board)
                }
                // One adapter fails in the middle.
                if done.count == 30, present.count == 2 {
                    present = ["b"]
                    pool.update(present: present)
                    for (board, adapter) in up where adapter == "a" {
                        pool.ended(adapter, board: board)
                        waiting.append(board)
                    }
                    up.removeAll { $0.adapter == "a" }
                }
            }
            for adapter in ["a", "b"] { #expect(links(adapter) <= limits[adapter]!) }
        }
        #expect(done.count == 60, "after \(steps) steps")
        // What is reserved is only what is in use.
        for (board, adapter) in connecting { pool.ended(adapter, board: board) }
        for (board, adapter) in up { pool.ended(adapter, board: board) }
        for board in 0..<(pool.limit(of: "b") ?? 1) {
            #expect(pool.take([.init(adapter: "b", signal: nil)], for: "x\(board)", now: now) == .take("b"))
        }
    }

    private struct Numbers {
        var state: UInt64

        mutating func below(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(limit))
        }
    }
}
