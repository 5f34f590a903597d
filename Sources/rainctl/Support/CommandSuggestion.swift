// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainKit

/// Sentences about commands that do not exist, with suggestions.
enum CommandSuggestion {
    /// Returns a sentence for arguments whose first words are not a command; nil for a command.
    static func sentence(for arguments: [String]) -> String? {
        // `help` is the parser's own command. The words after it also name commands.
        let given = NamedCommand(arguments)
        let asksForHelp = given.asksForHelp
        let named = asksForHelp ? NamedCommand(Array(given.rest.dropFirst())) : given
        guard !named.command.configuration.subcommands.isEmpty, let word = named.rest.first, !word.hasPrefix("-"),
            !(asksForHelp && word == "help")
        else { return nil }
        let there = line(named.path)
        if let words = severalWords(word, named) {
            return
                "rainctl got \"\(word.onOneLine)\" as one argument, although it is several words. Remove the quotation marks: "
                + "rainctl\(there) \(words)"
        }
        var meant = candidates(for: word, named).map { "\(asksForHelp ? "rainctl help" : "rainctl")\($0)" }
        if named.path.isEmpty, let topic = HelpTopic.nearest(to: word) { meant = ["rainctl help \(topic.rawValue)"] }
        let hint =
            meant.isEmpty
            ? "See: rainctl help\(there)" : "Did you mean: \(meant.joined(separator: ", "))?"
        return "rainctl\(there) has no command \"\(word.onOneLine)\". \(hint)"
    }

    /// The error for a document that is requested of a group of commands.
    static func missingCommand(_ named: NamedCommand) -> CommandFailure {
        let there = line(named.path)
        return CommandFailure(.usage, message: "Name a command after rainctl\(there). See: rainctl help\(there)")
    }

    /// Returns a sentence for an argument that begins with a dash other than the hyphen, as pages and word processors write it; nil without
    /// such an argument.
    static func dashSentence(for arguments: [String]) -> String? {
        for argument in arguments.prefix(while: { $0 != "--" }) {
            // The text after a "=" may be a secret.
            let option = String(argument.prefix { $0 != "=" })
            guard let first = option.unicodeScalars.first, dashes.contains(first) else { continue }
            let rest = String(
                String.UnicodeScalarView(option.unicodeScalars.drop { dashes.contains($0) || $0 == "-" }))
            guard let start = rest.first, start.isLetter || start.isNumber else { continue }
            let meant = (rest.count == 1 || start.isNumber ? "-" : "--") + rest.onOneLine
            let number = String(first.value, radix: 16, uppercase: true)
            return "\"\(option.onOneLine)\" begins with a dash that is not a hyphen (U+\(number)). Type \(meant)."
        }
        return nil
    }

    /// Returns a sentence for arguments of curl without a preceding `--`; nil for others.
    static func terminatorSentence(for arguments: [String]) -> String? {
        let named = NamedCommand(arguments)
        guard named.command == AccountCurl.self, !named.rest.isEmpty, !named.rest.contains("--") else { return nil }
        return "The arguments of curl go after --, as in: rainctl account curl -- /v1/user2"
    }

    /// Returns the words of an argument that has a command and its arguments; nil for another argument.
    private static func severalWords(_ word: String, _ named: NamedCommand) -> String? {
        let words = word.split(separator: " ").map { String($0) }
        guard words.count > 1, NamedCommand(named.path.map(NamedCommand.name) + words).path.count > named.path.count
        else { return nil }
        return words.joined(separator: " ").onOneLine
    }

    /// Returns a sentence for several boards that are separate arguments, where the command takes one list; nil for others.
    /// - Parameter message: the parser's message.
    static func boardsSentence(for arguments: [String], _ message: String) -> String? {
        let named = NamedCommand(arguments)
        let path = String(line(named.path).dropFirst())
        guard takingLists.contains(path), message.lowercased().contains("unexpected argument") else { return nil }
        let names = named.rest.prefix { !$0.hasPrefix("-") }
        let list = names.count > 1 ? names.joined(separator: ",").asShellWord : "'Kitchen lamp,Fan'"
        return
            "Separate several \(path.hasPrefix("group share") ? "groups" : "boards") with commas: rainctl \(path) \(list). "
            + "If a name contains spaces, put it in quotation marks."
    }

    /// The commands whose only argument is a list of boards or groups.
    private static let takingLists: Set<String> = [
        "node show", "node watch", "node share add", "node share remove", "group share add", "group share remove",
        "node schedule list", "node scene list",
    ]

