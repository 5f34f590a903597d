// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Glibc
import RainHTTP
import RainPrivateFiles
import RainKit

struct AccountFetch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Get what is at a URL, as the signed-in user, from the provider's own hosts only.",
        discussion: """
            Example: rainctl account fetch --provider liferay /documents/10184/0/plan.pdf --output plan.pdf

            For sessions that curl has no header for, such as a portal's cookies. A path stands for a URL below the \
            provider's base. Redirects are not followed.
            """)

    @Argument(help: ArgumentHelp("The URL, or a path.", valueName: "url"))
    var url: String

    @Option(
        name: .shortAndLong, help: ArgumentHelp("Write it to this file, readable by you alone.", valueName: "file"),
        completion: .file())
    var output: String?

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup var which: ProviderOption

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    /// Larger files do not fit in memory comfortably: use another program.
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

    private func refusal(_ response: HTTPResponse, base: String) -> CommandFailure {
        switch response.status {
        case 300..<400 where response.header("Location")?.contains("login") == true, 401:
            CommandFailure(
                .auth, reason: "expired", message: "It is for signed-in users, and this session is none there.")
        case 300..<400:
            CommandFailure(.other, reason: "moved", message: "It is elsewhere (HTTP \(response.status)): not followed.")
        case 403: CommandFailure(.auth, reason: "forbidden", message: "The signed-in user may not have it.")
        case 404: CommandFailure(.other, reason: "not_found", message: "There is no such thing (HTTP 404).")
        case 500...:
            CommandFailure(
                .temporary, reason: "server_fault", message: "The server has a fault (HTTP \(response.status)).")
        default:
            CommandFailure(.other, reason: "rejected", message: "The server refused it (HTTP \(response.status)).")
        }
    }
}
