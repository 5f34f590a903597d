// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit
import TestSupport
import Testing

@testable import rainctl

@Suite("Options of every command, before the command")
struct OptionsBeforeCommandTests {
    /// Each option in each form, the next words as the same option, and whether a parsed command has it.
    private static let forms: [(words: [String], isSet: @Sendable (GlobalOptions) -> Bool)] = [
        (["--json"], { $0.json }), (["--compact"], { $0.compact }), (["--quiet"], { $0.quiet }), (["-q"], { $0.quiet }),
        (["-v"], { $0.verbosity == 1 }),
        (["-vv"], { $0.verbosity == 2 }), (["-qv"], { $0.quiet && $0.verbosity == 1 }),
        (["--no-input"], { $0.noInput }),
        (["--log-file", "list"], { $0.logFile == "list" }), (["--log-file=a"], { $0.logFile == "a" }),
        (["--log-file", "-"], { $0.logFile == "-" }),
        (["--log-format", "json"], { $0.logFormat == .json }), (["--log-format=json"], { $0.logFormat == .json }),
        (["--profile", "node"], { $0.profile == "node" }), (["--profile=a=b"], { $0.profile == "a=b" }),
        (["--account", "me"], { $0.account == "me" }), (["--account=me"], { $0.account == "me" }),
        (["--ca-file", "a"], { $0.caFile == "a" }), (["--ca-file=a"], { $0.caFile == "a" }),
    ]

    private func options(_ words: [String]) throws -> GlobalOptions {
        let command = try #require(NamedCommand(words).parsed(), "\(words)")
        return try #require(command as? NodeList, "\(words): \(command)").options
    }

    @Test("each works before the command, between its names, and after it", arguments: Self.forms.indices)
    func places(index: Int) throws {
        let (words, isSet) = Self.forms[index]
        #expect(try !isSet(options(["node", "list"])))
        for line in [words + ["node", "list"], ["node"] + words + ["list"], ["node", "list"] + words] {
            #expect(try isSet(options(line)), "\(line)")
        }
    }

    @Test("the tested options are all that every command has")
    func complete() throws {
        let description = try JSONCoder.decode(
            ProgramDescription.self, from: Array(RootWithOptions._dumpHelp().utf8),
            limits: JSONLimits(maximumBytes: 16 << 20, maximumValues: 1_000_000))
        let all = description.command.shownArguments.filter { $0.section == "Everywhere" }
        let tested = Set(Self.forms.flatMap { $0.words.prefix(1) }.map { String($0.prefix { $0 != "=" }) })
        #expect(all.count == 10)
        for option in all {
            for name in try #require(option.names) { #expect(tested.contains(name.text), "\(name.text)") }
        }
    }

    @Test("--help and --version are answered without parsing, with the parser's text")
    func helpAndVersion() throws {
        func parsed(_ named: NamedCommand) -> String? {
            do {
                var help = try named.root.parseAsRoot(named.arguments)
                try help.run()
                return nil
            } catch {
                return HelpText.arranged(named.root.fullMessage(for: error)) + "\n"
            }
        }
        func check(_ path: [String]) {
            for option in ["--help", "-h"] {
                let named = NamedCommand(path + [option])
                #expect(named.helpOrVersion == parsed(named), "\(path)")
                #expect(named.helpOrVersion?.contains("USAGE:") == true, "\(path)")
            }
            for command in NamedCommand(path).command.configuration.subcommands {
                check(path + [NamedCommand.name(of: command)])
            }
        }
        check([])
        let version = NamedCommand(["--version"])
        #expect(version.helpOrVersion == parsed(version))
        #expect(NamedCommand(["node", "--version"]).helpOrVersion == nil)
        #expect(NamedCommand(["--json", "--help"]).helpOrVersion == nil)
    }

    @Test("every command is found by its name, and a command that does something has the configuration of a leaf")
    func names() {
        func check(_ command: any ParsableCommand.Type, _ path: [String]) {
            let found = NamedCommand(path)
            #expect(found.command == command && found.rest.isEmpty, "\(path)")
            let below = command.configuration.subcommands
            #expect(found.isGroup == !below.isEmpty, "\(path)")
            #expect((command.configuration._superCommandName == nil) == !below.isEmpty, "\(path)")
            for next in below { check(next, path + [NamedCommand.name(of: next)]) }
        }
        check(Rainctl.self, [])
        #expect(NamedCommand(["node", "lists"]).rest == ["lists"])
    }

    @Test("several of them, with options of the command after it")
    func several() throws {
        let line = ["--json", "--profile", "lab", "-v", "node", "--account=me", "list", "-v", "--timeout", "5"]
        let options = try options(line)
        #expect(options.json && options.profile == "lab" && options.account == "me" && options.verbosity == 2)
    }

    @Test(
        "nothing else is moved: the parser reports it as it does after the command",
        arguments: [
            "--timeout 5 node list", "-- --json node list", "--json -- node list", "--profile --json node list",
            "--profil lab node list", "-x node list", "--json=yes node list", "-jq node list",
        ])
    func others(line: String) {
        let words = line.split(separator: " ").map(String.init)
        let named = NamedCommand(words)
        #expect(named.parsed() == nil)
        #expect(throws: (any Error).self) { try named.root.parseAsRoot(named.arguments) }
    }

    @Test("arguments after -- stay there")
    func terminator() throws {
        let command = try #require(
            NamedCommand(["--json", "account", "curl", "--", "--profile", "x", "/v1/user2"]).parsed() as? AccountCurl)
        #expect(command.options.json && command.options.profile == nil)
    }

    @Test(
        "a wrong command after them is reported as without them",
        arguments: [
            ("--json provison", "rainctl provision"), ("--profile lab node lst", "rainctl node list"),
            ("-q help provison", "rainctl help provision"), ("node --json lst", "rainctl node list"),
        ])
    func suggestion(line: String, meant: String) {
        let sentence = CommandSuggestion.sentence(for: line.split(separator: " ").map(String.init))
        #expect(sentence?.hasSuffix(" Did you mean: \(meant)?") == true, "\(sentence ?? "nothing")")
    }

    @Test(
        "help, a version and a group by itself ignore them, unless a document is requested",
        arguments: [
            "--profile lab", "--profile lab --help", "--profile lab node", "--profile lab node --help", "-q help node",
            "--json --help", "--json node --help", "--json help node list", "--profile lab --version",
        ])
    func help(line: String) {
        let named = NamedCommand(line.split(separator: " ").map(String.init))
        #expect(!named.lacksCommand)
        let request = #expect(throws: (any Error).self) {
            var command = try named.root.parseAsRoot(named.arguments)
            try command.run()
        }
        #expect(request.map { Rainctl.exitCode(for: $0) } == .success, "\(line)")
    }

    @Test(
        "a document of no command is a usage error", arguments: ["--json", "node --json", "--json node", "--json -q"])
    func document(line: String) {
        let named = NamedCommand(line.split(separator: " ").map(String.init))
        #expect(named.lacksCommand && CommandSuggestion.missingCommand(named).status == .usage)
    }

    @Test(
        "quiet in every form",
        arguments: [("-q", true), ("-vq", true), ("--quiet", true), ("-v", false), ("-- -q", false)])
    func quiet(line: String, isQuiet: Bool) {
        #expect(GlobalOptions.areQuiet(line.split(separator: " ").map(String.init)) == isQuiet)
    }
}