    /// Returns a sentence for values without the board before them; nil for others.
    /// - Parameter message: the parser's message.
    static func missingBoardSentence(for arguments: [String], _ message: String) -> String? {
        guard message.contains("PATH=VALUE") || message.contains("<path=value>") else { return nil }
        let named = NamedCommand(arguments)
        guard let first = named.rest.first, !first.hasPrefix("-"), GivenValue.parts(first) != nil else { return nil }
        return "The board is missing. Write: rainctl\(line(named.path)) BOARD \(first.onOneLine.asShellWord)"
    }

    /// Returns a sentence for a password that is an argument of a sign-in; nil for others. It does not have the password.
    /// - Parameter message: the parser's message.
    static func passwordSentence(for arguments: [String], _ message: String) -> String? {
        let path = String(line(NamedCommand(arguments).path).dropFirst())
        guard takingPasswords.contains(path), message.lowercased().contains("unexpected argument") else { return nil }
        let option = path.hasPrefix("account password") ? "--new-password" : "--password"
        return
            "A password cannot be an argument, because other users of this machine could see it: use \(option)-file FILE or "
            + "\(option)-stdin."
    }

    private static let takingPasswords: Set<String> = [
        "login", "account signup", "account convert", "account password change", "account password reset",
    ]

    /// Returns a sentence for an option that is before the command to which it belongs; nil for others.
    /// - Parameter message: the parser's message.
    static func earlyOptionSentence(for arguments: [String], _ message: String) -> String? {
        let named = NamedCommand(arguments)
        guard named.isGroup, let first = named.rest.first, first.hasPrefix("--") else { return nil }
        let option = String(first.prefix { $0 != "=" })
        guard message.hasPrefix("Unknown option '\(option)'") else { return nil }
        let names = named.path.map(NamedCommand.name)
        for index in named.rest.indices.dropFirst() {
            let later = NamedCommand(names + named.rest[index...])
            guard later.path.count > named.path.count else { continue }
            // Only the option's own line of the help page begins with it.
            let help = Rainctl.helpMessage(for: later.command)
            guard !later.isGroup, help.contains("\(option) ") || help.contains("\(option)\n") else { return nil }
            return "\(option) goes after the command: rainctl\(line(later.path)) … \(option)"
        }
        return nil
    }

    /// Returns a sentence for a name with spaces that was typed without quotation marks; nil for other messages.
    /// - Parameter message: the parser's message.
    static func quotationSentence(for arguments: [String], _ message: String) -> String? {
        let named = NamedCommand(arguments)
        guard message.hasPrefix("Unexpected argument"), named.rest.count(where: { !$0.hasPrefix("-") }) > 1 else {
            return nil
        }
        return message.prefix { $0 != "\n" }
            + ": if a name contains spaces, put it in quotation marks, as in 'Kitchen lamp'."
    }

    /// Returns a sentence for a negative number, which the parser takes for an option; nil for others.
    /// - Parameter message: the parser's message.
    static func negativeSentence(for arguments: [String], _ message: String) -> String? {
        if message.hasPrefix("Missing expected argument '<") {
            let given = arguments.prefix { $0 != "--" }
            guard let number = given.first(where: isNegative) else { return nil }
            return "\(number.onOneLine) was taken for an option: put -- before a negative value and after all options."
        }
        guard let quoted = message.firstRange(of: "Missing value for '") else { return nil }
        let usage = message[quoted.upperBound...].prefix { $0 != "'" }
        let option = usage.prefix { $0 != " " }
        for (word, next) in zip(arguments, arguments.dropFirst()) where word == option {
            guard isNegative(next) else { continue }
            if option == "--location" {
                return "\(next.onOneLine) was taken for an option. Write \(option)=\(next.onOneLine.asShellWord)."
            }
            return "The value '\(next.onOneLine)' is invalid for '\(usage)'"
        }
        return nil
    }

    private static func isNegative(_ word: String) -> Bool {
        guard word.hasPrefix("-"), let first = word.dropFirst().first else { return false }
        return first.isNumber || first == "."
    }

    /// Returns the parser's sentence about a value that it refuses, with the form of the value; nil for other messages.
    static func formSentence(_ message: String) -> String? {
        guard let mark = message.firstRange(of: "' is invalid for '") else { return nil }
        let usage = message[mark.upperBound...].prefix { $0 != "'" }
        let event = message.prefix { $0 != "\n" }
        if let choice = message.firstRange(of: ". Please provide one of ") {
            var list = message[choice.upperBound...]
            if list.hasPrefix("the following:") { list = list.dropFirst("the following:".count) }
            let words = list.split { "' ,.\n".contains($0) }.filter { !["and", "or", "-"].contains($0) }
            let names = words.map { String($0) }.joined(separator: ", ")
            return "\(message[..<choice.lowerBound]): give one of \(names)."
        }
        guard !event.contains("': "), let form = form(of: usage) else { return nil }
        return "\(event): \(form)."
    }

