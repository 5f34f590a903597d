// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainJSON

/// Puts a tool's own names into the messages of a call, in place of rainctl's commands and options. A model knows only the tools.
struct MCPWording: Sendable {
    private let toolName: String
    private let arguments: Set<String>

    init(_ tool: MCPTool) {
        toolName = tool.name
        arguments = Set(tool.arguments.map(\.name))
    }

    /// Returns the document of a result or an error with the tool's names in its messages.
    func translated(_ document: JSONValue) -> JSONValue { translated(document, at: []) }

    /// The members with sentences of rainctl.
    private static let sentences: Set<[String]> = [
        ["error", "message"], ["message"], ["nodes", "message"], ["warnings", "message"],
    ]

    private func translated(_ value: JSONValue, at path: [String]) -> JSONValue {
        switch value {
        case .string(let text) where Self.sentences.contains(path): .string(translated(text))
        case .array(let elements): .array(elements.map { translated($0, at: path) })
        case .object(let members) where path.count < 2:
            .object(members.map { .init($0.name, translated($0.value, at: path + [$0.name])) })
        default: value
        }
    }

    /// Returns a message with the tool's names. A sentence that is only about an option without an argument is left out.
    func translated(_ message: String) -> String {
        let own = withTools(message)
        let sentences = Self.sentences(of: own)
        let kept = sentences.filter { sentence in
            !Self.words(in: sentence).contains {
                if case .option(let name) = $0.kind { argument(for: name) == nil } else { false }
            }
        }
        // Something has to remain.
        return (kept.isEmpty ? sentences : kept).map(withArguments).joined(separator: " ")
    }

    // MARK: Names

    /// The arguments of tools by the names that commands use. The first that a tool has is the one.
    private static let others: [String: [String]] = [
        "file": ["params_dict"], "group": ["group_id", "room_group_id"], "id": ["schedule_id", "scene_id"],
        "node": ["node_id", "device_node_id"], "nodes": ["node_id", "device_node_id", "add_nodes"],
        "parent": ["parent_group_id"], "path": ["params"], "paths": ["params"], "path=value": ["params_dict"],
        "timeout": ["seconds"], "type": ["group_type"], "values": ["params_dict"],
    ]

    private func argument(for option: String) -> String? {
        let same = option.replacing("-", with: "_")
        if arguments.contains(same) { return same }
        return Self.others[option]?.first { arguments.contains($0) }
    }

    /// The options of the server. A message may name them: the user starts the server.
    static let startOptions = options(of: MCPCommand.self).subtracting([
        "compact", "help", "json", "no-input", "quiet", "version",
    ])

    /// The options of all commands.
    static let options: Set<String> = {
        func all(_ command: any ParsableCommand.Type) -> Set<String> {
            let below = command.configuration.subcommands
            return below.isEmpty ? options(of: command) : below.reduce(into: []) { $0.formUnion(all($1)) }
        }
        return all(Rainctl.self)
    }()

    private static func options(of command: any ParsableCommand.Type) -> Set<String> {
        let help = (try? JSONValue(parsing: Array(command._dumpHelp().utf8))) ?? .null
        let names = (help["command"]?["arguments"]?.array ?? []).flatMap { $0["names"]?.array ?? [] }
        return Set(names.compactMap { $0["kind"] == "long" ? $0["name"]?.string : nil })
    }

    /// Methods with a dot in their names, such as `node.rename`, and commands, such as `rainctl node list`.
    private static let methods = ServedMethod.commandNames.filter { $0.contains(".") }.sorted {
        $0.utf8.count > $1.utf8.count
    }
    private static let tools: [(command: String, tool: String)] = [
        ("node list", "get_nodes"), ("node config", "get_node_config"), ("node params get", "get_params"),
        ("node params set", "set_params"), ("node history", "get_history"), ("node schedule list", "get_schedules"),
        ("node scene list", "get_scenes"), ("node show", "get_node_details"), ("node status", "get_node_status"),
        ("group list", "get_group_details"), ("group show", "get_group_details"),
        ("automation list", "get_automations"),
        ("device discover", "discover_boards"),
    ]

    private func withTools(_ message: String) -> String {
        var text = message
        for method in Self.methods where text.contains(method) {
            text = Self.replacing(method, with: toolName, in: text)
        }
        for (command, tool) in Self.tools where text.contains("rainctl \(command)") {
            text = Self.replacing("rainctl \(command)", with: tool, in: text)
        }
        return text
    }

    /// Replaces whole words.
    private static func replacing(_ name: String, with other: String, in text: String) -> String {
        var result = ""
        var rest = text[...]
        while let found = rest.firstRange(of: name) {
            let before = found.lowerBound == text.startIndex ? nil : text[text.index(before: found.lowerBound)]
            let after = rest[found.upperBound...].prefix(2)
            let continues =
                after.first.map(isOfName) ?? false
                || after.first == "." && after.dropFirst().first.map(isOfName) ?? false
            let isWord = !(before.map { isOfName($0) || $0 == "." } ?? false) && !continues
            result += rest[..<found.lowerBound] + (isWord ? other : name)
            rest = rest[found.upperBound...]
        }
        return result + rest
    }

    private static func isOfName(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_" || character == "-"
    }

    // MARK: Words of the command line in a sentence

    private struct Word {
        enum Kind { case option(String), placeholder(String) }
        var kind: Kind
        var range: Range<String.Index>
    }

    /// Returns the options and the placeholders of arguments: `--since`, `--since <time>` and `<node>`. Options of the server are left out.
    private static func words(in text: String) -> [Word] {
        var words: [Word] = []
        for match in text.matches(
            of: /(?:--(?<option>[a-z][a-z0-9_-]*)(?: <[^<>]{1,40}>)?)|(?:<(?<value>[a-z][a-z=_-]*)>)/)
        {
            if let option = match.output.option.map({ String($0) }) {
                let before =
                    match.range.lowerBound == text.startIndex ? nil : text[text.index(before: match.range.lowerBound)]
                if before.map(isOfName) != true, options.contains(option), !startOptions.contains(option) {
                    words.append(Word(kind: .option(option), range: match.range))
                }
            } else if let value = match.output.value {
                words.append(Word(kind: .placeholder(String(value)), range: match.range))
            }
        }
        return words
    }

    private func withArguments(_ sentence: String) -> String {
        var text = sentence
        for word in Self.words(in: sentence).reversed() {
            switch word.kind {
            case .option(let name):
                text.replaceSubrange(word.range, with: argument(for: name) ?? name.replacing("-", with: "_"))
            case .placeholder(let name):
                if let argument = argument(for: name) { text.replaceSubrange(word.range, with: argument) }
            }
        }
        return text
    }

    private static func sentences(of text: String) -> [String] {
        var sentences: [String] = []
        var rest = text[...]
        while let end = rest.firstRange(of: /[.?!] (?=[A-Z(])/) {
            sentences.append(String(rest[..<rest.index(before: end.upperBound)]))
            rest = rest[end.upperBound...]
        }
        return sentences + [String(rest)]
    }
}
