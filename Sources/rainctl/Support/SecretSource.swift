// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import RainCore
import RainKit

/// Where a secret comes from: exactly one of a flag, a file, standard input, the environment or a prompt.
///
/// A value among the arguments works, because scripts pass it there today. It brings a warning: other users of the machine can read it.
struct SecretSource {
    /// What prompts and errors call it, such as `password`.
    var name: String
    /// The stem of its options: `--password`, `--password-file`, `--password-stdin`.
    var flag: String
    var value: String?
    var file: String?
    var fromStandardInput = false
    var environmentVariable: SecretVariable?
    /// The option for "there is no secret". An empty secret does not mean that.
    var ifThereIsNone: String?
    /// What a new secret has to be like.
    var rule: (@Sendable (Secret) throws(AccountError) -> Void)?
    /// How long reading from standard input, or from a file that is a pipe, may take.
    var time: TimeBudget?

    /// How often a new secret is asked for.
    private static let maximumAttempts = 3
    /// The largest secret that is read from a file or standard input.
    static let maximumBytes = 4096

    /// The secret, or nil where none of its sources is in use. Byte order mark and line ends are dropped, wherever it comes from; text that
    /// cannot be one secret is refused (``FileText``). An empty one is a mistake, such as a file that was never filled, and is refused: it
    /// would mean something else than was meant.
    func read(environment: [String: String], output: Output) throws(CommandFailure) -> Secret? {
        let given = (value == nil ? 0 : 1) + (file == nil ? 0 : 1) + (fromStandardInput ? 1 : 0)
        guard given <= 1 else {
            throw CommandFailure(
                .usage, message: "Give the \(name) once: \(flag), \(flag)-file or \(flag)-stdin.")
        }
        if let value {
            let secret = try notEmpty(Self.secret(Array(value.utf8)[...], name, from: flag), from: flag)
            output.warn(
                "\(flag) on the command line can be read by other users; \(flag)-file or \(flag)-stdin cannot.",
                reason: "secret_in_arguments")
            return secret
        }
        if let file {
            return try notEmpty(Self.contents(of: file, name: name, within: time?.left), from: "\(flag)-file")
        }
        if fromStandardInput {
            return try notEmpty(Self.standardInput(name: name, within: time?.left), from: "\(flag)-stdin")
        }
        if let environmentVariable, let value = environment[environmentVariable.rawValue], !value.isEmpty {
            return try Self.secret(Array(value.utf8)[...], name, from: environmentVariable.rawValue)
        }
        return nil
    }

    private func notEmpty(_ secret: Secret, from option: String) throws(CommandFailure) -> Secret {
        guard secret.isEmpty else { return secret }
        throw CommandFailure(
            .usage, reason: "empty_secret",
            message: "The \(name) is empty (\(option)).\(ifThereIsNone.map { " \($0)" } ?? "")")
    }

    /// The secret, asked for where it was not given; a new one is asked for twice.
    func required(_ context: Context, isNew: Bool = false) throws(CommandFailure) -> Secret {
        if let secret = try read(environment: context.environment, output: context.output) { return secret }
        let ask = { () throws(CommandFailure) in
            isNew ? try promptTwice(mayAsk: context.mayAsk) : try prompt(mayAsk: context.mayAsk)
        }
        guard let time else { return try ask() }
        return try time.asking(ask)
    }

    /// Asks for it on the terminal, without echo.
    func prompt(mayAsk: Bool) throws(CommandFailure) -> Secret {
        guard mayAsk else {
            throw CommandFailure(
                .usage, reason: "missing_secret",
                message: "No \(name) given: use \(flag)-file FILE or \(flag)-stdin.")
        }
        while true {
            let secret = try Self.ask(question)
            guard secret.isEmpty else { return secret }
            StandardStreams.err("\(emptyAnswer)\n")
        }
    }

    /// The prompt.
    var question: String { "\(name.prefix(1).uppercased() + name.dropFirst()): " }
    /// The answer to an empty line.
    var emptyAnswer: String { "The \(name) is not empty.\(ifThereIsNone.map { " \($0)" } ?? "")" }

    /// Asks for a new secret twice, because typing errors cannot be seen. One that the cloud would not take is refused at once: to type it
    /// again would be in vain.
    func promptTwice(mayAsk: Bool) throws(CommandFailure) -> Secret {
        for attempt in 1...Self.maximumAttempts {
            let first = try prompt(mayAsk: mayAsk)
            if let rule {
                do throws(AccountError) {
                    try rule(first)
                } catch {
                    guard attempt < Self.maximumAttempts else { throw CommandFailure(error) }
                    StandardStreams.err("\(error.message.asSentence)\n")
                    continue
                }
            }
            if try Self.ask("The same again: ") == first { return first }
            if attempt < Self.maximumAttempts { StandardStreams.err("The two are not the same: once more.\n") }
        }
        throw CommandFailure(.usage, reason: "not_the_same", message: "The two are not the same: try again.")
    }