    /// Returns the form of an option's value, as the end of a sentence; nil for a value whose parser names its form.
    private static func form(of usage: Substring) -> String? {
        switch usage.prefix(while: { $0 != " " }) {
        case "--since", "--keep", "--in":
            return "a length of time is more than 0 and at most ten years, as in 30s, 12h or 7d"
        case "--third-party-expires":
            return "give a length of time such as 2h, or a time such as 2026-03-29T14:00:00Z"
        case "--callback-port": return "ports are 1 to 65535"
        case "--sec-ver": return "the security scheme is 0, 1 or 2"
        case "--sub-role": return "a sub-role is a number from 1 to 4"
        case "--count", "--limit", "--at-once", "--scale", "--size": return "give a whole number of at least 1"
        case "--batch", "<batch>": return "give the number of a batch, such as 12"
        case "<number>", "<command>", "--number": return "give a number from 1 to 65535"
        default: break
        }
        guard usage.hasSuffix("<time>") else { return nil }
        return "a time limit is more than 0 and at most a day, as in 6s, 500ms or 2m"
    }

    /// Returns the parser's message without a suggestion that is not similar to what was typed, such as `--tags` for `--bogus`.
    static func withoutFarSuggestion(_ message: String) -> String {
        guard
            let found = message.firstMatch(
                of: /Unknown option '-*([^']*)'( Did you mean|\. Did you mean) '-*([^']*)'\?/)
        else { return message }
        let (typed, meant) = (String(found.1), String(found.3))
        guard distance(typed, meant) > max(1, meant.count / 3) else { return message }
        return message[..<found.range.lowerBound] + "Unknown option '\(optionText(found.0))'"
            + message[found.range.upperBound...]
    }

    /// The option as it was typed.
    private static func optionText(_ match: Substring) -> Substring {
        match.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false).dropFirst().first ?? match
    }

    /// The dashes of Unicode that look like a hyphen or two.
    private static let dashes: Set<Unicode.Scalar> = [
        "\u{2010}", "\u{2011}", "\u{2012}", "\u{2013}", "\u{2014}", "\u{2015}", "\u{2212}", "\u{FE58}", "\u{FE63}",
        "\u{FF0D}",
    ]

    /// Words of other tools for names of commands.
    private static let synonyms = [
        "delete": "remove", "del": "remove", "rm": "remove", "ls": "list", "create": "add", "new": "add",
        "info": "show",
    ]

    /// Returns possible commands, each with a space before every name: a synonym, those that begin with the word, one with a similar spelling, or
    /// those with that name elsewhere.
    private static func candidates(for word: String, _ named: NamedCommand) -> [String] {
        let there = line(named.path)
        let names = shown(named.command).map(NamedCommand.name(of:))
        if word == "help" { return [" help\(there)"] }
        if let other = synonyms[word.lowercased()], names.contains(other) { return ["\(there) \(other)"] }
        let longer = names.filter { !word.isEmpty && $0.hasPrefix(word.lowercased()) }
        if !longer.isEmpty { return longer.map { "\(there) \($0)" } }
        let nearest = names.map { (name: $0, distance: distance(word, $0)) }.min { $0.distance < $1.distance }
        if let nearest, nearest.distance <= max(1, nearest.name.count / 3) { return ["\(there) \(nearest.name)"] }
        let below = elsewhere(word.lowercased(), below: named.path)
        return below.isEmpty ? elsewhere(word.lowercased(), below: []) : below
    }

    /// Returns deeper commands with this name, only those nearest to the top.
    private static func elsewhere(_ name: String, below path: [any ParsableCommand.Type]) -> [String] {
        var level = [path]
        while !level.isEmpty {
            level = level.flatMap { path in shown(path.last ?? Rainctl.self).map { path + [$0] } }
            let found = level.filter { $0.last.map(NamedCommand.name(of:)) == name }
            if !found.isEmpty { return found.map(line) }
        }
        return []
    }

    private static func shown(_ command: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
        command.configuration.subcommands.filter { $0.configuration.shouldDisplay }
    }

    private static func line(_ path: [any ParsableCommand.Type]) -> String {
        path.map { " \(NamedCommand.name(of: $0))" }.joined()
    }

    /// Returns how many letters must be added, removed, changed, or swapped with the next one.
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
