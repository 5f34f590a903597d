// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

struct CompletionCommand: ParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "completion", abstract: "Print the completion script for a shell.",
        discussion: """
            Example: rainctl completion bash

            Packages and "make install" also install the completion scripts. If you use neither, load the script when the shell starts. \
            For bash, add this line to ~/.bashrc: source <(rainctl completion bash). For zsh, write the script to the file _rainctl in a \
            folder that fpath lists. For fish, write it to the file ~/.config/fish/completions/rainctl.fish.
            """)

    enum Shell: String, WordArgument { case bash, zsh, fish }

    @Argument(help: "The shell.")
    var shell: Shell

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() throws {
        let result = CompletionResult(shell: shell.rawValue, script: CompletionScript.text(for: shell.script))
        // The script is printed to the byte.
        options.json ? Output(options).result(result) : StandardStreams.out(result.script)
    }
}

extension CompletionCommand.Shell {
    fileprivate var script: CompletionShell {
        switch self {
        case .bash: .bash
        case .zsh: .zsh
        case .fish: .fish
        }
    }
}

/// The completion script for a shell.
struct CompletionResult: CommandResult {
    let shell: String
    let script: String

    var text: String { script }
}
