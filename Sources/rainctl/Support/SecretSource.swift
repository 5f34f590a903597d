// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import RainCore
import RainKit

/// The source of a secret: exactly one of an option, a file, standard input, the environment or a prompt.
///
/// A value among the arguments works, because existing scripts pass it there. It brings a warning, because other users of the machine can
/// read it.
struct SecretSource {
    /// The name in prompts and errors, such as `password`.
    var name: String
    /// The stem of its options: `--password`, `--password-file`, `--password-stdin`.
    var flag: String
    var value: String?
    var file: String?
    var fromStandardInput = false
    /// Whether there is an option for the value itself.
    var takesValue = true
    var environmentVariable: SecretVariable?
    /// Advice about the option for "there is no secret". An empty secret does not mean that.
    var ifThereIsNone: String?
    /// The rule for a new secret, which the user reads before typing it.
    var ruleText: String?
    /// The check of a new secret.
    var rule: (@Sendable (Secret) throws(AccountError) -> Void)?
    /// The time for reading from standard input, or from a file that is a pipe.
    var time: TimeBudget?

    /// The number of attempts for a new secret.
    private static let maximumAttempts = 3
    /// The largest secret that is read from a file or standard input.
    static let maximumBytes = 4096

    /// Returns the secret, or nil if none of its sources is used. A byte order mark and line ends are dropped, from every source. Text that
    /// cannot be one secret is refused (``FileText``). An empty secret is also refused, because it is a mistake, such as a file that was
    /// never filled, and would mean something else.
    func read(environment: [String: String], output: Output) throws(CommandFailure) -> Secret? {
        let given = (value == nil ? 0 : 1) + (file == nil ? 0 : 1) + (fromStandardInput ? 1 : 0)
        guard given <= 1 else {
            throw CommandFailure(
                .usage,
                message:
                    "Give the \(name) with only one of \(takesValue ? "\(flag), " : "")\(flag)-file and \(flag)-stdin.")
        }
        if let value {
            let secret = try notEmpty(Self.secret(Array(value.utf8)[...], name, from: flag), from: flag)
            output.warn(
                "\(flag) on the command line is visible to other users; use \(flag)-file or \(flag)-stdin instead.",
                reason: "secret_in_arguments")
            return secret
        }
        if let file {
            if file == "-", access(file, F_OK) != 0 {
                throw CommandFailure(
                    .badData,
                    message: "\(flag)-file does not take - for standard input: use \(standardInputFlag ?? "a file").")
            }
            return try notEmpty(Self.contents(of: file, name: name, within: time?.left), from: "\(flag)-file")
        }
        if fromStandardInput {
            let secret = try Self.standardInput(name: name, within: time?.left)
            guard secret.isEmpty else { return secret }
            throw CommandFailure(
                .usage, reason: "empty_secret",
                message: "Standard input has no \(name): it is closed, or has no text (\(flag)-stdin)."
                    + (ifThereIsNone.map { " \($0)" } ?? ""))
        }
        if let environmentVariable, let value = environment[environmentVariable.rawValue], !value.isEmpty {
            if environmentVariable == .password {
                Invocation.current.note { $0.passwordVariable = environmentVariable.rawValue }
            }
            return try Self.secret(Array(value.utf8)[...], name, from: environmentVariable.rawValue)
        }
        return nil
    }

    /// The option that reads standard input. The password for a broker has none.
    private var standardInputFlag: String? { name == "password for the broker" ? nil : "\(flag)-stdin" }

    private func notEmpty(_ secret: Secret, from option: String) throws(CommandFailure) -> Secret {
        guard secret.isEmpty else { return secret }
        throw CommandFailure(
            .usage, reason: "empty_secret",
            message: "The \(name) is empty (\(option)).\(ifThereIsNone.map { " \($0)" } ?? "")")
    }

    /// Returns the secret, and asks for it if it was not given. A new secret is asked for twice.
    func required(_ context: Context, isNew: Bool = false) throws(CommandFailure) -> Secret {
        if let secret = try read(environment: context.environment, output: context.output) { return secret }
        let ask = { () throws(CommandFailure) in
            isNew ? try promptTwice(mayAsk: context.mayAsk) : try prompt(mayAsk: context.mayAsk)
        }
        guard let time else { return try ask() }
        return try time.asking(ask)
    }

    /// Asks for the secret on the terminal, without echo.
    func prompt(mayAsk: Bool) throws(CommandFailure) -> Secret {
        guard mayAsk else {
            guard Invocation.current.request == nil else {
                throw CommandFailure(.usage, reason: "missing_secret", message: Self.absenceSentence(name))
            }
            throw CommandFailure(
                .usage, reason: "missing_secret",
                message: "No \(name) given: use \(flag)-file FILE or \(flag)-stdin.")
        }
        while true {
            let secret = try Self.ask(question)
            guard secret.isEmpty else { return secret }
            Screen.shared.say(emptyAnswer)
        }
    }

    /// The prompt.
    var question: String { "\(name.prefix(1).uppercased() + name.dropFirst()): " }
    /// The message after an empty line.
    private var emptyAnswer: String { "Nothing was typed: type the \(name).\(ifThereIsNone.map { " \($0)" } ?? "")" }

