// SPDX-License-Identifier: Apache-2.0
import RainCore

/// Returns a command for the user to type next, such as `rainctl node list`. It has the options of this command that decide whose boards
/// it is about, and which servers are trusted: `--profile`, `--account` and `--ca-file`.
///
/// - Parameter command: the words after `rainctl`, quoted for a shell.
func commandLine(_ command: String) -> String { GivenOptions.ofThisCommand.line(command) }

/// The options of this command that a printed next command needs as well. Values from the environment or from settings files still apply
/// to it, so they are not repeated.
struct GivenOptions: Sendable, Equatable {
    /// Each option and its value, in the order in which they are printed.
    private var values: [(option: String, value: String)] = []

    private static let names = ["--profile", "--account", "--ca-file"]

    /// The options of this run's arguments.
    static var ofThisCommand: GivenOptions { GivenOptions(Invocation.current.arguments) }

    init(_ arguments: some Collection<String>) {
        let words = arguments.prefix { $0 != "--" }
        for name in Self.names {
            var value: String?
            for (word, next) in zip(words, words.dropFirst().map(Optional.some) + [nil]) {
                if word == name { value = next ?? value }
                if word.hasPrefix("\(name)=") { value = String(word.dropFirst(name.count + 1)) }
            }
            if let value, !value.isEmpty { values.append((name, value)) }
        }
    }

    /// The options as a command has parsed them.
    init(_ options: Context.SharedOptions) {
        values = zip(Self.names, [options.profile, options.account, options.caFile]).compactMap { name, value in
            value.flatMap { $0.isEmpty ? nil : (name, $0) }
        }
    }

    /// The options and their values, as arguments.
    var arguments: [String] { values.flatMap { [$0.option, $0.value] } }

    static func == (one: Self, other: Self) -> Bool { one.values.elementsEqual(other.values, by: ==) }

    /// Returns the command with the options before its first option, or at its end.
    func line(_ command: String) -> String {
        let words = command.split(separator: " ")
        let needed = values.filter { option, value in
            // A command that names the user needs no option for the same account.
            !command.hasOption(option) && !words.contains(value.asShellWord[...]) && Self.takes(option, command)
        }
        let options =
            needed
            .map { " \($0.option) \($0.value.onOneLine.asShellWord)" }.joined()
        let place = command.firstOption ?? command.endIndex
        return "rainctl \(command[..<place])\(options)\(command[place...])"
    }

    /// Whether an option matters to a command. Those that change the list of deployments or the account in use name it themselves.
    private static func takes(_ option: String, _ command: String) -> Bool {
        if command.hasPrefix("profile ") { return command == "profile show" }
        return option != "--account" || !command.hasPrefix("account use ")
    }
}

extension String {
    /// The blank before the first option outside quotation marks.
    fileprivate var firstOption: Index? {
        var isQuoted = false
        var isEscaped = false
        for index in indices {
            let character = self[index]
            guard !isEscaped else {
                isEscaped = false
                continue
            }
            if character == "'" { isQuoted.toggle() }
            guard !isQuoted else { continue }
            if character == "\\" { isEscaped = true }
            if character == " ", self[self.index(after: index)...].hasPrefix("-") { return index }
        }
        return nil
    }

    fileprivate func hasOption(_ name: String) -> Bool { contains(" \(name) ") || hasSuffix(" \(name)") }
}
