// SPDX-License-Identifier: Apache-2.0
import RainCore

/// Returns a command for the user to type next, such as `rainctl node list`. It has the options of this command that decide whose boards
/// it is about, and which servers are trusted: `--profile`, `--account` and `--ca-file`. The commands that continue a batch also have the
/// options of the batch, except those with secrets.
///
/// - Parameter command: the words after `rainctl`, quoted for a shell.
func commandLine(_ command: String) -> String { GivenOptions.ofThisCommand.line(command) }

/// The options of this command that a printed next command needs as well. Values from the environment or from settings files still apply
/// to it, so they are not repeated.
struct GivenOptions: Sendable, Equatable {
    /// Each option and its value, in the order in which they are printed.
    private var values: [(option: String, value: String)] = []

    /// The options of a batch that the commands which continue it need again, and their values; nil for flags.
    private var batch: [(option: String, value: String?)] = []

    private static let names = ["--profile", "--account", "--ca-file"]
    /// The password of `--passphrase` is a secret, so it is not among them.
    private static let namesOfBatch = [
        "--ledger", "--secrets", "--provider", "--backend", "--transport", "--port", "--pop-file", "--ssid",
        "--ssid-hex",
        "--passphrase-file", "--group", "--tags", "--metadata", "--at-once", "--board-timeout", "--station",
        "--station-timeout",
    ]
    private static let flagsOfBatch = [
        "--pop-stdin", "--passphrase-stdin", "--open", "--no-wifi", "--no-mapping", "--discover",
    ]

    /// The options of this run's arguments.
    static var ofThisCommand: GivenOptions { GivenOptions(Invocation.current.arguments) }

    init(_ arguments: some Collection<String>) {
        let words = arguments.prefix { $0 != "--" }
        func given(_ name: String) -> String? {
            var value: String?
            for (word, next) in zip(words, words.dropFirst().map(Optional.some) + [nil]) {
                if word == name { value = next ?? value }
                if word.hasPrefix("\(name)=") { value = String(word.dropFirst(name.count + 1)) }
            }
            return value.flatMap { $0.isEmpty ? nil : $0 }
        }
        for name in Self.names {
            if let value = given(name) { values.append((name, value)) }
        }
        for name in Self.namesOfBatch {
            if let value = given(name) { batch.append((name, value.hasPassword ? "URL" : value)) }
        }
        for flag in Self.flagsOfBatch where words.contains(flag) { batch.append((flag, nil)) }
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
            .map { " \($0.option) \($0.value.onOneLine.asShellWord)" }.joined() + optionsOfBatch(for: command)
        let place = command.firstOption ?? command.endIndex
        return "rainctl \(command[..<place])\(options)\(command[place...])"
    }

    /// Returns the options of the batch that a command needs again: all of them if it continues the batch, and otherwise the ledger.
    private func optionsOfBatch(for command: String) -> String {
        let words = command.split(separator: " ")
        guard words.count > 1, words[0] == "batch" else { return "" }
        let continues = ["resume", "retry"].contains(words[1])
        return batch.filter { option, _ in
            guard !command.hasOption(option) else { return false }
            return option == "--ledger" || continues && (option != "--discover" || words[1] == "resume")
        }.map { option, value in
            guard let value else { return " \(option)" }
            // A value that begins with a hyphen would be read as an option.
            let sign = value.hasPrefix("-") && value != "-" ? "=" : " "
            return " \(option)\(sign)\(value.asShellWord)"
        }.joined()
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

    /// Whether it is the URL of a database with a password.
    fileprivate var hasPassword: Bool {
        guard let scheme = firstRange(of: "://") else { return false }
        let rest = self[scheme.upperBound...]
        return rest.contains("password=") || rest.lastIndex(of: "@").map { rest[..<$0].contains(":") } ?? false
    }

    fileprivate func hasOption(_ name: String) -> Bool { contains(" \(name) ") || hasSuffix(" \(name)") }
}
