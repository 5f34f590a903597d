// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

/// What a shell offers for values of this machine, asked for as the completion scripts do.
@Suite("Completions")
struct CompletionTests {
    private func with(_ body: (Maker, SystemTree) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let tree = try SystemTree(in: folder)
            try tree.addDevice("ttyUSB0", socket: "1-1", vendor: "10c4", product: "ea60")
            try tree.write("", to: "dev/ttyUSB0")
            let maker = try Maker(folder)
            try await maker.signIn(to: try await SimulatedCloud.start(nodes: [], in: folder))
            let added = try await maker.rainctl("profile", "add", "workshop", "--base-url", "http://127.0.0.1:9")
            #expect(added.status == 0, "\(added.standardError)")
            try await body(maker, tree)
        }
    }

    @Test("bash completes commands, transports, ports, files, profiles and accounts")
    func bash() async throws {
        try await with { maker, tree in
            try maker.folder.write("", to: "label.json")
            try await write("bash", in: maker.folder)
            for (line, wanted) in [
                ("rainctl prov", "provision"), ("rainctl provision --port ", tree.port("ttyUSB0")),
                ("rainctl profile use work", "workshop"), ("rainctl node list --profile work", "workshop"),
                ("rainctl profile remove work", "workshop"), ("rainctl profile show work", "workshop"),
                ("rainctl --profile work", "workshop"), ("rainctl --profile workshop node li", "list"),
                ("rainctl completion b", "bash"),
                ("rainctl account use ", SimulatedCloud.user), ("rainctl provision --transport ", "softap"),
                ("rainctl device discover --transport on-", "on-network"),
                ("rainctl provision --qrcode \(maker.folder.file("lab"))", maker.folder.file("label.json")),
            ] {
                let words = line.split(separator: " ", omittingEmptySubsequences: false).map { "'\($0)'" }
                let ask = """
                    source \(maker.folder.file("completion.bash"))
                    COMP_WORDS=(\(words.joined(separator: " "))); COMP_CWORD=\(words.count - 1)
                    COMP_LINE="\(line)"; COMP_POINT=\(line.count)
                    _rainctl rainctl "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
                    printf '%s\\n' "${COMPREPLY[@]}"
                    """
                let offered = try await run("bash", ["-c", ask], environment: try environment(maker, tree))
                #expect(
                    offered.standardOutput.split(separator: "\n").contains { $0.hasPrefix(wanted) },
                    "\(line): \(offered.standardOutput)\(offered.standardError)")
            }
        }
    }

    /// The arguments of the shell, the file that it reads at its start, and the lines of that file.
    private static let shells: [String: (arguments: [String], file: String, lines: String)] = [
        "bash": (
            ["--noprofile", "--rcfile", "SETTINGS", "-i"], "settings.bash",
            "source SCRIPT; bind 'set bell-style none'; PATH='FOLDERS' PS1='ready> '"
        ),
        "zsh": (
            ["-i"], ".zshrc",
            "autoload -Uz compinit; compinit -u -D; source SCRIPT; export PATH='FOLDERS'; PROMPT='ready> '"
        ),
        "fish": (
            ["--init-command", "source SETTINGS"], "settings.fish",
            "source SCRIPT; set fish_autosuggestion_enabled 0; set -gx PATH (string split : 'FOLDERS'); "
                + "function fish_prompt; echo 'ready> '; end"
        ),
    ]

    /// Boards of the account. The shells offer all but the last by name.
    private static let nodes: JSONValue = [
        ["id": "NodeA", "name": "Lamp"], ["id": "NodeB", "name": "Heater"],
        ["id": "WithBlank", "name": "Kitchen lamp"],
        ["id": "Hostile", "name": "x$(touch MARK)"],
    ]

    @Test("bash, zsh and fish complete them at a terminal, and names of boards", arguments: ["bash", "zsh", "fish"])
    func interactive(shell: String) async throws {
        guard access("/usr/bin/\(shell)", X_OK) == 0 else { try Test.cancel("\(shell) is not installed") }
        let start = try #require(Self.shells[shell])
        try await with { maker, tree in
            let folder = maker.folder
            try await write(shell, in: folder)
            let list: JSONValue = [
                "schemaVersion": 1,
                "accounts": [["deployment": "sim", "account": .string(SimulatedCloud.user), "nodes": Self.nodes]],
            ]
            let text = String(decoding: list.serialized(), as: UTF8.self)
            folder.writePrivately(
                Array(text.replacing("MARK", with: folder.file("mark")).utf8), to: "state/rainkit/nodes.json")
            try folder.write("", to: "label.json")
            try folder.write("skip_global_compinit=1\n", to: ".zshenv")
            let environment = try environment(maker, tree)
            let settings = start.lines.replacing("SCRIPT", with: folder.file("completion.\(shell)"))
                .replacing("FOLDERS", with: environment["PATH"] ?? "")
            try folder.write(settings + "\n", to: start.file)
            let terminal = try await TmuxTerminal.start(
                "/usr/bin/\(shell)", start.arguments.map { $0.replacing("SETTINGS", with: folder.file(start.file)) },
                environment: environment.merging(["ZDOTDIR": folder.path, "HOME": folder.path]) { $1 }, columns: 200,
                rows: 60, in: folder)
            try await terminal.asks("ready>")
            // A word with one possible end is completed in its place.
            for (line, wanted) in [
                ("rainctl comple", "completion"), ("rainctl completion fi", "completion fish"),
                ("rainctl --profile workshop node lis", "node list"), ("rainctl --json node lis", "--json node list"),
                ("rainctl profile use work", "use workshop"), ("rainctl --profile work", "--profile workshop"),
                ("rainctl provision --passphrase-f", "--passphrase-file"),
                ("rainctl provision --transport soft", "--transport softap"),
                ("rainctl provision --qrcode ~/lab", "label.json"),
                ("rainctl node show La", "show Lamp"), ("rainctl node params set Hea", "set Heater"),
                ("rainctl on Kit", #"on Kitchen\ lamp"#), ("rainctl node rename Hos", "rename Hostile"),
            ] {
                try await terminal.types(line)
                try await terminal.presses("Tab")
                try await terminal.shows(wanted)
                try await terminal.presses("C-u")
                try await terminal.presses("C-l")
                try await terminal.asks("ready>")
            }
            try await terminal.types("rainctl node show ")
            try await terminal.presses("Tab")
            try await terminal.presses("Tab")
            try await terminal.shows("Heater")
            #expect(try await !terminal.text().contains("touch"), "a name that a shell would run is offered")
            try await terminal.end()
            #expect(access(folder.file("mark"), F_OK) != 0, "a name was run")
        }
    }

    /// Writes what `rainctl completion` prints for the shell.
    private func write(_ shell: String, in folder: TemporaryFolder) async throws {
        let script = try await run(Executables.path("rainctl"), ["completion", shell])
        #expect(script.status == .exited(0) && script.standardError.isEmpty)
        try folder.write(script.standardOutput, to: "completion.\(shell)")
    }

    private func environment(_ maker: Maker, _ tree: SystemTree) throws -> [String: String] {
        let folder = try Executables.path("rainctl").split(separator: "/").dropLast().joined(separator: "/")
        return maker.environment.merging(tree.environment) { $1 }.merging(["PATH": "/\(folder):/usr/bin:/bin"]) { $1 }
    }

    @Test("rainctl completion and the parser's own option print the same script", arguments: ["bash", "zsh", "fish"])
    func same(shell: String) async throws {
        let own = try await run(Executables.path("rainctl"), ["completion", shell])
        let parsers = try await run(Executables.path("rainctl"), ["--generate-completion-script", shell])
        let interpreter = shell == "bash" ? "#!/bin/bash\n" : ""
        #expect(own.status == .exited(0) && parsers.standardOutput == interpreter + own.standardOutput)
        let wrong = try await run(Executables.path("rainctl"), ["completion", "csh"])
        #expect(wrong.status == .exited(64) && wrong.standardError.contains("'csh'"))
    }

    @Test("the script of zsh names the transports, and asks for profiles and accounts")
    func script() async throws {
        let script = try await run(Executables.path("rainctl"), ["--generate-completion-script", "zsh"])
        #expect(script.status == .exited(0))
        #expect(try script.standardOutput.firstMatch(of: Regex(#"___transport=\('auto' [^)]*'softap'"#)) != nil)
        let commands = script.standardOutput.matches(of: #/---completion (\S+ \S+) -- positional@0 /#).map { "\($0.1)" }
        #expect(
            Set(commands) == [
                "profile use", "profile show", "profile set", "profile remove", "account use", "node show",
                "node config",
                "node rename", "node remove", "node status", "node ota", "node watch", "node history",
            ])
    }
}
