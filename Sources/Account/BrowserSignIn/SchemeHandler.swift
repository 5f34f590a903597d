// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainPrivateFiles

/// Makes a command the desktop's handler of a scheme. It writes a desktop entry (Desktop Entry Specification 1.5) and selects it with
/// `xdg-mime`.
public struct SchemeHandler: Sendable {
    /// The handler's name in dialogs of the desktop.
    public var name: String
    /// The program and its arguments. The address follows them.
    public var command: [String]
    /// `XDG_DATA_HOME`, or its default, `~/.local/share`.
    public var dataFolder: String
    /// The variables that `xdg-mime` inherits. Omit your own secrets.
    public var environment: [String: String]

    public init(name: String, command: [String], dataFolder: String, environment: [String: String]) {
        self.name = name
        self.command = command
        self.dataFolder = dataFolder
        self.environment = environment
    }

    /// Returns the entry's file name, which is its id on the desktop.
    public func fileName(scheme: String) -> String { "rainkit-\(scheme).desktop" }

    /// Returns the entry's text.
    public func entry(scheme: String) -> String {
        """
        [Desktop Entry]
        Type=Application
        Name=\(name)
        Comment=Finishes a sign-in that was begun in a terminal
        Exec=\(command.map(Self.quoted).joined(separator: " ")) %u
        MimeType=x-scheme-handler/\(scheme);
        NoDisplay=true
        Terminal=false
        StartupNotify=false

        """
    }

    /// Writes the entry and makes it the scheme's handler. An existing entry with the same text is not written again.
    /// - Throws: `cannotStore` if the entry cannot be written, `cannotListen` if `xdg-mime` is missing or fails.
    public func register(scheme: String) async throws(AccountError) {
        let folder = "\(dataFolder)/applications"
        let path = "\(folder)/\(fileName(scheme: scheme))"
        let text = Array(entry(scheme: scheme).utf8)
        if readWhole(path) != text {
            for part in Self.ancestors(of: folder) { mkdir(part, 0o755) }
            guard writeWhole(text, to: path) else {
                throw AccountError(.cannotStore, message: "\(path) cannot be written: \(systemErrorText(errno))")
            }
        }
        let arguments = ["xdg-mime", "default", fileName(scheme: scheme), "x-scheme-handler/\(scheme)"]
        let status = await DetachedProgram.run(arguments, environment: environment, within: .seconds(10))
        guard status == 0 else {
            throw AccountError(
                .cannotListen,
                message: "xdg-mime did not make this program the handler of \(scheme): addresses",
                remedies: [.pastedAddress])
        }
    }

    /// Returns an argument in the form of `Exec`. It is quoted if it has reserved characters, of which four are escaped inside, and `%` is
    /// doubled. In addition, the entry's format escapes backslashes and line ends.
    static func quoted(_ argument: String) -> String {
        let reserved = " \t\r\n\"'\\><~|&;$*?#()`"
        // A percent sign and a combining mark after it are one character.
        var doubled = String.UnicodeScalarView()
        for scalar in argument.unicodeScalars {
            if scalar == "%" { doubled.append(scalar) }
            doubled.append(scalar)
        }
        guard argument.isEmpty || argument.unicodeScalars.contains(where: reserved.unicodeScalars.contains) else {
            return String(doubled)
        }
        var text = "\""
        for character in doubled {
            if "\"`$\\".unicodeScalars.contains(character) { text += "\\\\" }
            switch character {
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            default: text.unicodeScalars.append(character)
            }
        }
        return text + "\""
    }

    private static func ancestors(of folder: String) -> [String] {
        var path = ""
        return folder.split(separator: "/").map { part in
            path += "/\(part)"
            return path
        }
    }

    private func readWhole(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 16 << 10)
        let count = read(descriptor, &bytes, bytes.count)
        return count < 0 ? nil : Array(bytes[..<count])
    }

    private func writeWhole(_ bytes: [UInt8], to path: String) -> Bool {
        let temporary = "\(path).\(getpid())"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard descriptor >= 0 else { return false }
        let isWritten = write(descriptor, bytes, bytes.count) == bytes.count
        close(descriptor)
        guard isWritten, rename(temporary, path) == 0 else {
            unlink(temporary)
            return false
        }
        return true
    }
}
