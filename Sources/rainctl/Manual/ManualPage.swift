// SPDX-License-Identifier: Apache-2.0
import RainCore

/// The manual page of one command, in mdoc(7).
struct ManualPage {
    let program: ManualProgram
    let command: CommandDescription
    /// The release's day, such as `November 25, 2026`.
    let date: String
    /// Such as `0.3.0`.
    let version: String

    /// The pages of a command and of all commands below it, by the names of their files.
    static func all(
        of command: CommandDescription, program: ManualProgram, date: String, version: String
    ) -> [(file: String, text: String)] {
        let page = ManualPage(program: program, command: command, date: date, version: version)
        return [("\(page.name).1", page.text)]
            + command.shownSubcommands.flatMap { all(of: $0, program: program, date: date, version: version) }
    }

    /// The page's name. man(1) looks for hyphens: `man rainctl node list` opens `rainctl-node-list`.
    private var name: String { command.names.joined(separator: "-") }
    private var isProgram: Bool { command.names.count == 1 }
    private var isHelp: Bool { command.names.count == 2 && command.commandName == "help" }

    var text: String {
        var page = MdocText()
        page.prologue(date: date, title: name.uppercased(), system: "RainKit", version: version)
        page.section("NAME")
        page.macro("Nm", name)
        page.macro("Nd", abstract.hasSuffix(".") ? String(abstract.dropLast()) : abstract)
        synopsis(&page)
        page.section("DESCRIPTION")
        page.prose(abstract.asSentence)
        let more = isHelp ? [Self.aboutTopics] : isProgram && program == .rainctl ? [Self.aboutPages] : []
        for paragraph in command.paragraphs + more {
            page.macro("Pp")
            page.prose(paragraph)
        }
        arguments(&page)
        options(&page)
        commands(&page)
        environment(&page)
        files(&page)
        exitStatus(&page)
        examples(&page)
        seeAlso(&page)
        return page.text
    }

    private static let aboutTopics =
        "Without an argument, this command lists all commands. The topics are: "
        + "\(HelpTopic.allCases.map(\.rawValue).joined(separator: ", "))."

    private static let aboutPages =
        "Every command has its own page: man rainctl node list opens the page of node list. rainctl node list --help prints less text."

    /// The parser's own command has no text.
    private var abstract: String {
        isHelp ? "Show the help of a command, or a topic." : command.abstract ?? command.commandName
    }

    // MARK: Sections

    private func synopsis(_ page: inout MdocText) {
        page.section("SYNOPSIS")
        page.macro("Nm", command.names.joined(separator: " "))
        for argument in ordered { page.line(argument.synopsis) }
        if !command.shownSubcommands.isEmpty {
            page.macro("Ar", "command")
            page.line([.macro("Op"), .macro("Ar"), .word("argument"), .word("...")])
        }
    }

    /// The arguments first, then the command's own options, then those of every command.
    private var ordered: [ArgumentDescription] {
        let all = command.shownArguments.filter { !$0.isBuiltIn }
        return all.filter { $0.kind != .positional && $0.section != Self.everywhere }
            + all.filter { $0.section == Self.everywhere } + all.filter { $0.kind == .positional }
    }

    private static let everywhere = "Everywhere"

    private func arguments(_ page: inout MdocText) {
        let positional = command.shownArguments.filter { $0.kind == .positional }
        guard !positional.isEmpty, !isHelp else { return }
        page.section("ARGUMENTS")
        list(positional, &page)
    }

    private func options(_ page: inout MdocText) {
        let all = command.shownArguments.filter { $0.kind != .positional }
        var titles: [String] = []
        for title in all.compactMap(\.section) where !titles.contains(title) { titles.append(title) }
        titles = titles.filter { $0 != Self.everywhere } + titles.filter { $0 == Self.everywhere }
        let own = all.filter { $0.section == nil && !$0.isBuiltIn }
        let builtIn = all.filter(\.isBuiltIn)
        guard !all.isEmpty else { return }
        page.section("OPTIONS")
        let hasEverywhere = titles.contains(Self.everywhere)
        let first = own + (hasEverywhere ? [] : builtIn)
        if !first.isEmpty { list(first, &page) }
        for title in titles {
            page.macro("Ss", title)
            if isProgram, title == Self.everywhere {
                page.prose("Every command has these options. Write them before or after the command.")
            }
            list(all.filter { $0.section == title } + (title == Self.everywhere ? builtIn : []), &page)
        }
    }

    private func list(_ arguments: [ArgumentDescription], _ page: inout MdocText) {
        page.list(width: "Ds") { page in
            for argument in arguments.joiningOpposites {
                page.line([.macro("It")] + argument.label)
                if let abstract = argument.abstract { page.prose(abstract.asSentence) }
                if !argument.isListing(argument.values) {
                    page.prose("Possible values: \(argument.values.joined(separator: ", ")).")
                }
                if let standard = argument.standard { page.prose("Default: \(standard).") }
                if argument.isRepeating, argument.kind == .option, argument.abstract?.contains("epeat") != true {
                    page.prose("You can give this option several times.")
                }
            }
        }
    }

