// SPDX-License-Identifier: Apache-2.0
import RainKit
import Testing

@testable import rainctl

/// What is meant by an answer to the question for one of several boards.
@Suite("The question for one of several boards")
struct BoardQuestionsTests {
    private static func heard(_ name: String, _ signal: Int?) -> FoundBoard {
        var board = FoundBoard(BoardAddress(scheme: "ble", location: name), name: name)
        board.signal = signal
        return board
    }

    private static let boards = [
        heard("PROV_5128CA", -80), heard("PROV_a1b2c3", -40), heard("PROV_A1B2C3", -60),
        FoundBoard(.serial("/dev/ttyUSB0")), FoundBoard(.serial("/dev/ttyUSB1")),
    ]

    @Test(
        "a name is a board's with other capitals, too, unless that would mean two",
        arguments: [
            ("PROV_5128CA", 0), ("prov_5128ca", 0), ("PROV_a1b2c3", 1), ("PROV_A1B2C3", 2), ("prov_a1b2c3", nil),
            ("/dev/ttyUSB1", 4), ("PROV_", nil),
        ])
    func names(answer: String, index: Int?) {
        #expect(BoardQuestions.board(named: answer, of: Self.boards) == index.map { Self.boards[$0] })
    }

    @Test("cables come first, then the boards with the strongest signal")
    func order() {
        #expect(BoardQuestions.nearestFirst(Self.boards) == [3, 4, 1, 2, 0].map { Self.boards[$0] })
    }
}
