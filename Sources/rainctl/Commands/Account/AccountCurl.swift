// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CRainDescriptors
import Glibc
import RainCore
import RainKit

/// Replaces itself with curl, which reads the credentials from a pipe. They are never in a file or among the arguments, which every user of
/// the machine can read.
struct AccountCurl: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "curl",
        abstract: "Run curl as the signed-in user. The URL must be on a host of the deployment or of --provider.",
        discussion: """
            Example: rainctl account curl -- --json @params.json -X PUT \\
                         /v1/user/nodes/params?node_id=N1

            If you give only a path, rainctl appends it to the base URL. After curl has run, rainctl exits with curl's exit code. rainctl \
            refuses options that could show the token or send it to another host, such as --verbose, --location, --insecure and --proxy. \
            curl does not read ~/.curlrc.
            """)

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @Argument(
        parsing: .postTerminator,
        help: ArgumentHelp("The arguments for curl. Write them after --.", valueName: "argument"))
    var arguments: [String] = []

    @OptionGroup var which: ProviderOption

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let account = try context.client(which).account()
        let end = ContinuousClock.now + timeout.duration
        // Arguments are refused before a token is renewed. They are checked again when the token's destination is known.
        let urls = try CurlCommand(arguments, base: account.base, isAllowed: account.session.isForTokens).urls
        guard let program = CurlCommand.program else {
            throw CommandFailure(
                .unavailable, reason: "no_curl",
                message: "The program curl is not in the folders of PATH: install curl, or correct PATH.")
        }
        let proof = try await withTimeout(timeout.duration) { try await account.session.requestProof(for: urls) }
        let curl = try CurlCommand(
            arguments, base: account.base, hasSecretURL: !proof.query.isEmpty, isAllowed: account.session.isForTokens)
        let configuration = CurlCommand.configuration(
            proof: proof, certificateAuthorities: account.certificateAuthorities,
            usesProxy: account.base.hasPrefix("https:"), within: end - .now)
        for name in context.secretVariables { unsetenv(name) }
        try curl.replaceThisProcess(by: program, reading: configuration)
    }
}

/// curl with checked arguments and a configuration that it reads from a pipe.
struct CurlCommand {
    private let arguments: CurlArguments
    /// The URLs of the requests.
    var urls: [String] { arguments.urls }

    /// - Parameter hasSecretURL: whether the token goes in the URL's query.
    init(
        _ arguments: [String], base: String, hasSecretURL: Bool = false, isAllowed: (String) -> Bool
    ) throws(CommandFailure) {
        self.arguments = try CurlArguments(arguments, base: base, hasSecretURL: hasSecretURL, isAllowed: isAllowed)
    }

    /// The first curl in the folders of `PATH`.
    static var program: String? { ProgramSearch(path: getenv("PATH").map { String(cString: $0) }).file(of: "curl") }

    /// Returns what curl reads before its arguments, in the form of `curl --config`.
    ///
    /// URLs are taken literally, so that curl contacts only the host that was checked.
    static func configuration(
        proof: RequestProof, certificateAuthorities: String?, usesProxy: Bool, within limit: Duration
    ) -> Secret {
        var lines = ["globoff", "path-as-is", "proto = \"=http,https\"", "max-redirs = 0"]
        lines.append("max-time = \(max(limit, .milliseconds(1)) / .seconds(1))")
        // Plain HTTP stays on this machine, and must not be shown to a proxy.
        if !usesProxy { lines.append("noproxy = \"*\"") }
        if let certificateAuthorities { lines.append("cacert = \(quoted(certificateAuthorities))") }
        for header in proof.headers {
            lines.append("header = \(quoted("\(header.name): \(header.value.revealString())"))")
        }
        // The + in front means that the value is already encoded (curl 7.87 and later).
        for parameter in proof.query {
            lines.append("url-query = \(quoted("+\(parameter.name)=\(parameter.value.revealString())"))")
        }
        return Secret(lines.joined(separator: "\n") + "\n")
    }

    /// Returns a value for a line of curl's configuration.
    ///
    /// Unicode scalars are compared, because `\r\n` is one `Character`, as is a quote with a combining mark behind it.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\", "\"": result += "\\\(scalar)"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// Runs curl in place of this process, so that signals and the exit code are curl's own. Returns only by throwing.
    func replaceThisProcess(by program: String, reading configuration: Secret) throws(CommandFailure) -> Never {
        // Only the reading end is for curl. It loses O_CLOEXEC right before curl starts, so that no other child process inherits the token.
        var ends: [Int32] = [0, 0]
        guard pipe2(&ends, O_CLOEXEC | O_NONBLOCK) == 0, fcntl(ends[0], F_SETFL, 0) == 0 else {
            throw CommandFailure(.other, message: "A pipe to curl cannot be created: \(systemErrorText(errno)).")
        }
        // A pipe holds 64 KiB, or at least a page if the user has too many pipes. A token fits, so one write before curl starts is enough.
        let written = configuration.reveal { write(ends[1], $0.baseAddress, $0.count) }
        close(ends[1])
        guard written == configuration.count else {
            throw CommandFailure(.other, message: "The token is too long for the pipe to curl.")
        }

        // curl would inherit this process's signal handling.
        for number in [SIGPIPE, SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_DFL) }
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        let words = ["curl", "--disable", "--config", "/dev/fd/\(ends[0])"] + arguments.checked
        var pointers = words.map { strdup($0) } + [nil]
        guard fcntl(ends[0], F_SETFD, 0) == 0 else {
            throw CommandFailure(.other, message: "A pipe to curl cannot be created: \(systemErrorText(errno)).")
        }
        execv(program, &pointers)
        throw CommandFailure(
            .unavailable, reason: "no_curl", message: "\(program) does not start: \(systemErrorText(errno)).")
    }
}

