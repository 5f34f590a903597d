// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

/// What every command says about itself, kept word for word: a change of the interface shows in review.
///
/// What holds of a command's snapshot holds of the command, which prints it. `RAINKIT_RECORD=1 swift test --filter HelpTests` writes the files anew.
@Suite("rainctl --help")
struct HelpTests {
    static let commands: [[String]] = [
        [], ["login"], ["logout"], ["whoami"], ["provision"], ["device"], ["device", "discover"], ["device", "info"],
        ["device", "scan"], ["device", "claim"], ["device", "reset"], ["device", "monitor"], ["device", "send"],
        ["device", "params"], ["device", "params", "get"], ["device", "params", "set"],
        ["node"],
        ["node", "list"], ["node", "show"], ["node", "status"],
        ["node", "config"], ["node", "params"], ["node", "params", "get"], ["node", "params", "set"],
        ["node", "rename"],
        ["node", "remove"], ["node", "tags"], ["node", "tags", "add"], ["node", "tags", "remove"],
        ["node", "metadata"], ["node", "metadata", "get"], ["node", "metadata", "set"], ["node", "metadata", "delete"],
        ["node", "schedule"], ["node", "schedule", "list"], ["node", "schedule", "add"], ["node", "schedule", "edit"],
        ["node", "schedule", "remove"], ["node", "schedule", "enable"], ["node", "schedule", "disable"],
        ["node", "scene"], ["node", "scene", "list"], ["node", "scene", "add"], ["node", "scene", "edit"],
        ["node", "scene", "remove"], ["node", "scene", "activate"],
        ["node", "share"], ["node", "share", "list"], ["node", "share", "requests"], ["node", "share", "add"],
        ["node", "share", "remove"], ["node", "share", "accept"], ["node", "share", "decline"],
        ["node", "share", "cancel"], ["node", "command"], ["node", "command", "send"], ["node", "command", "result"],
        ["node", "ota"], ["node", "watch"],
        ["group"], ["group", "list"], ["group", "show"], ["group", "add"], ["group", "edit"], ["group", "remove"],
        ["group", "add-nodes"], ["group", "remove-nodes"], ["group", "share"], ["group", "share", "list"],
        ["group", "share", "requests"], ["group", "share", "add"], ["group", "share", "remove"],
        ["group", "share", "accept"], ["group", "share", "decline"], ["group", "share", "cancel"],
        ["automation"], ["automation", "list"], ["automation", "add"], ["automation", "edit"],
        ["automation", "remove"],
        ["qr"], ["qr", "show"], ["qr", "read"], ["doctor"],
        ["profile"],
        ["profile", "list"], ["profile", "add"],
        ["profile", "use"], ["profile", "show"], ["profile", "remove"],
        ["account"], ["account", "curl"], ["account", "header"], ["account", "list"], ["account", "providers"],
        ["account", "refresh"], ["account", "exchange"], ["account", "web-session"], ["account", "fetch"],
        ["account", "status"], ["account", "token"], ["account", "use"], ["account", "import"], ["account", "export"],
        ["account", "signup"], ["account", "confirm"], ["account", "resend"], ["account", "update"],
        ["account", "password"], ["account", "password", "change"], ["account", "password", "reset"],
        ["account", "data"], ["account", "data", "get"], ["account", "data", "set"], ["account", "data", "remove"],
        ["account", "convert"], ["account", "delete"], ["account", "versions"],
    ]

    static func snapshot(_ command: [String]) -> String {
        Repository.path("Tests/rainctlTests/Snapshots/\((["rainctl"] + command).joined(separator: "-")).txt")
    }

    private static func help(_ command: [String]) async throws -> FinishedProcess {
        try await run(Executables.path("rainctl"), command + ["--help"], environment: ["COLUMNS": "80"])
    }

    @Test("the help of each command is the one that was agreed", arguments: commands)
    func snapshot(command: [String]) async throws {
        let finished = try await Self.help(command)
        #expect(finished.status == .exited(0))
        #expect(finished.standardError.isEmpty)
        if currentEnvironment()["RAINKIT_RECORD"] == "1" {
            let stream = try #require(fopen(Self.snapshot(command), "we"))
            fputs(finished.standardOutput, stream)
            fclose(stream)
        }
        #expect(try finished.standardOutput == readFile(Self.snapshot(command)))
    }

    /// Commands that hold others and do nothing themselves.
    static let groups: [[String]] = [
        [], ["account"], ["account", "data"], ["account", "password"], ["device"], ["device", "params"], ["node"],
        ["node", "params"],
        ["node", "tags"], ["node", "metadata"], ["node", "schedule"], ["node", "scene"], ["node", "share"],
        ["node", "command"], ["group"], ["group", "share"], ["automation"], ["qr"], ["profile"],
    ]

    @Test("every command that the help names has a snapshot", arguments: groups)
    func complete(group: [String]) throws {
        let help = try readFile(Self.snapshot(group))
        let list = try #require(
            help.split(separator: "\n").firstIndex { $0.hasPrefix("SUBCOMMANDS:") }.map { start in
                help.split(separator: "\n")[(start + 1)...]
            })
        let named = list.filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") && !$0.contains("See '") }
            .compactMap { $0.split(separator: " ").first.map(String.init) }
        #expect(!named.isEmpty)
        for name in named {
            #expect(Self.commands.contains(group + [name]), "\(name)")
        }
    }

    @Test(
        "every leaf command shows an example",
        arguments: commands.filter { $0.isEmpty || !groups.contains($0) })
    func example(command: [String]) throws {
        #expect(try readFile(Self.snapshot(command)).contains("Example: rainctl"))
    }
}
