// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import rainctl

/// How lines to choose from fit a terminal.
@Suite("Lists to choose from")
struct ChoiceListTests {
    @Test("a list is shown a screenful at a time, and its lines are cut to the terminal's width")
    func pages() {
        var list = ChoiceList((1...20).map { "\($0)  Network with a long name of its own" })
        let small = TerminalSize(columns: 20, rows: 10)
        let first = list.page(small)
        #expect(first.count == 7 && first.last == "+  shows 14 more")
        #expect(first[0] == "1  Network with a l…" && first.allSatisfy { $0.count <= 20 })
        #expect(list.page(small).count == 7 && list.hasMore)
        #expect(list.page(small).count == 7 && list.hasMore)
        #expect(list.page(small).first?.hasPrefix("19  ") == true && !list.hasMore)
        var short = ChoiceList(["1  Home", "2  Cafe"])
        #expect(short.page(small) == ["1  Home", "2  Cafe"])
        var exact = ChoiceList((1...7).map(String.init))
        #expect(exact.page(small).count == 7 && !exact.hasMore)
        var noted = ChoiceList((1...7).map(String.init), note: "2 hidden networks: type a name")
        #expect(noted.page(small).last == "+  shows 1 more")
        #expect(noted.page(small) == ["7", "2 hidden networks: …"])
        var empty = ChoiceList([], note: "2 hidden")
        #expect(empty.isUntouched && empty.page(small) == ["2 hidden"] && !empty.isUntouched)
    }

    @Test(
        "a number means a line of the list, or none",
        arguments: [(1, 0), (3, 2), (0, nil), (4, nil), (-1, nil), (.min, nil), (.max, nil)] as [(Int, Int?)])
    func numbers(number: Int, index: Int?) { #expect(ChoiceList.index(number, of: 3) == index) }

    @Test("wide characters take two columns")
    func wide() {
        #expect("日本語の名前".cut(toColumns: 12) == "日本語の名前")
        #expect("日本語の名前".cut(toColumns: 11) == "日本語の名…")
        #expect("日本語の名前".cut(toColumns: 10) == "日本語の…")
        #expect("Home".cut(toColumns: 4) == "Home" && "Home".cut(toColumns: 3) == "Ho…")
    }
}
