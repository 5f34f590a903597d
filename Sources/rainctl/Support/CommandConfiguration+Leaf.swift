// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

extension CommandConfiguration {
    /// Creates the configuration of a command that does something itself.
    ///
    /// ``NamedCommand/parsed()`` lets such a command parse its arguments alone. Before it does, the argument parser would parse them twice
    /// more, for `--generate-completion-script`, which only the root has. That takes a sixth of the time of parsing. The parser leaves this
    /// out for a command with the name of a super-command. Otherwise it uses that name only in the help of a command without a root.
    static func leaf(
        commandName: String, abstract: String, discussion: String, shouldDisplay: Bool = true
    ) -> CommandConfiguration {
        CommandConfiguration(
            commandName: commandName, _superCommandName: "rainctl", abstract: abstract, discussion: discussion,
            shouldDisplay: shouldDisplay)
    }
}
