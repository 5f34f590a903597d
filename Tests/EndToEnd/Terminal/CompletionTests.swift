// SPDX-License-Identifier: Apache-2.0
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
            let script = try await run(Executables.path("rainctl"), ["--generate-completion-script", "bash"])
            #expect(script.status == .exited(0))
            try maker.folder.write(script.standardOutput, to: "completion.bash")
            for (line, wanted) in [
                ("rainctl prov", "provision"), ("rainctl provision --port ", tree.port("ttyUSB0")),
                ("rainctl profile use work", "workshop"), ("rainctl node list --profile work", "workshop"),
                ("rainctl profile remove work", "workshop"), ("rainctl profile show work", "workshop"),
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
                let path = try Executables.path("rainctl").split(separator: "/").dropLast().joined(separator: "/")
                let offered = try await run(
                    "bash", ["-c", ask],
                    environment: maker.environment.merging(tree.environment) { $1 }.merging(
                        ["PATH": "/\(path):/usr/bin:/bin"]) { $1 })
                #expect(
                    offered.standardOutput.split(separator: "\n").contains { $0.hasPrefix(wanted) },
                    "\(line): \(offered.standardOutput)\(offered.standardError)")
            }
        }
    }

    @Test(
        "the scripts of zsh and fish name the transports, and ask for profiles and accounts",
        arguments: [
            ("zsh", #"___transport=\('auto' [^)]*'softap'"#), ("fish", #"-l 'transport' .* 'auto [^']*softap"#),
        ])
    func others(shell: String, transports: String) async throws {
        let script = try await run(Executables.path("rainctl"), ["--generate-completion-script", shell])
        #expect(script.status == .exited(0))
        #expect(try script.standardOutput.firstMatch(of: Regex(transports)) != nil)
        let commands = script.standardOutput.matches(of: #/---completion (\S+ \S+) -- positional@0 /#).map { "\($0.1)" }
        #expect(Set(commands) == ["profile use", "profile show", "profile remove", "account use"])
    }
}
