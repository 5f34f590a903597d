// SPDX-License-Identifier: Apache-2.0
import ArgumentParser

/// The command that the first words of the arguments name, as deep as they go.
struct NamedCommand {
    private(set) var command: any ParsableCommand.Type = Rainctl.self
    /// The commands on the way to it, without the root: `node`, `params`, `set`.
    private(set) var path: [any ParsableCommand.Type] = []
    /// What follows their names.
    private(set) var rest: ArraySlice<String>

    init(_ arguments: [String]) {
        rest = arguments[...]
        while let word = rest.first,
            let next = command.configuration.subcommands.first(where: { Self.name(of: $0) == word })
        {
            command = next
            path.append(next)
            rest.removeFirst()
        }
    }

    /// The command with its options, where they are right; nil too where help or the like is asked for. For each parse, the parser builds
    /// everything below the root that it is given, which takes a third of a short command's time: here, that is this command alone.
    func parsed() -> (any ParsableCommand)? {
        guard command.configuration.subcommands.isEmpty, let parsed = try? command.parseAsRoot(Array(rest)),
            type(of: parsed) == command
        else { return nil }
        return parsed
    }

    static func name(of command: any ParsableCommand.Type) -> String {
        command.configuration.commandName ?? command._commandName
    }
}