    private func commands(_ page: inout MdocText) {
        guard !command.shownSubcommands.isEmpty else { return }
        page.section("COMMANDS")
        page.list(width: "Ds") { page in
            for subcommand in command.shownSubcommands {
                let below = ManualPage(program: program, command: subcommand, date: date, version: version)
                page.line([.macro("It"), .macro("Cm"), .word(subcommand.commandName)])
                page.prose(below.abstract.asSentence)
                page.prose("See")
                page.line([.macro("Xr"), .word(below.name), .word("1"), .punctuation(".")])
            }
        }
    }

    private func environment(_ page: inout MdocText) {
        let entries = program.environment(of: command)
        guard !entries.isEmpty else { return }
        page.section("ENVIRONMENT")
        page.entries(entries)
        refer(to: "all variables", &page)
    }

    private func files(_ page: inout MdocText) {
        let entries = program.files(of: command)
        guard !entries.isEmpty else { return }
        page.section("FILES")
        page.entries(entries)
        refer(to: "all files", &page)
    }

    private func exitStatus(_ page: inout MdocText) {
        page.section("EXIT STATUS")
        page.entries(program.exitCodes(of: command))
        refer(to: "all exit codes", &page)
    }

    /// A command's page has what concerns the command, and the program's page has everything.
    private func refer(to all: String, _ page: inout MdocText) {
        guard program == .rainctl, !isProgram else { return }
        page.macro("Pp")
        page.line([.macro("Xr"), .word("rainctl"), .word("1")])
        page.prose("lists \(all).")
    }

    /// A group has an example of each of its first commands.
    private func examples(_ page: inout MdocText) {
        let lines = isHelp ? ["rainctl help node list", "rainctl help exit-codes"] : Self.examples(of: command)
        guard !lines.isEmpty else { return }
        page.section("EXAMPLES")
        page.literal(lines)
    }

    private static func examples(of command: CommandDescription) -> [String] {
        if !command.examples.isEmpty { return command.examples }
        return command.shownSubcommands.prefix(5).compactMap { examples(of: $0).first }
    }

    private func seeAlso(_ page: inout MdocText) {
        let parents = command.names.indices.dropFirst().map { command.names[..<$0].joined(separator: "-") }
        let below = command.shownSubcommands.map { $0.names.joined(separator: "-") }
        let pages = Set(parents + below + program.seeAlso).subtracting([name]).sorted()
        guard !pages.isEmpty else { return }
        page.section("SEE ALSO")
        for (index, other) in pages.enumerated() {
            let isLast = index == pages.count - 1
            page.line([.macro("Xr"), .word(other), .word("1")] + (isLast ? [] : [.punctuation(",")]))
        }
    }
}

extension [ArgumentDescription] {
    /// The arguments, in which a flag and its opposite (`--no-…`) with the same description are one.
    fileprivate var joiningOpposites: [ArgumentDescription] {
        reduce(into: []) { result, argument in
            guard let last = result.last, last.kind == .flag, argument.kind == .flag,
                let name = last.names?.first?.text,
                last.abstract == argument.abstract, argument.names?.first?.text == "--no-\(name.dropFirst(2))"
            else { return result.append(argument) }
            result[result.count - 1].names? += argument.names ?? []
        }
    }
}

extension ArgumentDescription {
    /// Whether the description has all these values already.
    fileprivate func isListing(_ values: [String]) -> Bool {
        let words = Set((abstract ?? "").split { " ,.:;()".contains($0) })
        return values.allSatisfy { words.contains($0[...]) }
    }

    /// The argument in a synopsis, in brackets if it may be omitted.
    fileprivate var synopsis: [MdocText.Part] {
        let more: [MdocText.Part] = isRepeating ? [.macro("No"), .word("...")] : []
        guard kind != .positional else {
            let terminator: [MdocText.Part] = isAfterTerminator ? [.macro("Fl"), .word("-")] : []
            return terminator + (isOptional ? [.macro("Op")] : []) + [.macro("Ar"), .word(value ?? "")] + more
        }
        let first = (names ?? []).filter { !$0.text.contains("_") }
        return (isOptional ? [.macro("Op")] : []) + forms(of: first, separator: .punctuation("|")) + more
    }

    /// All names, and the value. A synopsis omits second spellings with underscores.
    fileprivate var label: [MdocText.Part] {
        kind == .positional ? [.macro("Ar"), .word(value ?? "")] : forms(of: names ?? [], separator: .punctuation(","))
    }

    private func forms(of names: [Name], separator: MdocText.Part) -> [MdocText.Part] {
        let flags = names.sorted { ($0.text.count, $0.text) < ($1.text.count, $1.text) }.map { name in
            [MdocText.Part.macro("Fl"), .word(String(name.text.dropFirst()))]
        }
        let value = value.map { [MdocText.Part.macro("Ar"), .word($0)] } ?? []
        return Array(flags.joined(separator: [separator])) + value
    }
}
