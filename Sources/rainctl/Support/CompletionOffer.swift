// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainJSON

/// The words that may complete a command line. The completion script for fish asks for them with `rainctl ---words`, a beginning that no
/// other command line has.
struct CompletionOffer: Equatable {
    struct Word: Equatable {
        var text: String
        var description: String?
    }

    private(set) var words: [Word] = []
    /// Whether names of files are possible as well. The shell knows them.
    private(set) var hasFiles = false

    /// Returns the offer for the arguments of `rainctl ---words WORD… CURRENT`; nil for other arguments.
    static func requested(by arguments: [String]) -> CompletionOffer? {
        guard arguments.first == "---words" else { return nil }
        return CompletionOffer(
            after: Array(arguments.dropFirst().dropLast()), completing: arguments.dropFirst().last ?? "")
    }

    /// - Parameters:
    ///   - words: the complete words after `rainctl`.
    ///   - current: the word to complete, which may be empty. The shell drops words that do not begin with it.
    init(after words: [String], completing current: String) {
        if words.first == "help" {
            offerHelp(after: words.dropFirst())
            return
        }
        let named = NamedCommand(words)
        // Not after a word that is not a command.
        guard !named.isGroup || named.rest.isEmpty else { return }
        var line = Line(named, arguments: Self.arguments(of: named))
        for word in named.early + named.rest { line.read(word) }

        if let option = line.unfinished {
            offerValues(of: option, named, words + [current])
        } else if !line.isTerminated, current.hasPrefix("--"), let equals = current.firstIndex(of: "=") {
            let name = String(current[..<equals])
            guard let option = line.option(name), option.value != nil else { return }
            offerValues(of: option, named, words + [name, String(current[equals...].dropFirst())], after: "\(name)=")
        } else if !line.isTerminated, current.hasPrefix("-") {
            for option in line.possibleOptions {
                self.words += option.offeredNames.map { Word(text: $0, description: option.abstract) }
            }
        } else if named.isGroup {
            offerCommands(below: named.command)
            if named.path.isEmpty { self.words.append(Word(text: "help", description: "Show the help of a command.")) }
        } else if let argument = line.nextArgument {
            offerValues(of: argument, named, words + [current])
        }
    }

    /// The answer to the shell: a word and its description in each line. The line of files has no word.
    var text: String {
        let lines = words.map { word in
            word.description.map { "\(word.text)\t\($0.replacing("`", with: "").onOneLine)" } ?? word.text
        }
        return (lines + (hasFiles ? ["\tfiles"] : [])).map { "\($0)\n" }.joined()
    }

    // MARK: Kinds of words

    private mutating func offerHelp(after words: ArraySlice<String>) {
        let named = NamedCommand(Array(words))
        guard named.rest.isEmpty else { return }
        offerCommands(below: named.command)
        guard named.path.isEmpty else { return }
        self.words += HelpTopic.allCases.map { Word(text: $0.rawValue, description: $0.abstract) }
    }

    private mutating func offerCommands(below command: any ParsableCommand.Type) {
        words += command.configuration.subcommands.filter { $0.configuration.shouldDisplay }.map {
            Word(text: NamedCommand.name(of: $0), description: $0.configuration.abstract)
        }
    }

    /// - Parameter prefix: the part of the current word before the value, such as `--profile=`.
    private mutating func offerValues(
        of argument: Line.Argument, _ named: NamedCommand, _ line: [String], after prefix: String = ""
    ) {
        let values: [String]
        switch argument.description.completion {
        case .values(let list): values = list
        case .custom: values = Self.custom(argument.id, of: named, line)
        case .files: (values, hasFiles) = ([], true)
        case .nothing: values = []
        }
        words += values.map { Word(text: prefix + $0, description: nil) }
    }

    /// Returns the values of this machine, which the argument's own `completion:` finds.
    private static func custom(_ argument: String, of named: NamedCommand, _ line: [String]) -> [String] {
        let command = named.isGroup ? RootWithOptions.self : named.command
        do {
            _ = try command.parseAsRoot(["---completion", "--", argument, "\(line.count)", "0", "rainctl"] + line)
            return []
        } catch {
            guard command.exitCode(for: error) == .success else { return [] }
            return command.fullMessage(for: error).split(separator: "\n").map(String.init)
        }
    }

    // MARK: The command's arguments

    /// A group's commands can be after the options of every command.
    private struct AnyGroup: ParsableCommand {
        static let configuration = CommandConfiguration(version: RootWithOptions.configuration.version)
        @OptionGroup var options: GlobalOptions
    }

    /// Describes one command only: describing all of them takes a hundred times longer.
    private static func arguments(of named: NamedCommand) -> [ArgumentDescription] {
        let command = named.isGroup ? AnyGroup.self : named.command
        let program = try? JSONCoder.decode(ProgramDescription.self, from: Array(command._dumpHelp().utf8))
        return program?.command.shownArguments ?? []
    }
}

/// The complete words of a command line, and the arguments that may follow them.
private struct Line {
    struct Argument {
        var description: ArgumentDescription
        /// The name by which the argument parser finds its completion.
        var id: String

        var value: String? { description.value }
        var abstract: String? { description.abstract }
        var names: [String] { description.names?.map(\.text) ?? [] }

        /// The long names, without a second spelling with underscores; a short one if there is no long one.
        var offeredNames: [String] {
            let long = names.filter { $0.hasPrefix("--") && !$0.contains("_") }
            return long.isEmpty ? Array(names.prefix(1)) : long
        }
    }

    private let options: [Argument]
    private let positional: [Argument]
    private var given: Set<String> = []
    private var position = 0
    /// The option whose value is the next word.
    private(set) var unfinished: Argument?
    /// Whether `--` has ended the options.
    private(set) var isTerminated = false

    init(_ named: NamedCommand, arguments: [ArgumentDescription]) {
        options = arguments.filter { $0.kind != .positional }.map { description in
            Argument(description: description, id: description.names?.last?.text ?? "")
        }
        let all = arguments.filter { $0.kind == .positional && !$0.isAfterTerminator }
        positional = all.enumerated().map { Argument(description: $1, id: "positional@\($0)") }
    }

    func option(_ name: String) -> Argument? { options.first { $0.names.contains(name) } }

    /// The options that are not given yet, or may be given again.
    var possibleOptions: [Argument] {
        options.filter { $0.description.isRepeating || given.isDisjoint(with: $0.names) }
    }

    /// The argument without a name that comes next. The last one may be repeated.
    var nextArgument: Argument? {
        if positional.indices.contains(position) { return positional[position] }
        return positional.last.flatMap { $0.description.isRepeating ? $0 : nil }
    }

    mutating func read(_ word: String) {
        if unfinished != nil {
            unfinished = nil
        } else if isTerminated || !word.hasPrefix("-") || word == "-" {
            position += 1
        } else if word == "--" {
            isTerminated = true
        } else if let option = option(String(word.prefix { $0 != "=" })) {
            given.formUnion(option.names)
            if option.value != nil, !word.contains("=") { unfinished = option }
        }
    }
}
