// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import TestSupport
import Testing

@testable import RainKit

@Suite("The content of a station's page")
struct StationPageTests {
    private static let batch = Batch(
        id: 7, file: "/home/me/boards.csv", sha256: "ab", deployment: "global", user: "u", created: UnixTime(seconds: 0)
    )

    private static func board(_ line: Int, _ state: LedgerBoard.State = .waiting, attempt: Int = 0) -> LedgerBoard {
        LedgerBoard(
            id: Int64(line), batch: 7, line: line, name: "PROV_\(line)", address: "ble:PROV_\(line)", state: state,
            attempt: attempt)
    }

    private static func page(_ count: Int) -> StationPage {
        var page = StationPage(batch, now: 1_000_000)
        page.load((1...count).map { board($0) })
        return page
    }

    private static func step(_ line: Int, _ step: OnboardingStep) -> BatchEvent {
        .step(
            board(line, .running, attempt: 1),
            OnboardingEvent(step: step, state: .started, attempt: 1, elapsed: .zero, nodeID: nil))
    }

    private static let failure = RainKitError(
        .request(.unavailable, reason: "not_found"), message: "The board was not found.")

    @Test("an update has only the rows that have changed since, and each once")
    func changedRows() throws {
        var page = Self.page(200)
        let all = try #require(page.update(since: nil, discovers: false))
        #expect(all.isWhole && all.rows.count == 200 && all.waiting == 200 && all.total == 200)
        #expect(page.update(since: all.number, discovers: false) == nil)
        page.take(.began(Self.board(3, .running, attempt: 1)))
        for step in OnboardingStep.allCases { page.take(Self.step(3, step)) }
        let next = try #require(page.update(since: all.number, discovers: false))
        #expect(!next.isWhole && next.rows.map(\.line) == [3] && next.running == 1 && next.waiting == 199)
        // The same again changes nothing.
        page.take(Self.step(3, .name))
        #expect(page.update(since: next.number, discovers: false) == nil)
    }

    @Test("a browser of an earlier or another station gets everything")
    func otherNumbers() throws {
        let page = Self.page(5)
        for number in [0, 999_999, page.number + 1, .max, .min] {
            let update = try #require(page.update(since: number, discovers: false))
            #expect(update.isWhole && update.rows.count == 5)
        }
    }

    @Test("a browser that missed any part ends with the same rows")
    func anyGap() throws {
        var random = SeededGenerator(seed: 4)
        var page = Self.page(30)
        var shown: [Int: StationPage.Row] = [:]
        var known: Int64?
        for _ in 0..<2000 {
            let line = Int.random(in: 1...30, using: &random)
            let board = Self.board(line, .running, attempt: 1)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: page.take(.began(board))
            case 1: page.take(Self.step(line, OnboardingStep.allCases.randomElement(using: &random)!))
            case 2: page.take(.failed(board, Self.failure))
            case 3: page.take(.stopped(board))
            case 4: page.load([Self.board(line, .done, attempt: 2)])
            default: page.take(.again(board, Self.failure))
            }
            guard Int.random(in: 0..<7, using: &random) == 0 else { continue }
            if let update = page.update(since: known, discovers: false) {
                for row in update.rows { shown[row.line] = row }
                known = update.number
                #expect(update.waiting + update.running + update.done + update.failed == 30)
            }
        }
        if let update = page.update(since: known, discovers: false) {
            for row in update.rows { shown[row.line] = row }
        }
        let whole = try #require(page.update(since: nil, discovers: false))
        #expect(whole.rows == shown.values.sorted { $0.line < $1.line })
    }

    @Test("a failed board has its message, and loses it when it waits again")
    func failure() throws {
        var page = Self.page(2)
        page.take(.failed(Self.board(2, .running, attempt: 1), Self.failure))
        #expect(page.update(since: nil, discovers: false)?.rows.last?.message == "The board was not found.")
        page.load([Self.board(2, .waiting, attempt: 1)])
        let row = try #require(page.update(since: nil, discovers: false)?.rows.last)
        #expect(row.state == "waiting" && row.message == nil && row.remedy == nil)
    }

    @Test("the ledger does not take back the step that the station reports")
    func ownSteps() throws {
        var page = Self.page(1)
        page.take(.began(Self.board(1, .running, attempt: 1)))
        page.take(Self.step(1, .connect))
        var stored = Self.board(1, .running, attempt: 1)
        stored.step = OnboardingStep.secure.rawValue
        page.load([stored])
        #expect(page.update(since: nil, discovers: false)?.rows.first?.step == "Joins the network")
    }

    @Test("every step has plain words")
    func steps() {
        for step in OnboardingStep.allCases { #expect(StationPage.title(ofStep: step.rawValue) != nil) }
    }

    @Test("the rows of a huge batch are bounded, and all boards count")
    func bounded() throws {
        let page = Self.page(StationPage.maximumRows + 10)
        let update = try #require(page.update(since: nil, discovers: false))
        #expect(update.rows.count == StationPage.maximumRows && update.hidden == 10)
        #expect(update.total == StationPage.maximumRows + 10)
    }

    @Test("boards are found by the name on their labels")
    func names() {
        var page = Self.page(3)
        var named = Self.board(4)
        named.name = "Kitchen lamp"
        page.load([named])
        #expect(page.line(named: "PROV_2") == 2 && page.line(named: "PROV_4") == 4 && page.line(named: "PROV_9") == nil)
    }
}
