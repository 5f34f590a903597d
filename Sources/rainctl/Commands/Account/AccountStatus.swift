// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct AccountStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "status", abstract: "Show the stored session and its user. The command does not ask the cloud.",
        discussion: "Example: rainctl account status --json")

    @OptionGroup var which: ProviderOption

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let account = try context.client(which).account()
        context.output.result(SessionResult(account, try await account.session.status()))
    }
}

struct AccountRefresh: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "refresh", abstract: "Renew the tokens now, even if they are still valid.",
        discussion: "Example: rainctl account refresh")

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup var which: ProviderOption

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let account = try context.client(which).account()
        let status = try await withTimeout(timeout.duration) { try await account.session.renew() }
        context.output.result(RenewalResult(session: SessionResult(account, status)))
    }
}

/// A session with new tokens: the members of the session.
struct RenewalResult: ConfirmingResult {
    let session: SessionResult

    func encode(to encoder: any Encoder) throws { try session.encode(to: encoder) }

    var text: String { "Renewed: the access token is \(session.validity)." }
}

extension SessionResult: CommandResult {
    var text: String {
        let renewal = renewable ? "renewed when needed" : "cannot be renewed: sign in again when it has expired"
        return """
            \(userName.onOneLine)
            user id: \(userID.onOneLine)
            profile: \(profile) (\(baseURL))
            store: \(store)\(storePath.map { ", \($0)" } ?? "")
            access token: \(validity); \(renewal)\(refreshExpiresAt.map { "\nrefresh token: \(refreshValidity($0))" } ?? "")
            """
    }

    private func refreshValidity(_ end: String) -> String {
        Self.validity(for: refreshExpiresIn, end: end)
    }

    /// `valid for …` or `expired … ago`.
    var validity: String {
        guard let expiresAt else { return "valid (its expiry time is not known)" }
        return Self.validity(for: expiresIn, end: expiresAt)
    }

    private static func validity(for seconds: Int64?, end: String) -> String {
        guard let seconds else { return "until \(end)" }
        let span = PlainTime.span(seconds: abs(seconds))
        return seconds < 0 ? "expired \(span) ago" : "valid for \(span)"
    }
}
