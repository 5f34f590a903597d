// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// What may have been meant by a command that does not exist.
enum CommandSuggestion {
    /// A sentence for arguments whose first words lead to no command; nil where they do.
    static func sentence(for arguments: [String]) -> String? {
        let named = NamedCommand(arguments)
        let known = named.command.configuration.subcommands
        guard !known.isEmpty, let word = named.rest.first, !word.hasPrefix("-") else { return nil }
        var nearest: (name: String, distance: Int)?
        for candidate in known where candidate.configuration.shouldDisplay {
            let name = NamedCommand.name(of: candidate)
            let distance = distance(word, name)
            if distance < nearest?.distance ?? .max { nearest = (name, distance) }
        }
        let there = (["rainctl"] + named.path.map(NamedCommand.name(of:))).joined(separator: " ")
        let sentence = "\(there) has no \"\(word.onOneLine)\"."
        if let nearest, nearest.distance <= max(1, nearest.name.count / 3) {
            return "\(sentence) Did you mean: \(there) \(nearest.name)?"
        }
        let begun = known.filter { $0.configuration.shouldDisplay }.map(NamedCommand.name(of:)).filter {
            word.count > 2 && $0.hasPrefix(word.lowercased())
        }
        let meant = begun.map { "\(there) \($0)" } + deeper(word.lowercased(), in: known, below: there)
        guard !meant.isEmpty else { return "\(sentence) \(there) --help names what there is." }
        return "\(sentence) Did you mean: \(meant.prefix(3).joined(separator: ", "))?"
    }

    /// The commands of that name further down, such as `rainctl device scan`.
    private static func deeper(
        _ name: String, in commands: [any ParsableCommand.Type], below there: String
    ) -> [String] {
        commands.filter { $0.configuration.shouldDisplay }.flatMap { command -> [String] in
            let here = "\(there) \(NamedCommand.name(of: command))"
            let below = command.configuration.subcommands
            let found = below.filter { NamedCommand.name(of: $0) == name }.map {
                "\(here) \(NamedCommand.name(of: $0))"
            }
            return found + deeper(name, in: below, below: here)
        }
    }

    /// How many letters are to be added, left out, changed, or swapped with the next one.
    static func distance(_ first: String, _ second: String) -> Int {
        let (a, b) = (Array(first.lowercased().prefix(64)), Array(second.lowercased().prefix(64)))
        var rows = [Array(0...b.count)]
        for i in 1...max(a.count, 1) where !a.isEmpty {
            var row = [i]
            for j in 1...max(b.count, 1) where !b.isEmpty {
                var best = min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { best = min(best, rows[i - 2][j - 2] + 1) }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}