    /// Asks for a new secret twice, because typing errors are not visible. A secret that the cloud would refuse is refused at once, before
    /// the user types it again.
    private func promptTwice(mayAsk: Bool) throws(CommandFailure) -> Secret {
        if mayAsk, let ruleText { Screen.shared.say(ruleText.asSentence) }
        for attempt in 1...Self.maximumAttempts {
            let first = try prompt(mayAsk: mayAsk)
            if let rule {
                do throws(AccountError) {
                    try rule(first)
                } catch {
                    guard attempt < Self.maximumAttempts else { throw CommandFailure(error) }
                    Screen.shared.say(error.message.asSentence)
                    continue
                }
            }
            if try Self.ask("Type it again: ") == first { return first }
            if attempt < Self.maximumAttempts { Screen.shared.say("The two entries differ. Try again.") }
        }
        throw CommandFailure(.usage, reason: "not_the_same", message: "The two entries differ. Try again.")
    }

    private static func ask(_ question: String) throws(CommandFailure) -> Secret {
        guard let secret = Screen.shared.blocking({ Terminal.readSecret(prompt: question) }) else {
            throw CommandFailure(.cancelled, message: "Cancelled.")
        }
        return secret
    }

    /// - Parameters:
    ///   - isExact: whether every byte counts, as in data of any kind, instead of one line with a secret.
    ///   - limit: the time for reading.
    static func contents(
        of path: String, name: String, maximumBytes: Int = Self.maximumBytes, isExact: Bool = false,
        within limit: Duration? = .seconds(120)
    ) throws(CommandFailure) -> Secret {
        if let member = ServedRequest.member(ofPath: path) {
            guard let secret = Invocation.current.request?.secrets[member] else { throw absent(name) }
            let bytes = secret.revealBytes()
            guard bytes.count <= maximumBytes else { throw tooLong(name, maximumBytes) }
            return isExact ? secret : try Self.secret(bytes[...], name, from: member)
        }
        // Opening a pipe without a writer would block forever.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let number = errno
            let isAddress = path.contains("://") && number == ENOENT
            guard path != "-" else {
                throw CommandFailure(
                    .badData, message: "The \(name) must be in a file: - is not standard input for this option.")
            }
            throw CommandFailure(
                .badData,
                message: isAddress
                    ? "The \(name) must be a file on this machine, but \(path.onOneLine) is a URL."
                    : "The \(name) cannot be read from \(path): \(systemErrorText(number)).")
        }
        defer { close(descriptor) }
        var status = stat()
        // A pipe may have no writer, and its reader would block a thread that other requests need.
        if Invocation.current.request != nil, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFIFO {
            throw CommandFailure(
                .badData,
                message: "The \(name) cannot be read from \(path.onOneLine): it is a pipe, which requests cannot use.")
        }
        return try read(
            descriptor, name: name, from: path.onOneLine, maximumBytes: maximumBytes, isExact: isExact, within: limit)
    }

    static func standardInput(
        name: String, maximumBytes: Int = Self.maximumBytes, isExact: Bool = false, within limit: Duration? = nil
    ) throws(CommandFailure) -> Secret {
        guard Invocation.current.request == nil else {
            throw CommandFailure(
                .usage, reason: "missing_data",
                message:
                    "A request has no standard input for the \(name): give it as a member of params, or in a file.")
        }
        guard !StandardStreams.inIsTerminal else {
            throw CommandFailure(.usage, message: "Standard input is a terminal: pipe the \(name) into the command.")
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
                throw CommandFailure(
                    .deadline, message: "No program wrote the \(name) to \(place) in time (--timeout).")
            }
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 { break }
            guard count > 0 else {
                if errno == EINTR || errno == EAGAIN { continue }
                let why = errno == EISDIR ? "it is a folder" : systemErrorText(errno)
                throw CommandFailure(.badData, message: "The \(name) cannot be read from \(place): \(why).")
            }
            bytes += chunk[..<count]
        }
        guard bytes.count <= maximumBytes else { throw tooLong(name, maximumBytes) }
        return isExact ? Secret(bytes) : try secret(bytes[...], name, from: place)
    }

    private static func tooLong(_ name: String, _ maximumBytes: Int) -> CommandFailure {
        CommandFailure(.badData, message: "The \(name) is longer than \(maximumBytes) bytes.")
    }

    /// The error of a request to `rainctl serve`, whose standard input carries the requests.
    private static func absent(_ name: String) -> CommandFailure {
        CommandFailure(.usage, reason: "missing_data", message: absenceSentence(name))
    }

    private static func absenceSentence(_ name: String) -> String {
        "The request has no \(name): give it as a member of params, or in a file."
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

/// The environment variables that may hold a secret. ``SecretSource`` reads only these, and no program that is started here inherits them.
enum SecretVariable: String, CaseIterable, Sendable {
    /// The official client's variable, so that its scripts continue to work.
    case password = "ESP_RAINMAKER_PASSWORD"
    case proofOfPossession = "RAINKIT_POP"
    case passphrase = "RAINKIT_PASSPHRASE"
    case clientSecret = "RAINKIT_CLIENT_SECRET"
}

extension Context {
    /// The environment of programs that are started here: everything except ``secretVariables``, and the absolute folders of `PATH`.
    var environmentOfPrograms: [String: String] {
        let secrets = secretVariables
        var result = environment.filter { !secrets.contains($0.key) }
        if let path = result["PATH"] { result["PATH"] = ProgramSearch(path: path).path }
        return result
    }

    /// rainctl's own variables, and those that definitions of identity providers name for a client's secret.
    var secretVariables: Set<String> {
        let profiles = (try? providerDefinitions.load().registry.entries) ?? []
        return Set(
            SecretVariable.allCases.map(\.rawValue) + profiles.compactMap { $0.definition.client?.secretEnvironment })
    }
}
