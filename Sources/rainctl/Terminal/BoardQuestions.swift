// SPDX-License-Identifier: Apache-2.0
import RainKit

/// Which of several boards is meant.
struct BoardQuestions: Sendable {
    let screen: Screen

    /// Nil without an answer.
    func choose(from boards: [FoundBoard]) async -> FoundBoard? {
        await screen.asking {
            var list = ChoiceList(boards.enumerated().map { "\($0 + 1)  \($1.line)" })
            while let answer = await screen.ask("Board (number or name, Enter to stop): ", offering: &list),
                !answer.isEmpty
            {
                if let number = Int(answer), boards.indices.contains(number - 1) { return boards[number - 1] }
                if let board = boards.first(where: { $0.name == answer || $0.address.location == answer }) {
                    return board
                }
                screen.say("A number from 1 to \(boards.count), a name, or Enter to stop.")
            }
            return nil
        }
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

extension String {
    /// How boards of a transport's scheme are reached, in words.
    var wayToBoard: String {
        switch self {
        case "serial": "on a cable"
        case "ble": "over Bluetooth"
        case "softap": "as a Wi-Fi network"
        default: "over \(self)"
        }
    }
}
