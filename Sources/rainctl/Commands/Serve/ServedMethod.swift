// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainJSON
import RainKit
import Synchronization

/// A command as a method of `rainctl serve`: `node params set` is `node.params.set`.
///
/// The members of `params` are the command's options and arguments, as the argument parser describes them. A new command is a method
/// without more work, unless ``excluded`` names it.
struct ServedMethod: Sendable {
    let name: String
    let summary: String
    let members: [Member]
    /// The members with the secrets of files as members of their own.
    let allMembers: [Member]
    /// The words of the command: `node`, `params`, `set`.
    let words: [String]
    /// The command, which the words of the method name.
    let command: any ParsableCommand.Type

    struct Member: Sendable {
        enum Kind: String, Sendable { case boolean, string, strings, json, values, secret }

        let name: String
        let kind: Kind
        let isRequired: Bool
        /// The only values that it may have, if they are known.
        let values: [String]?
        let help: String
        /// Empty for an argument without a name.
        fileprivate let option: String
        /// The flag that `false` gives; nil if it gives nothing.
        fileprivate var opposite: String?
    }

    /// The commands that are not methods, and the reason for each.
    static let excluded: [String: String] = [
        "account.callback": "the desktop runs this command to finish a waiting sign-in",
        "account.curl": "it starts curl, which writes to standard output",
        "account.fetch": "its result is a file's bytes, not a document",
        "account.header": "its result is a secret for a pipe, not a document",
        "account.token": "its result is a secret for a pipe, not a document",
        "bridge": "it runs until somebody stops it",
        "mcp": "it is a server of its own",
        "serve": "it is the server itself",
        "station": "it is a server of its own",
    ]

    /// The options of a run that a server decides.
    private static let ownOptions: Set = [
        "help", "json", "log-file", "log-format", "no-input", "quiet", "v", "version",
    ]
    /// Options that need a terminal or the standard streams.
    private static let terminalOptions: Set = ["paste", "raw"]

    /// The secrets that a command reads from a file, by the beginnings of the options' names. Files whose paths are kept, such as a client's
    /// secret, remain files.
    private static let secrets: Set = [
        "ap-password", "assertion", "code", "gate-password", "new-password", "passphrase", "password", "pop",
        "third-party-token",
    ]

    /// The arguments without a name that are JSON. The argument parser describes their names and help, but not their types.
    private static let jsonArguments: Set = ["account.data.set.value"]

    private static func words(_ name: String) -> [String] {
        name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    /// The names of all commands that do something, in the order of the help.
    static let commandNames: [String] = {
        func names(_ command: any ParsableCommand.Type, _ path: [String]) -> [String] {
            let below = command.configuration.subcommands
            guard !below.isEmpty else { return [path.joined(separator: ".")] }
            return below.flatMap { names($0, path + [NamedCommand.name(of: $0)]) }
        }
        return names(Rainctl.self, [])
    }()

    static var all: [ServedMethod] { commandNames.compactMap { described($0) } }

    private static let known = Set(commandNames)
    private static let descriptions = Mutex<[String: ServedMethod]>([:])

    /// Returns the method of a command; nil for one that is not offered. Describing a command takes time, so it is done once.
    private static func described(_ name: String) -> ServedMethod? {
        guard known.contains(name), excluded[name] == nil else { return nil }
        if let method = descriptions.withLock({ $0[name] }) { return method }
        let method = ServedMethod(name)
        descriptions.withLock { $0[name] = method }
        return method
    }

    static func named(_ name: String) throws(RPCError) -> ServedMethod {
        if let method = described(name) { return method }
        if let reason = excluded[name] {
            throw RPCError(
                .noSuchMethod,
                CommandFailure(.usage, reason: "not_served", message: "\(name) is not a method: \(reason)."))
        }
        let words = words(name)
        let suggestion = CommandSuggestion.sentence(for: words)
        throw RPCError(
            .noSuchMethod,
            CommandFailure(
                .usage, reason: "no_such_command",
                message: suggestion
                    ?? "There is no method \"\(name.onOneLine)\". The method \"methods\" lists all methods."))
    }
}

// MARK: From the argument parser's description

extension ServedMethod {
    private struct Tool: Decodable { var command: Description }
    private struct Description: Decodable {
        var abstract: String?
        var arguments: [Argument]?
    }
    private struct Argument: Decodable {
        struct Name: Decodable {
            var kind: String
            var name: String
        }
        var kind: String
        var isOptional: Bool
        var isRepeating: Bool
        var names: [Name]?
        var valueName: String?
        var allValues: [String]?
        var abstract: String?

