// SPDX-License-Identifier: Apache-2.0

/// A program's commands, as the argument parser describes them for other tools (`--experimental-dump-help`).
struct ProgramDescription: Decodable {
    let command: CommandDescription
}

struct CommandDescription: Decodable {
    private let superCommands: [String]?
    private let shouldDisplay: Bool?
    private let discussion: String?
    private let subcommands: [CommandDescription]?
    private let arguments: [ArgumentDescription]?
    let commandName: String
    let abstract: String?

    /// The names from the program's to this command's.
    var names: [String] { (superCommands ?? []) + [commandName] }

    /// The commands below this one, as the help shows them. The parser's own `help` has a page only for rainctl, which has topics.
    var shownSubcommands: [CommandDescription] {
        (subcommands ?? []).filter { $0.shouldDisplay != false && ($0.commandName != "help" || names == ["rainctl"]) }
    }

    var shownArguments: [ArgumentDescription] { (arguments ?? []).filter(\.shouldDisplay) }

    /// The long names of its options.
    var optionNames: Set<String> { Set(shownArguments.flatMap { $0.names ?? [] }.map(\.text)) }

    /// The paragraphs of the discussion without examples. Line ends inside a paragraph are spaces.
    var paragraphs: [String] { Self.parts(of: discussion ?? "").paragraphs }

    /// The command lines of the discussion.
    var examples: [String] { Self.parts(of: discussion ?? "").examples }

    /// A paragraph that begins with `Example:` has one example in each line; a backslash continues a line. At the end of another paragraph,
    /// there is one.
    private static func parts(of discussion: String) -> (paragraphs: [String], examples: [String]) {
        var (paragraphs, examples): ([String], [String]) = ([], [])
        for paragraph in discussion.replacing(#/\\\n */#, with: "").split(separator: "\n\n") {
            let lines = paragraph.split(separator: "\n").map { line in String(line.drop { $0 == " " }) }
            if paragraph.hasPrefix(mark) {
                examples += [String(lines[0].dropFirst(mark.count))] + lines.dropFirst()
            } else {
                let text = lines.joined(separator: " ")
                let place = text.firstRange(of: " \(mark)")
                paragraphs.append(place.map { String(text[..<$0.lowerBound]) } ?? text)
                examples += [place.map { String(text[$0.upperBound...]) }].compactMap(\.self)
            }
        }
        return (paragraphs, examples)
    }

    private static let mark = "Example: "
}

/// An argument or an option.
struct ArgumentDescription: Decodable {
    enum Kind: String, Decodable { case positional, option, flag }

    struct Name: Decodable {
        private enum Kind: String, Decodable { case long, short, longWithSingleDash }
        private let kind: Kind
        private let name: String

        /// As it is typed: `--json`, `-q`.
        var text: String { (kind == .long ? "--" : "-") + name }
    }

    let kind: Kind
    let isOptional: Bool
    let isRepeating: Bool
    let abstract: String?
    var names: [Name]?
    fileprivate let shouldDisplay: Bool
    private let sectionTitle: String?
    private let parsingStrategy: String?
    private let valueName: String?
    private let defaultValue: String?
    private let allValues: [String]?
    private let completionKind: CompletionDescription?

    /// The title of its group; nil for the group without a title.
    var section: String? { sectionTitle }
    /// The name of its value; nil for a flag.
    var value: String? { kind == .flag ? nil : valueName ?? "value" }
    /// The possible values, if they are known.
    var values: [String] { (allValues ?? []).filter { !$0.isEmpty } }
    /// How a shell completes its value.
    var completion: CompletionDescription { completionKind ?? .nothing }
    /// The default, if there is one.
    var standard: String? { defaultValue.flatMap { $0.isEmpty ? nil : $0 } }
    /// Whether it is only accepted after `--`.
    var isAfterTerminator: Bool { parsingStrategy == "postTerminator" }
    /// Whether it is the parser's own: every command has it.
    var isBuiltIn: Bool { kind == .flag && ["--help", "--version"].contains(names?.last?.text ?? "") }
}

/// The values that a shell offers for an argument.
enum CompletionDescription: Decodable {
    case values([String])
    /// Those that a function of the argument returns.
    case custom
    case files
    case nothing

    private enum Kind: String, CodingKey { case list, custom, file, directory }
    private struct List: Decodable { var values: [String] }

    init(from decoder: any Decoder) throws {
        let kinds = try decoder.container(keyedBy: Kind.self)
        switch kinds.allKeys.first {
        case .list: self = .values(try kinds.decode(List.self, forKey: .list).values.filter { !$0.isEmpty })
        case .custom: self = .custom
        case .file, .directory: self = .files
        case nil: self = .nothing
        }
    }
}
