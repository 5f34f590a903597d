// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainIO
import RainKit

/// Shell completion for values of this machine. The shell asks rainctl itself; nothing is sent, and no port is opened.
extension CompletionKind {
    static var serialPorts: CompletionKind {
        .custom { _, _, _ in
            guard let context = try? Context.quiet() else { return [] }
            return offered(SerialPort.available(in: context.systemFiles).map(\.path))
        }
    }

    static var profiles: CompletionKind {
        .custom { _, _, _ in
            let names = try? Context.quiet().deploymentFile.load().all.map(\.name)
            return offered(names ?? [])
        }
    }

    static var accounts: CompletionKind {
        .custom { _, _, _ in
            let entries = try? Context.quiet().accounts.known.load().entries
            return offered(entries?.map(\.name) ?? [])
        }
    }

    /// The boards that the last list of the account had. Nothing is asked: the names are in a file.
    static var nodes: CompletionKind {
        .custom { words, _, _ in
            guard let context = try? Context.quiet(words), let deployment = try? context.deployment().name else {
                return []
            }
            let known = try? context.accounts.known.load()
            let account = context.accountName ?? known?.current(at: deployment)?.name ?? ""
            return offered(NodeNameFile(state: context.folders.state).nodes(of: account, at: deployment))
        }
    }

    /// Returns the boards' names. A board whose name cannot be offered, or is that of another board, is offered by its id.
    static func offered(_ nodes: [RememberedNode]) -> [String] {
        var counts: [String: Int] = [:]
        for node in nodes { counts[node.name?.lowercased() ?? "", default: 0] += 1 }
        return nodes.flatMap { node -> [String] in
            let name = node.name.map { offered([$0]) } ?? []
            return name.isEmpty || counts[node.name?.lowercased() ?? ""] != 1 ? offered([node.id.rawValue]) : name
        }
    }

    /// Returns only names in which a shell expands nothing: plain words, with blanks between them. Names come from servers and files, and the
    /// script of another version may let a shell expand them. The scripts quote the blanks.
    static func offered(_ names: [String]) -> [String] {
        names.filter { name in
            !name.hasPrefix("-")
                && name.split(separator: " ", omittingEmptySubsequences: false).allSatisfy {
                    ShellWord.isPlain(String($0))
                }
        }
    }
}

extension Context {
    /// The context of an unfinished command line, without warnings.
    /// - Parameter words: the words of the line, of which only the deployment and the account matter.
    fileprivate static func quiet(_ words: [String] = []) throws -> Context {
        try Context(try GlobalOptions.parse(GivenOptions(words).arguments)) { (_, failure) throws(CommandFailure) in
            throw failure
        }
    }
}

/// The completion scripts of the argument parser (1.8) for bash and zsh, and our own for fish.
///
/// bash expands the words of `compgen -W` like a command line, so it would run a `$(…)` in a name. zsh and fish take names as data. The
/// parser's script for fish completes no names in fish 3, and tests two thousand conditions at each key press.
enum CompletionScript {
    /// Returns the script for a shell. A shell reads it and never starts it, so it begins without the name of an interpreter.
    static func text(for shell: CompletionShell) -> String {
        let text = replaced(RootWithOptions.completionScript(for: shell))
        return (text.hasPrefix("#!") ? text.drop { $0 != "\n" }.dropFirst() : text[...]) + "\n"
    }

    /// - Parameter text: any output of the argument parser; only a script for bash or fish is changed.
    static func replaced(_ text: String) -> String {
        if text.hasPrefix("function __rainctl_should_offer_completions") { return fish }
        guard text.hasPrefix("#!/bin/bash\n") else { return text }
        guard let place = text.firstRange(of: expanding), !text[place.upperBound...].contains(expanding) else {
            preconditionFailure("the argument parser has a new script for bash, which may expand data")
        }
        return text.replacingCharacters(in: place, with: comparing)
    }

    /// fish takes the output of the function as data. `$before` may begin with variables (`NAME=value rainctl`) or with the program's folder.
    private static let fish = #"""
        # rainctl itself finds the words, so that they are those of its version.
        function __rainctl_offer
            command -q rainctl; or return
            set -l before (commandline -opc)
            while set -q before[1]; and not string match -qr '(^|/)rainctl$' -- $before[1]
                set -e before[1]
            end
            set -e before[1]
            command rainctl ---words $before (commandline -ct) 2>/dev/null
        end
        function __rainctl_words
            string match -v -- \tfiles (__rainctl_offer)
        end
        function __rainctl_wants_files
            contains -- \tfiles (__rainctl_offer)
        end
        complete -c rainctl -f -a '(__rainctl_words)'
        complete -c rainctl -F -n __rainctl_wants_files
        """#

    private static let expanding = """
            while IFS='' read -r completion; do
                COMPREPLY+=("${completion}")
            done < <(IFS=$'\\n' compgen "${@}" -- "${cur}")

        """

    private static let comparing = #"""
            if [[ "${1}" = -W ]]; then
                # The words are names from servers and files: compgen would expand them. The typed word may have backslashes before blanks.
                # readline quotes the blanks of the completed word, as it does for files.
                local typed="${cur}"
                [[ "${COMP_WORDS[COMP_CWORD]}" = [\'\"]* ]] || typed="${cur//\\/}"
                while IFS='' read -r completion; do
                    [[ -n "${completion}" && "${completion}" = "${typed}"* ]] && COMPREPLY+=("${completion}")
                done <<<"${2}"
                return
            fi
            while IFS='' read -r completion; do
                COMPREPLY+=("${completion}")
            done < <(IFS=$'\n' compgen "${@}" -- "${cur}")

        """#
}

extension String {
    fileprivate func replacingCharacters(in range: Range<String.Index>, with text: String) -> String {
        self[..<range.lowerBound] + text + self[range.upperBound...]
    }
}
