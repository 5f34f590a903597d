// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import RainHTTP
import RainPrivateFiles
import RainCore
import RainKit

struct AccountFetch: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "fetch",
        abstract: "Download a URL as the signed-in user. The URL must be on a host of the provider.",
        discussion: """
            Example: rainctl account fetch --provider liferay \\
                         /documents/10184/0/plan.pdf --output plan.pdf

            Use this command if rainctl account curl cannot use the session, for example because the session is a cookie. If you give \
            only a path, rainctl appends it to the provider's base URL. rainctl does not follow redirects.
            """)

    @Argument(help: ArgumentHelp("The URL, or a path on the provider's host.", valueName: "url"))
    var url: String

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Write the content to this file. Only you can read it.", valueName: "file"),
        completion: .file())
    var output: String?

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup var which: ProviderOption

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    /// Larger files take too much memory: use another program.
    private static let maximumBytes = 256 << 20

    func run() async throws {
        let context = try Context(options)
        let access = try context.client(which).account()
        let request = HTTPRequest(
            method: .get, url: url.hasPrefix("/") ? access.base + url : url,
            headers: [HTTPHeader("User-Agent", "rainctl")], deadline: timeout.duration,
            maximumResponseBytes: Self.maximumBytes)
        let response = try await withTimeout(timeout.duration) { try await access.session.send(request) }
        guard 200..<300 ~= response.status else { throw refusal(response, base: access.base) }
        if let output {
            do throws(PrivateFileError) {
                try PrivateFile(path: output).write(response.body)
            } catch {
                throw CommandFailure(.cannotWrite, message: "\(output.onOneLine) cannot be written: \(error).")
            }
        } else if StandardStreams.outIsTerminal {
            StandardStreams.out(String(decoding: response.body, as: UTF8.self).linesWithoutControls)
        } else {
            StandardStreams.out(response.body)
        }
    }

    /// The requested path, without a query and a user name, which may be secrets.
    private var shownPath: String {
        ShownText.withoutUserInfo(String(url.prefix { $0 != "?" && $0 != "#" })).onOneLine
    }

    private func refusal(_ response: HTTPResponse, base: String) -> CommandFailure {
        switch response.status {
        case 300..<400 where response.header("Location")?.contains("login") == true, 401:
            CommandFailure(
                .auth, reason: "expired", message: "The server did not accept this session (HTTP 401).")
        case 300..<400:
            CommandFailure(
                .other, reason: "moved",
                message:
                    "The server redirects this request\(response.newAddress.map { ", to \($0)" } ?? "") (HTTP \(response.status)). "
                    + "rainctl did not follow the redirect."
            )
        case 403:
            CommandFailure(
                .auth, reason: "forbidden", message: "The signed-in user has no access to \(shownPath) (HTTP 403).")
        case 404: CommandFailure(.other, reason: "not_found", message: "\(shownPath) does not exist (HTTP 404).")
        case 500...:
            CommandFailure(
                .temporary, reason: "server_fault",
                message: "The server has an internal fault (HTTP \(response.status)).")
        default:
            CommandFailure(
                .other, reason: "rejected", message: "The server refused the request (HTTP \(response.status)).")
        }
    }
}
