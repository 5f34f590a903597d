// SPDX-License-Identifier: Apache-2.0
import CRainDescriptors
import Glibc
import RainKit
import RainCore

/// curl with checked arguments and a configuration that it reads from a pipe.
struct CurlCommand {
    private let arguments: CurlArguments
    /// Where the requests go.
    var urls: [String] { arguments.urls }

    /// - Parameter hasSecretURL: whether the token goes in the URL's query.
    init(
        _ arguments: [String], base: String, hasSecretURL: Bool = false, isAllowed: (String) -> Bool
    ) throws(CommandFailure) {
        self.arguments = try CurlArguments(arguments, base: base, hasSecretURL: hasSecretURL, isAllowed: isAllowed)
    }

    /// The first curl in the folders of `PATH`.
    static var program: String? { ProgramSearch(path: getenv("PATH").map { String(cString: $0) }).file(of: "curl") }

    /// What curl reads before its arguments, in the form of `curl --config`.
    ///
    /// URLs are taken literally, so that curl asks for no other host than the one that was checked.
    static func configuration(
        proof: RequestProof, certificateAuthorities: String?, usesProxy: Bool, within limit: Duration
    ) -> Secret {
        var lines = ["globoff", "path-as-is", "proto = \"=http,https\"", "max-redirs = 0"]
        lines.append("max-time = \(max(limit, .milliseconds(1)) / .seconds(1))")
        // Plain http stays on this machine, and must not be shown to a proxy.
        if !usesProxy { lines.append("noproxy = \"*\"") }
        if let certificateAuthorities { lines.append("cacert = \(quoted(certificateAuthorities))") }
        for header in proof.headers {
            lines.append("header = \(quoted("\(header.name): \(header.value.revealString())"))")
        }
        // A + in front: it is encoded already (curl 7.87 and later).
        for parameter in proof.query {
            lines.append("url-query = \(quoted("+\(parameter.name)=\(parameter.value.revealString())"))")
        }
        return Secret(lines.joined(separator: "\n") + "\n")
    }

    /// Returns a value for a line of curl's configuration.
    ///
    /// Unicode scalars are compared, as `\r\n` is one `Character`, and so are a quote and a combining mark behind it.
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

    /// Runs curl in the place of this process, so that signals and the exit code are curl's own. Returns only by throwing.
    func replaceThisProcess(by program: String, reading configuration: Secret) throws(CommandFailure) -> Never {
        // Only the reading end is for curl. It loses O_CLOEXEC right before curl starts, so that no other child process inherits the token.
        var ends: [Int32] = [0, 0]
        guard pipe2(&ends, O_CLOEXEC | O_NONBLOCK) == 0, fcntl(ends[0], F_SETFL, 0) == 0 else {
            throw CommandFailure(.other, message: "No pipe to curl: \(String(cString: strerror(errno))).")
        }
        // A pipe holds 64 KiB, or at least a page where a user has too many: a token fits, so one write before curl starts is enough.
        let written = configuration.reveal { write(ends[1], $0.baseAddress, $0.count) }
        close(ends[1])
        guard written == configuration.count else {
            throw CommandFailure(.other, message: "The token is too long to be handed to curl.")
        }

        // curl would inherit this process's signal handling.
        for number in [SIGPIPE, SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_DFL) }
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        let words = ["curl", "--disable", "--config", "/dev/fd/\(ends[0])"] + arguments.checked
        var pointers = words.map { strdup($0) } + [nil]
        guard fcntl(ends[0], F_SETFD, 0) == 0 else {
            throw CommandFailure(.other, message: "No pipe to curl: \(String(cString: strerror(errno))).")
        }
        execv(program, &pointers)
        throw CommandFailure(
            .unavailable, reason: "no_curl", message: "\(program) does not start: \(String(cString: strerror(errno))).")
    }
}