        /// The first name of two dashes; empty for an argument without a name.
        var option: String { names?.first { $0.kind == "long" }?.name ?? names?.first?.name ?? "" }
    }

    fileprivate init(_ name: String) {
        self.name = name
        words = Self.words(name)
        command = NamedCommand(words).command
        let text = Array(command._dumpHelp().utf8)
        let tool: Tool
        do throws(JSONError) {
            tool = try JSONCoder.decode(Tool.self, from: text)
        } catch {
            preconditionFailure("the argument parser describes \(name) in another form: \(error)")
        }
        summary = tool.command.abstract ?? ""
        let arguments = tool.command.arguments ?? []
        let options = Set(arguments.map(\.option))
        members = arguments.compactMap { Self.member(of: $0, beside: options, in: name) }
        allMembers = Self.withSecrets(members)
    }

    /// Returns the member for an argument; nil for one that clients do not give.
    private static func member(
        of argument: Argument, beside options: Set<String>, in command: String
    ) -> Member? {
        let option = argument.option
        if ownOptions.contains(option) || terminalOptions.contains(option) { return nil }
        // A secret comes as a member instead, so its file is only another way. Standard input carries the requests.
        if secrets.contains(where: { option == "\($0)-stdin" }) { return nil }
        if secrets.contains(option), options.contains("\(option)-file") { return nil }
        let help = argument.abstract ?? ""
        func member(_ name: String, _ kind: Member.Kind) -> Member {
            Member(
                name: name.replacing("-", with: "_"), kind: kind,
                isRequired: !argument.isOptional && argument.kind != "flag", values: argument.allValues, help: help,
                option: option, opposite: options.contains("no-\(option)") ? "no-\(option)" : nil)
        }
        if argument.kind == "flag" { return member(option, .boolean) }
        let value = argument.valueName ?? ""
        if argument.kind == "positional" {
            if value.contains("=") { return member("values", .values) }
            if argument.isRepeating { return member("\(value)s", .strings) }
            return member(value, jsonArguments.contains("\(command).\(value)") ? .json : .string)
        }
        if argument.isRepeating { return member(option, .strings) }
        return member(option, value == "json" ? .json : .string)
    }

    private static func withSecrets(_ members: [Member]) -> [Member] {
        members.flatMap { member -> [Member] in
            guard let secret = secret(ofFile: member.option) else { return [member] }
            let own = Member(
                name: secret.replacing("-", with: "_"), kind: .secret, isRequired: false, values: nil,
                help: member.help.replacing(" from a file", with: "").replacing("Read ", with: "Use "),
                option: member.option)
            return [own, member]
        }
    }

    /// The secret of an option such as `passphrase-file`; nil for other options.
    static func secret(ofFile option: String) -> String? {
        guard option.hasSuffix("-file") else { return nil }
        let name = String(option.dropLast("-file".count))
        return secrets.contains(name) ? name : nil
    }
}

// MARK: From params to arguments

extension ServedMethod {
    /// The arguments of a call, and its secrets by the members' names.
    struct Given: Sendable {
        var arguments: [String] = []
        var secrets: [String: Secret] = [:]
    }

