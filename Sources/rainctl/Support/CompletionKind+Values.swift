// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainKit

/// What a shell offers where a value of this machine is meant. It asks rainctl itself; nothing is sent, and no port is opened.
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

    /// Names come from servers and files, and a script of another version may have a shell expand them: only those that every shell takes as
    /// they are.
    static func offered(_ names: [String]) -> [String] {
        names.filter { ShellWord.isPlain($0) && !$0.hasPrefix("-") }
    }
}

extension Context {
    /// What no option was given for.
    fileprivate static func quiet() throws -> Context {
        // A shell that completes a word shows no warnings.
        try Context(try GlobalOptions.parse([])) { (_, failure) throws(CommandFailure) in throw failure }
    }
}
