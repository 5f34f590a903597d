// SPDX-License-Identifier: Apache-2.0
import RainCore

/// Checked arguments for curl: every URL is one of the deployment's, and no option can show the token, send it to another host or
/// weaken the connection.
///
/// Only options that are known to be harmless pass, because curl has hundreds of them and every version adds more.
struct CurlArguments {
    /// As curl takes them; a path has become a URL.
    private(set) var checked: [String] = []
    /// Where the requests go.
    private(set) var urls: [String] = []

    /// - Parameters:
    ///   - hasSecretURL: whether the token goes in the URL's query, so that URLs must not be printed.
    ///   - isAllowed: whether a URL is one that the token may be sent to.
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
                .usage, reason: "missing_url", message: "No URL given: rainctl account curl -- /v1/user2, for example.")
        }
    }

    private static func refused(_ option: String) -> CommandFailure {
        CommandFailure(
            .usage, reason: "refused_option",
            message: """
                \(option.onOneLine) is not passed on to curl: it could show the token, send it elsewhere, or is not known to be \
                harmless. With rainctl account header you can run curl yourself.
                """)
    }

    private static func check(
        _ value: String, of option: String, _ hasSecretURL: Bool
    ) throws(CommandFailure) -> String {
        let isHeader = option == "header"
        // As curl reads it: an at sign and a combining mark behind it are one `Character`.
        let isFile = value.utf8.first == UInt8(ascii: "@")
        if isHeader, isFile || value.lowercased().hasPrefix("authorization") {
            throw CommandFailure(
                .usage, reason: "refused_option",
                message: "The Authorization header is set by this command, and headers from a file could set another.")
        }
        if option == "write-out", isFile { throw refused("--write-out with a file") }
        // %{url}, %{url_effective}, %{urle.query} and %{json} show the whole address.
        let format = value.lowercased().unicodeScalars
        if option == "write-out", hasSecretURL,
            ["%{url", "%{json"].contains(where: { format.contains($0.unicodeScalars) })
        {
            throw refused("--write-out of an address, which contains the token here,")
        }
        return value
    }

    // curl(1), 7.88. None of these prints what is sent, leads to another host or loosens the checks of TLS.
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
