// SPDX-License-Identifier: Apache-2.0

/// Lines to choose from, a screenful at a time: a small terminal would scroll the first ones away, which are the best.
struct ChoiceList {
    private let lines: [String]
    private let note: String?
    private var shown = 0

    /// - Parameter note: stands below the last of the lines.
    init(_ lines: [String], note: String? = nil) { (self.lines, self.note) = (lines, note) }

    /// What brings the rest.
    static let more = "+"

    /// The index of the line that a number means, counted from 1; nil for what is no number of the list, however large.
    static func index(_ number: Int, of count: Int) -> Int? { number > 0 && number <= count ? number - 1 : nil }

    private(set) var isUntouched = true
    var hasMore: Bool { shown < lines.count }

    /// The next lines, and how to see what does not fit. Question and answer get two lines, since they may not fit on one.
    mutating func page(_ size: TerminalSize) -> [String] {
        isUntouched = false
        let rest = lines[shown...]
        let room = max(2, size.rows - 3)
        let page = rest.count + (note == nil ? 0 : 1) <= room ? rest : rest.prefix(room - 1)
        shown += page.count
        let last = hasMore ? "\(Self.more)  shows \(lines.count - shown) more" : note
        return (page + [last].compactMap(\.self)).map { $0.withoutControls.cut(toColumns: size.columns) }
    }
}

extension Screen {
    /// Shows the list when it is asked for the first time, more of it when that is wanted, and returns what is typed otherwise; nil as ``ask(_:)``.
    func ask(_ prompt: String, offering list: inout ChoiceList) async -> String? {
        if list.isUntouched { for line in list.page(.current) { say(line) } }
        while let answer = await ask(prompt) {
            guard answer == ChoiceList.more, list.hasMore else { return answer }
            for line in list.page(.current) { say(line) }
        }
        return nil
    }
}
