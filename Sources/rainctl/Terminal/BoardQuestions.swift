// SPDX-License-Identifier: Apache-2.0
import RainKit

/// Which of several boards is meant.
struct BoardQuestions: Sendable {
    enum Answer { case board(FoundBoard), again, stop }

    let screen: Screen

    static let question = "Board (number or name, + looks again, Enter to stop): "

    func choose(from found: [FoundBoard]) async -> Answer {
        let boards = Self.nearestFirst(found)
        return await screen.asking {
            var list = ChoiceList(boards.enumerated().map { "\($0 + 1)  \($1.line)" })
            while let answer = await screen.ask(Self.question, offering: &list), !answer.isEmpty {
                if answer == ChoiceList.more { return .again }
                if let number = Int(answer), let index = ChoiceList.index(number, of: boards.count) {
                    return .board(boards[index])
                }
                if let board = Self.board(named: answer, of: boards) { return .board(board) }
                screen.say("A number from 1 to \(boards.count), a name, + or Enter.")
            }
            return .stop
        }
    }

    /// The nearest of those that are heard is the likeliest; cables come before them.
    static func nearestFirst(_ boards: [FoundBoard]) -> [FoundBoard] {
        boards.enumerated().sorted { a, b in
            let (near, far) = (a.element.signal ?? .max, b.element.signal ?? .max)
            return near == far ? a.offset < b.offset : near > far
        }.map(\.element)
    }

    /// As it is written, or else without regard to capitals where that means one.
    static func board(named name: String, of boards: [FoundBoard]) -> FoundBoard? {
        if let board = boards.first(where: { $0.name == name || $0.address.location == name }) { return board }
        let wanted = name.lowercased()
        let alike = boards.filter {
            $0.name?.lowercased() == wanted || $0.address.location?.lowercased() == wanted
        }
        return alike.count == 1 ? alike[0] : nil
    }
}

extension FoundBoard {
    /// Name, way and signal, for people.
    var line: String {
        let strength = signal.map { "\($0) dBm" }
        let words = [name ?? address.location, address.scheme.wayToBoard, detail, strength].compactMap(\.self)
        return words.map(\.onOneLine).joined(separator: "  ")
    }
}
