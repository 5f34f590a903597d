// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

/// The command that the first words of the arguments name, as deep as possible.
///
/// The options of every command may also be before the command, and between its names: `rainctl --profile lab node list`. The argument
/// parser knows them only after the command, so they are moved there.
struct NamedCommand {
    private(set) var command: any ParsableCommand.Type = Rainctl.self
    /// The commands without the root: `node`, `params`, `set`.
    private(set) var path: [any ParsableCommand.Type] = []
    /// The options of every command before or between the names, with their values.
    private(set) var early: [String] = []
    /// The arguments after the names.
    private(set) var rest: ArraySlice<String>

    init(_ arguments: [String]) {
        rest = arguments[...]
        while isGroup, let word = rest.first {
            let length = GlobalOptions.length(of: rest)
            if length > 0 {
                early += rest.prefix(length)
                rest = rest.dropFirst(length)
            } else if !word.hasPrefix("-"),
                let next = Self.command(word, of: command)
            {
                command = next
                path.append(next)
                rest.removeFirst()
            } else {
                return
            }
        }
    }

    /// Whether it only holds other commands.
    var isGroup: Bool { Self.byName(command) != nil || !command.configuration.subcommands.isEmpty }

    /// Returns a command of a group by its name.
    private static func command(_ name: String, of group: any ParsableCommand.Type) -> (any ParsableCommand.Type)? {
        if let byName = byName(group) { return byName(name) }
        return group.configuration.subcommands.first { self.name(of: $0) == name }
    }

    /// Returns the search of a large group that does not touch its other commands; nil for other groups. With the configuration, the
    /// runtime makes the tables of all commands of the group, in as many pages of memory. Each page costs a start some microseconds.
    private static func byName(
        _ group: any ParsableCommand.Type
    ) -> ((String) -> (any ParsableCommand.Type)?)? {
        if group == Rainctl.self { return Rainctl.command }
        if group == NodeCommand.self { return NodeCommand.command }
        return nil
    }

    /// Whether the arguments are `help`, the parser's own command, perhaps with more words.
    var asksForHelp: Bool { path.isEmpty && rest.first == "help" }

    /// Whether a document is requested and no command is named that could make it.
    var lacksCommand: Bool { isGroup && rest.isEmpty && early.contains { ["--json", "--compact"].contains($0) } }

    /// The arguments in the order of the parser. A group by itself prints its help, which these options do not change.
    var arguments: [String] {
        path.map(Self.name) + (isGroup && !path.isEmpty ? [] : early) + rest
    }

    /// The root that parses ``arguments``. With a command, the root must not have the options too: it would take them from the command.
    var root: any ParsableCommand.Type { path.isEmpty ? RootWithOptions.self : Rainctl.self }

    /// The answer to `--help` or `--version`, if nothing else is requested; nil otherwise. The parser gives the same answers, after it has
    /// parsed everything twice.
    var helpOrVersion: String? {
        guard early.isEmpty, rest.count == 1 else { return nil }
        switch rest.first {
        case "--help", "-h":
            return HelpText.arranged(root.helpMessage(for: path.isEmpty ? root : command)) + "\n"
        case "--version" where path.isEmpty: return RainKitVersion.current + "\n"
        default: return nil
        }
    }

    /// Returns the command with its options, if they are valid; nil also for help and the like. For each parse, the parser builds
    /// everything below the given root, which takes a third of a short command's time. Here, that is only this command.
    func parsed() -> (any ParsableCommand)? {
        guard !isGroup, let parsed = try? command.parseAsRoot(early + rest), type(of: parsed) == command else {
            return nil
        }
        return parsed
    }

    static func name(of command: any ParsableCommand.Type) -> String {
        command.configuration.commandName ?? command._commandName
    }
}

/// The root with the options of every command. Help, completions and the manual show them there.
struct RootWithOptions: ParsableCommand {
    static var configuration: CommandConfiguration {
        var configuration = Rainctl.configuration
        configuration.usage = "rainctl [<options>] <subcommand>"
        return configuration
    }

    @OptionGroup(title: "Everywhere") var options: GlobalOptions
}

extension GlobalOptions {
    private static let flags = ["--json", "--compact", "--quiet", "--no-input"]
    private static let withValue = ["--log-file", "--log-format", "--profile", "--account", "--ca-file"]

    /// Returns how many of the first words are one of these options and its value; 0 if the first word is another.
    static func length(of words: ArraySlice<String>) -> Int {
        guard let word = words.first, word.hasPrefix("-") else { return 0 }
        if flags.contains(word) || isLetters(word) { return 1 }
        if withValue.contains(word) {
            // As in the parser, a value does not begin with a hyphen. Without a value, the parser reports the option.
            guard let value = words.dropFirst().first, value == "-" || !value.hasPrefix("-") else { return 1 }
            return 2
        }
        guard let equals = word.firstIndex(of: "=") else { return 0 }
        return withValue.contains(String(word[..<equals])) ? 1 : 0
    }

    /// Whether the arguments request that only the result is printed.
    static func areQuiet(_ arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains { $0 == "--quiet" || isLetters($0) && $0.contains("q") }
    }

    /// Whether the word is one or more of the options with one letter, such as `-v`, `-vv` and `-qv`.
    private static func isLetters(_ word: String) -> Bool {
        word.utf8.count > 1 && word.hasPrefix("-") && word.utf8.dropFirst().allSatisfy { "qv".utf8.contains($0) }
    }
}
