// SPDX-License-Identifier: Apache-2.0
import RainCore

extension SerialPort {
    /// Why this user may not open a port: a sentence for people, and the command that mends it, where there is one.
    public static func rightsAdvice(for path: String) -> (sentence: String, command: String?) {
        guard let rights = PortRights(of: path) else { return ("It cannot be opened.", nil) }
        let command: String? =
            switch rights.group {
            case .named(let name):
                rights.isMember
                    ? "newgrp \(ShellWord.quoted(name))" : "sudo usermod -aG \(ShellWord.quoted(name)) $USER"
            case .numbered, .none: nil
            }
        return (rights.advice, command)
    }
}