    private static func ask(_ question: String) throws(CommandFailure) -> Secret {
        guard let secret = Terminal.readSecret(prompt: question) else {
            throw CommandFailure(.cancelled, message: "Cancelled.")
        }
        return secret
    }

    /// - Parameters:
    ///   - isExact: whether it is data of any kind, of which each byte counts, and no secret in one line.
    ///   - limit: the time that reading may take.
    static func contents(
        of path: String, name: String, maximumBytes: Int = Self.maximumBytes, isExact: Bool = false,
        within limit: Duration? = .seconds(120)
    ) throws(CommandFailure) -> Secret {
        // Opening a pipe without a writer would block for ever.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw CommandFailure(
                .badData, message: "The \(name) cannot be read from \(path): \(String(cString: strerror(errno))).")
        }
        defer { close(descriptor) }
        return try read(
            descriptor, name: name, from: path.onOneLine, maximumBytes: maximumBytes, isExact: isExact, within: limit)
    }

    static func standardInput(
        name: String, maximumBytes: Int = Self.maximumBytes, isExact: Bool = false, within limit: Duration? = nil
    ) throws(CommandFailure) -> Secret {
        guard !StandardStreams.inIsTerminal else {
            throw CommandFailure(.usage, message: "Standard input is a terminal; pipe the \(name) into it.")
        }
        return try read(
            STDIN_FILENO, name: name, from: "standard input", maximumBytes: maximumBytes, isExact: isExact,
            within: limit)
    }

    private static func read(
        _ descriptor: Int32, name: String, from place: String, maximumBytes: Int, isExact: Bool, within limit: Duration?
    ) throws(CommandFailure) -> Secret {
        var bytes: [UInt8] = []
        defer { for index in bytes.indices { bytes[index] = 0 } }
        var chunk = [UInt8](repeating: 0, count: 1024)
        defer { for index in chunk.indices { chunk[index] = 0 } }
        let end = limit.map { ContinuousClock.now + $0 }
        while bytes.count <= maximumBytes {
            switch Interruption.wait(for: descriptor, until: end) {
            case .ready: break
            case .interrupted: throw CommandFailure(.cancelled, message: "Cancelled.")
            case .late:
                throw CommandFailure(.deadline, message: "Nothing wrote the \(name) to \(place) in time (--timeout).")
            }
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 { break }
            guard count > 0 else {
                if errno == EINTR || errno == EAGAIN { continue }
                let why = errno == EISDIR ? "it is a folder" : String(cString: strerror(errno))
                throw CommandFailure(.badData, message: "The \(name) cannot be read from \(place): \(why).")
            }
            bytes += chunk[..<count]
        }
        guard bytes.count <= maximumBytes else {
            throw CommandFailure(.badData, message: "The \(name) is longer than \(maximumBytes) bytes.")
        }
        return isExact ? Secret(bytes) : try secret(bytes[...], name, from: place)
    }

    private static func secret(
        _ bytes: ArraySlice<UInt8>, _ name: String, from place: String
    ) throws(CommandFailure) -> Secret {
        do throws(FileText.Fault) {
            return Secret(try FileText.secret(bytes))
        } catch {
            throw CommandFailure(
                .badData, reason: "bad_secret_file", message: "The \(name) cannot be used (\(place)): \(error).")
        }
    }
}

/// The variables of the environment that a secret may come from. ``SecretSource`` reads no others, and no program that is started here
/// inherits them.
enum SecretVariable: String, CaseIterable, Sendable {
    /// The official client's, so that its scripts go on working.
    case password = "ESP_RAINMAKER_PASSWORD"
    case proofOfPossession = "RAINKIT_POP"
    case passphrase = "RAINKIT_PASSPHRASE"
    case clientSecret = "RAINKIT_CLIENT_SECRET"
}

extension Context {
    /// The environment of programs that are started here: everything but ``secretVariables``, and the absolute folders of `PATH`.
    var environmentOfPrograms: [String: String] {
        let secrets = secretVariables
        var result = environment.filter { !secrets.contains($0.key) }
        if let path = result["PATH"] { result["PATH"] = ProgramSearch(path: path).path }
        return result
    }

    /// rainctl's own, and those that the definitions of identity providers name for a client's secret.
    var secretVariables: Set<String> {
        let profiles = (try? providerDefinitions.load().registry.entries) ?? []
        return Set(
            SecretVariable.allCases.map(\.rawValue) + profiles.compactMap { $0.definition.client?.secretEnvironment })
    }
}
