// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainKit

/// A page of `rainctl help` that is not about a command. The manual has the same lists.
enum HelpTopic: String, CaseIterable {
    case exitCodes = "exit-codes"
    case environment

    /// Nil unless the arguments are `help` and the topic's name.
    init?(of named: NamedCommand) {
        guard named.asksForHelp, named.rest.count == 2, let name = named.rest.last else { return nil }
        self.init(rawValue: name)
    }

    var abstract: String {
        switch self {
        case .exitCodes: "The exit codes of rainctl, and what to do about each."
        case .environment: "The environment variables that rainctl reads."
        }
    }

    private var introduction: String {
        switch self {
        case .exitCodes:
            "With --json, the document of an error has the exit code's name in \"code\", and the exact cause in \"reason\". After "
                + "rainctl account curl has started curl, the exit code is curl's exit code."
        case .environment:
            "Options have precedence over variables. An empty variable counts as unset. Programs that rainctl starts "
                + "do not inherit \(EnvironmentVariable.secrets.joined(separator: ", "))."
        }
    }

    /// The name and the description of each entry.
    var entries: [(label: String, text: String)] {
        switch self {
        case .exitCodes:
            ExitStatus.allCases.map { status in
                let number = "\(status.rawValue)"
                let padding = String(repeating: " ", count: max(0, 3 - number.count))
                return ("\(padding)\(number) \(status.name)", status.explanation)
            }
        case .environment:
            EnvironmentVariable.all.map { ($0.names.joined(separator: ", "), $0.text) }
        }
    }

    /// The topic, wrapped at the terminal's width.
    func text(columns: Int) -> String {
        let title = rawValue.uppercased().replacing("-", with: " ")
        let rows = entries.map { HelpText.row($0.label, $0.text, columns: columns) }
        let head = HelpText.wrapped("OVERVIEW: \(abstract)", columns: columns) + [""]
        let body = HelpText.wrapped(introduction, columns: columns) + ["", "\(title):"] + rows
        return (head + body).joined(separator: "\n") + "\n"
    }

    /// Returns the topic with a similar spelling; nil if there is no such topic.
    static func nearest(to word: String) -> HelpTopic? {
        allCases.first { topic in
            let name = topic.rawValue
            return CommandSuggestion.distance(word, name) <= name.count / 4
                || word.count > 2 && name.hasPrefix(word.lowercased())
        }
    }
}
