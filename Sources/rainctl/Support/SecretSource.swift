import ArgumentParser
import Glibc
import Vocabulary

/// Where a secret comes from: exactly one of a flag, a file, standard input, the environment or a prompt.
///
/// A value in argv works, because scripts have it there today, and is warned about: other users of the machine can read it.
struct SecretSource {
    /// What prompts and errors call it, such as `password`.
    var name: String
    /// The stem of its options: `--password`, `--password-file`, `--password-stdin`.
    var flag: String
    var value: String?
    var file: String?
    var fromStandardInput = false
    var environmentVariable: String?

    /// The largest secret that is read from a file or standard input.
    static let maximumBytes = 4096

    /// The secret, or nil where none of its sources is in use. One trailing newline of a file or of standard input is dropped.
    func read(environment: [String: String], output: Output) throws(CommandFailure) -> Secret? {
        let given = (value == nil ? 0 : 1) + (file == nil ? 0 : 1) + (fromStandardInput ? 1 : 0)
        guard given <= 1 else {
            throw CommandFailure(
                .usage, message: "Give the \(name) once: \(flag), \(flag)-file or \(flag)-stdin.")
        }
        if let value {
            output.warn("\(flag) on the command line can be read by other users; \(flag)-file or \(flag)-stdin cannot.")
            return Secret(value)
        }
        if let file { return try Self.contents(of: file, name: name) }
        if fromStandardInput { return try Self.standardInput(name: name) }
        if let environmentVariable, let value = environment[environmentVariable], !value.isEmpty {
            return Secret(value)
        }
        return nil
    }

    /// Asks for it on the terminal, without echo.
    func prompt(mayAsk: Bool) throws(CommandFailure) -> Secret {
        guard mayAsk else {
            throw CommandFailure(
                .usage, reason: "missing_\(name.split(separator: " ").joined(separator: "_"))",
                message: "No \(name) given: use \(flag)-file FILE or \(flag)-stdin.")
        }
        guard let secret = Terminal.readSecret(prompt: "\(name.prefix(1).uppercased() + name.dropFirst()): ") else {
            throw CommandFailure(.cancelled, message: "Cancelled.")
        }
        return secret
    }

    static func contents(of path: String, name: String) throws(CommandFailure) -> Secret {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw CommandFailure(
                .badData, message: "The \(name) cannot be read from \(path): \(String(cString: strerror(errno))).")
        }
        defer { close(descriptor) }
        return try read(descriptor, name: name)
    }

    static func standardInput(name: String) throws(CommandFailure) -> Secret {
        guard !StandardStreams.inIsTerminal else {
            throw CommandFailure(.usage, message: "Standard input is a terminal; pipe the \(name) into it.")
        }
        return try read(STDIN_FILENO, name: name)
    }

    private static func read(_ descriptor: Int32, name: String) throws(CommandFailure) -> Secret {
        var bytes: [UInt8] = []
        defer { for index in bytes.indices { bytes[index] = 0 } }
        var chunk = [UInt8](repeating: 0, count: 1024)
        while bytes.count <= maximumBytes {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 { break }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw CommandFailure(
                    .badData, message: "The \(name) cannot be read: \(String(cString: strerror(errno))).")
            }
            bytes += chunk[..<count]
        }
        guard bytes.count <= maximumBytes else {
            throw CommandFailure(.badData, message: "The \(name) is longer than \(maximumBytes) bytes.")
        }
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return Secret(bytes)
    }
}