    /// Turns params into the command's arguments.
    ///
    /// - Throws: `bad_params` for a member that the method does not have, or with a value of another type. Values are not repeated in
    ///   messages, because they may be secrets.
    func given(_ params: [JSONValue.Member]) throws(CommandFailure) -> Given {
        var given = Given()
        var operands: [String] = []
        var lacking: String?
        if let odd = params.first(where: { param in !allMembers.contains { $0.name == param.name } }) {
            throw Self.failure(refusal(of: odd.name))
        }
        for member in allMembers {
            // If a name is repeated, the last value counts, as in JSON elsewhere.
            let value = params.last { $0.name == member.name }?.value.unlessNull
            guard let value else {
                if member.option.isEmpty { lacking = lacking ?? member.name }
                continue
            }
            if member.kind == .secret {
                guard let text = value.string else { throw wrongType(member, value) }
                given.secrets[member.name] = Secret(text)
                given.arguments.append("--\(member.option)=\(ServedRequest.path(ofMember: member.name))")
                continue
            }
            if member.kind == .boolean {
                guard let isOn = value.bool else { throw wrongType(member, value) }
                if isOn { given.arguments.append("--\(member.option)") }
                if !isOn, let opposite = member.opposite { given.arguments.append("--\(opposite)") }
                continue
            }
            let texts = try texts(of: member, value)
            if member.option.isEmpty {
                // Arguments without names are known by their order.
                if let lacking, !texts.isEmpty {
                    throw Self.failure("\(name): \(member.name) also needs \(lacking).")
                }
                operands += texts
            } else {
                given.arguments += texts.map { "--\(member.option)=\($0)" }
            }
        }
        if !operands.isEmpty { given.arguments += ["--"] + operands }
        return given
    }

    private func texts(of member: Member, _ value: JSONValue) throws(CommandFailure) -> [String] {
        let texts: [String]
        switch (member.kind, value) {
        case (.strings, .array(let elements)), (.values, .array(let elements)):
            var all: [String] = []
            for element in elements {
                guard let text = element.plain else { throw wrongType(member, element) }
                all.append(text)
            }
            texts = all
        case (.values, .object(let members)):
            texts = members.map { "\($0.name)=\($0.value.string ?? RPCText.json($0.value))" }
        case (.json, .object), (.json, .array), (.json, .bool): texts = [RPCText.json(value)]
        case (.string, .bool(true)) where member.values?.count == 1: texts = member.values ?? []
        default:
            guard let text = value.plain else { throw wrongType(member, value) }
            texts = [text]
        }
        guard !texts.contains(where: { $0.utf8.contains(0) }) else {
            throw Self.failure("\(name): \(member.name) contains a NUL character.")
        }
        return texts
    }

    private func refusal(of member: String) -> String {
        let shown = member.onOneLine
        let option = member.replacing("_", with: "-")
        if Self.ownOptions.contains(option) { return "\(name): \(shown) is an option of the server, not of a request." }
        if Self.terminalOptions.contains(option) {
            return "\(name): \(shown) needs a terminal, which requests do not have."
        }
        if option.hasSuffix("-stdin"), let secret = Self.secret(ofFile: option.dropLast("stdin".count) + "file") {
            return "\(name): give the secret as the member \(secret.replacing("-", with: "_"))."
        }
        let known = allMembers.map(\.name).sorted().joined(separator: ", ")
        return "\(name) has no member \"\(shown)\". It has: \(known)."
    }

    private func wrongType(_ member: Member, _ value: JSONValue) -> CommandFailure {
        let wanted =
            switch member.kind {
            case .boolean: "true or false"
            case .string: "a string or a number"
            case .strings: "an array of strings"
            case .json: "a JSON value, or its text"
            case .values: "an object of values, or an array of strings"
            case .secret: "a string"
            }
        return Self.failure("\(name): \(member.name) must be \(wanted), but is \(value.kind).")
    }

    private static func failure(_ message: String) -> CommandFailure {
        CommandFailure(.usage, reason: "bad_params", message: message)
    }
}

extension JSONValue {
    /// The text of a string or a number, as an argument has it.
    fileprivate var plain: String? {
        switch self {
        case .string(let text): text
        case .integer, .number, .longNumber: RPCText.json(self)
        default: nil
        }
    }
}