/// Checked arguments for curl: every URL is one of the deployment's, and no option can show the token, send it to another host or
/// weaken the connection.
///
/// Only options that are known to be harmless pass, because curl has hundreds of them and every version adds more.
struct CurlArguments {
    /// The arguments as curl takes them; a path has become a URL.
    private(set) var checked: [String] = []
    /// The URLs of the requests.
    private(set) var urls: [String] = []

    /// - Parameters:
    ///   - hasSecretURL: whether the token goes in the URL's query, so that URLs must not be printed.
    ///   - isAllowed: whether the token may be sent to a URL.
    init(
        _ arguments: [String], base: String, hasSecretURL: Bool = false, isAllowed: (String) -> Bool
    ) throws(CommandFailure) {
        var rest = arguments[...]
        func url(_ text: String) throws(CommandFailure) -> String {
            let url = text.hasPrefix("/") && !text.hasPrefix("//") ? base + text : text
            guard isAllowed(url) else {
                throw CommandFailure(
                    .usage, reason: "foreign_url",
                    message:
                        "The token is for \(base) only, and was not sent to \"\(ShownText.withoutUserInfo(text).onOneLine)\"."
                )
            }
            urls.append(url)
            return url
        }
        func value(of option: String) throws(CommandFailure) -> String {
            guard let value = rest.popFirst() else {
                throw CommandFailure(.usage, message: "curl's \(option) needs a value.")
            }
            return value
        }

        while let argument = rest.popFirst() {
            if argument.hasPrefix("--"), argument != "--" {
                let name = String(argument.dropFirst(2))
                checked.append(argument)
                if name == "url" {
                    checked.append(try url(try value(of: argument)))
                } else if Self.optionsWithValue.contains(name) {
                    checked.append(try Self.check(try value(of: argument), of: name, hasSecretURL))
                } else if !Self.flags.contains(name) {
                    throw Self.refused(argument)
                }
            } else if argument.hasPrefix("-"), argument.count > 1, argument != "--" {
                // Short options may be joined. The rest after a letter that takes a value is its value.
                var letters = argument.dropFirst()
                checked.append(argument)
                while let letter = letters.popFirst() {
                    if Self.flagLetters.contains(letter) { continue }
                    guard let name = Self.lettersWithValue[letter] else { throw Self.refused("-\(letter)") }
                    if letters.isEmpty {
                        checked.append(try Self.check(try value(of: "-\(letter)"), of: name, hasSecretURL))
                    } else {
                        _ = try Self.check(String(letters), of: name, hasSecretURL)
                    }
                    break
                }
            } else {
                checked.append(try url(argument))
            }
        }
        guard !urls.isEmpty else {
            throw CommandFailure(
                .usage, reason: "missing_url",
                message: "No URL was given. Example: \(commandLine("account curl -- /v1/user2"))")
        }
    }

    private static func refused(_ option: String) -> CommandFailure {
        CommandFailure(
            .usage, reason: "refused_option",
            message: """
                The command does not pass \(option.onOneLine) to curl. It passes only known options that keep the token secret. To use \
                other options, run curl yourself, with the header from rainctl account header.
                """)
    }

    private static func check(
        _ value: String, of option: String, _ hasSecretURL: Bool
    ) throws(CommandFailure) -> String {
        let isHeader = option == "header"
        // As curl reads it. An at sign with a combining mark behind it is one `Character`.
        let isFile = value.utf8.first == UInt8(ascii: "@")
        if isHeader, isFile || value.lowercased().hasPrefix("authorization") {
            throw CommandFailure(
                .usage, reason: "refused_option",
                message:
                    "The command adds the Authorization header itself: omit this header. A file of headers is refused, because the "
                    + "file could contain this header."
            )
        }
        if option == "write-out", isFile { throw refused("--write-out with a file") }
        // %{url}, %{url_effective}, %{urle.query} and %{json} show the whole address.
        let format = value.lowercased().unicodeScalars
        if option == "write-out", hasSecretURL,
            ["%{url", "%{json"].contains(where: { format.contains($0.unicodeScalars) })
        {
            throw refused("a --write-out that shows the address (here, the address contains the token)")
        }
        return value
    }

    // curl(1), 7.88. None of these prints what is sent, contacts another host or weakens the checks of TLS.
    private static let flags: Set = [
        "compressed", "create-dirs", "fail", "fail-early", "fail-with-body", "get", "head", "http1.1", "http2",
        "include", "ipv4", "ipv6", "no-buffer", "no-progress-meter", "progress-bar", "remote-name", "retry-all-errors",
        "retry-connrefused", "show-error", "silent", "tcp-nodelay",
    ]
    private static let flagLetters: Set<Character> = ["f", "G", "I", "i", "4", "6", "N", "#", "O", "S", "s"]
    private static let optionsWithValue: Set = [
        "connect-timeout", "data", "data-ascii", "data-binary", "data-raw", "data-urlencode", "dump-header",
        "etag-compare",
        "etag-save", "form", "form-string", "header", "json", "limit-rate", "max-filesize", "max-time", "output",
        "output-dir", "range", "request", "retry", "retry-delay", "retry-max-time", "speed-limit", "speed-time",
        "upload-file", "url-query", "user-agent", "write-out",
    ]
    private static let lettersWithValue: [Character: String] = [
        "A": "user-agent", "D": "dump-header", "d": "data", "F": "form", "H": "header", "m": "max-time", "o": "output",
        "r": "range", "T": "upload-file", "w": "write-out", "X": "request", "Y": "speed-limit", "y": "speed-time",
    ]
}
