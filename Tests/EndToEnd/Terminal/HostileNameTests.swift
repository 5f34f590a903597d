// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

/// Names that a shell would obey, where shells see them: in completions and in commands that are printed for copying.
@Suite("Hostile names in shells")
struct HostileNameTests {
    /// Each leaves the file MARK if a shell runs it.
    private static let names = [
        "x$(touch MARK)@e.example", "x`touch MARK`", "x;touch MARK", "x|touch MARK", "x&touch MARK&", "x>MARK",
        "x<(touch MARK)", "x${y:=$(touch MARK)}", "x$((a[$(touch MARK)]))", "x'$(touch MARK)'", "x\"$(touch MARK)\"",
        #"x\$(touch MARK)"#, "$(touch MARK)", "`touch MARK`", "~/$(touch MARK)", "{x,$(touch MARK)}", "x:$(touch MARK)",
        "-x$(touch MARK)", "=touch", "x\u{1B}]0;y\u{7}",
    ]

    /// A `rainctl` in `bin` that offers these names to the completion scripts, as data from a server that no check has seen.
    private func withHostileProgram(_ body: (TemporaryFolder, [String: String]) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try folder.makeFolder("bin")
            let names = Self.names.map { $0.replacing("MARK", with: folder.file("mark")) } + ["xplain@e.example"]
            try folder.write(names.joined(separator: "\n") + "\n", to: "names")
            try folder.write(
                "#!/bin/sh\ncat '\(folder.file("names"))'\nif [ \"$SAP_SHELL\" = zsh ]; then echo ' '; fi\n",
                to: "bin/rainctl")
            #expect(chmod(folder.file("bin/rainctl"), 0o755) == 0)
            for shell in ["bash", "zsh", "fish"] {
                let script = try await run(Executables.path("rainctl"), ["--generate-completion-script", shell])
                try folder.write(script.standardOutput, to: "completion.\(shell)")
            }
            try await body(folder, ["PATH": folder.file("bin") + ":/usr/bin:/bin", "HOME": folder.path])
            #expect(access(folder.file("mark"), F_OK) != 0, "a name was run")
        }
    }

    @Test("bash takes what is offered as data", arguments: ["rainctl account use ", "rainctl node list --account x"])
    func bash(line: String) async throws {
        try await withHostileProgram { folder, environment in
            let words = line.split(separator: " ", omittingEmptySubsequences: false).map { "'\($0)'" }
            let ask = """
                source \(folder.file("completion.bash"))
                COMP_WORDS=(\(words.joined(separator: " "))); COMP_CWORD=\(words.count - 1)
                COMP_LINE="\(line)"; COMP_POINT=\(line.count)
                _rainctl rainctl "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
                printf '%s\\n' "${COMPREPLY[@]}"
                """
            let offered = try await run("bash", ["-c", ask], environment: environment)
            #expect(offered.standardOutput.contains("xplain@e.example\n"), "\(offered)")
            #expect(offered.standardOutput.contains("x$(touch "), "as it is: \(offered)")
        }
    }

    @Test("bash completes a name with blanks as one word, however the user has begun it")
    func blanks() async throws {
        try await withHostileProgram { folder, environment in
            try folder.write("Loft lamp\nnode1\n", to: "names")
            let settings = """
                source \(folder.file("completion.bash"))
                PATH=\(folder.file("bin")):/usr/bin:/bin PS1='ready> '

                """
            try folder.write(settings, to: "settings.bash")
            let terminal = try await TmuxTerminal.start(
                "/bin/bash", ["--noprofile", "--rcfile", folder.file("settings.bash"), "-i"],
                environment: environment, columns: 200, rows: 60, in: folder)
            try await terminal.asks("ready>")
            for (typed, wanted) in [
                (#"Loft\ la"#, #"use Loft\ lamp"#), ("Lo", #"use Loft\ lamp"#), ("'Loft la", "use 'Loft lamp'"),
                (#""Loft l"#, #"use "Loft lamp""#),
            ] {
                try await terminal.types("rainctl account use \(typed)")
                try await terminal.presses("Tab")
                try await terminal.shows(wanted)
                try await terminal.presses("C-u")
                try await terminal.presses("C-l")
                try await terminal.asks("ready>")
            }
            try await terminal.end()
        }
    }

    @Test("bash offers nothing where there is nothing, not an empty word")
    func nothing() async throws {
        try await withHostileProgram { folder, environment in
            try folder.write("", to: "names")
            let ask = """
                source \(folder.file("completion.bash"))
                COMP_WORDS=(rainctl account use ''); COMP_CWORD=3; COMP_LINE="rainctl account use "; COMP_POINT=20
                _rainctl rainctl '' use; printf '%s' "${#COMPREPLY[@]}"
                """
            let offered = try await run("bash", ["-c", ask], environment: environment)
            #expect(offered.standardOutput == "0", "\(offered)")
        }
    }

    @Test(
        "fish takes what is offered as data", .enabled(if: access("/usr/bin/fish", X_OK) == 0, "fish is not installed"))
    func fish() async throws {
        try await withHostileProgram { folder, environment in
            let ask = "source \(folder.file("completion.fish")); complete -C 'rainctl account use '"
            let offered = try await run("fish", ["--no-config", "-c", ask], environment: environment)
            #expect(offered.standardOutput.contains("xplain@e.example"), "\(offered)")
        }
    }

    @Test("zsh takes what is offered as data", .enabled(if: access("/usr/bin/zsh", X_OK) == 0, "zsh is not installed"))
    func zsh() async throws {
        try await withHostileProgram { folder, environment in
            try folder.write("skip_global_compinit=1\n", to: ".zshenv")
            let settings = """
                autoload -Uz compinit; compinit -u -D; source \(folder.file("completion.zsh"))
                PATH=\(folder.file("bin")):/usr/bin:/bin PROMPT='ready> '

                """
            try folder.write(settings, to: ".zshrc")
            let terminal = try await TmuxTerminal.start(
                "/usr/bin/zsh", ["-i"], environment: environment.merging(["ZDOTDIR": folder.path]) { $1 },
                columns: 200, rows: 60, in: folder)
            try await terminal.asks("ready>")
            try await terminal.types("rainctl account use ")
            try await terminal.presses("Tab")
            try await terminal.presses("Tab")
            try await terminal.shows("xplain@e.example")
            try await terminal.end()
        }
    }

    @Test("names of the list of accounts that a shell would obey are not offered")
    func notOffered() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let accounts = JSONValue.array(
                (Self.names + ["ada@example.com"]).map { name -> JSONValue in
                    [
                        "deployment": "global", "name": .string(name), "user_name": .string(name), "user_id": "1",
                        "store": "file",
                    ]
                })
            let list: JSONValue = ["schemaVersion": 1, "current": [], "accounts": accounts]
            try folder.makeFolder("state")
            try folder.makeFolder("state/rainkit")
            #expect(chmod(folder.file("state/rainkit"), 0o700) == 0)
            folder.writePrivately(list.serialized(), to: "state/rainkit/accounts.json")
            let offered = try await maker.rainctl(
                ["---completion", "account", "use", "--", "positional@0", "3", "0", "rainctl", "account", "use", ""],
                environment: ["SAP_SHELL": "bash", "SAP_SHELL_VERSION": "5.2"])
            #expect(offered.standardOutput == "ada@example.com\n", "\(offered)")
            // They can still be seen, and taken off.
            let shown = try await maker.rainctl("account", "list")
            #expect(shown.status == 0 && !shown.standardOutput.contains("\u{1B}"), "\(shown)")
        }
    }

    @Test(
        "a command that is printed for copying is one command for a shell",
        arguments: ["a b", "x$(touch MARK)", "it's"])
    func printed(name: String) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let account = name.replacing("MARK", with: folder.file("mark"))
            let outcome = try await maker.rainctl("node", "list", "--account", account, "--json")
            let message = outcome.failure?["message"]?.string ?? ""
            let begin = try #require(message.firstRange(of: "rainctl login")?.lowerBound, "\(message)")
            let command = message[begin...]
            let words = try await run(
                "/bin/sh", ["-c", "rainctl() { printf '%s\\n' \"$@\"; }; \(command)"], environment: [:])
            #expect(words.standardOutput.split(separator: "\n").last.map(String.init) == account, "\(command)")
            #expect(access(folder.file("mark"), F_OK) != 0)
        }
    }
}
