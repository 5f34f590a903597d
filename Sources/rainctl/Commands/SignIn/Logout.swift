// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainKit

struct Logout: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logout", abstract: "End the session here and at its provider.",
        discussion: "Example: rainctl logout"
    )

    @Flag(help: "End your sessions on all devices.")
    var everywhere = false

    @Option(help: .timeLimit)
    var timeout = DurationArgument(.seconds(60))

    @OptionGroup var which: ProviderOption

    @OptionGroup(title: "Everywhere") var options: GlobalOptions

    func run() async throws {
        let context = try Context(options)
        let client = try context.client(which)
        let account = try client.account()
        let inUse = AccountInUse(context, at: account.name)
        let everywhere = everywhere
        let outcome = try await withTimeout(timeout.duration) {
            try await client.signOut(everywhere: everywhere)
        }
        let name = account.provider?.title ?? "the cloud"
        var result = SignedOutResult(profile: account.name, revoked: true)
        switch outcome {
        case .complete: break
        case .partly(let report):
            result = SignedOutResult(profile: account.name, report)
            context.output.warn(result.warning(of: name), reason: "still_valid")
        case .onlyHere(let why):
            result = SignedOutResult(profile: account.name, revoked: false)
            context.output.warn(
                "signed out here, but not at \(name): \(why.message)", reason: "not_revoked")
        }
        result.accountInUse = inUse.another
        inUse.tell()
        context.output.result(result)
    }
}

/// The end of a session here, and at its provider if that could be reached.
struct SignedOutResult: ConfirmingResult {
    /// A token that the provider may still accept.
    struct Token: Encodable {
        let token: String
        let expiresAt: String?
        /// Whether the token is known to be valid.
        let certain: Bool
    }

    let profile: String
    let revoked: Bool
    /// Absent if the provider ended everything, or could not be reached.
    var stillValid: [Token]?
    /// The provider's own page for signing out.
    var signOutPage: String?
    /// The account that commands use now. Absent if they use none, or the same one as before.
    var accountInUse: String?

    var text: String { revoked ? "Signed out." : "Signed out here." }
}

extension SignedOutResult {
    init(profile: String, _ report: SignOutReport) {
        self.init(
            profile: profile, revoked: false,
            stillValid: report.stillValid.map {
                Token(token: $0.kind.rawValue, expiresAt: $0.expires.map { Timestamp.text($0) }, certain: $0.isCertain)
            }, signOutPage: report.page)
    }

    /// A warning about what remains at the provider, for users.
    func warning(of provider: String) -> String {
        let tokens = (stillValid ?? []).map { token in
            let name = token.token.replacing("_", with: " ")
            return "the \(name) (\(token.expiresAt.map { "until \($0)" } ?? "until an unknown time"))"
        }.joined(separator: " and ")
        let isCertain = (stillValid ?? []).contains { $0.certain }
        let rest =
            isCertain
            ? "\(provider) cannot end the tokens, and still accepts \(tokens)"
            : "\(provider) was asked to end the session, but does not report whether it still accepts \(tokens)"
        let page = signOutPage.map { "; to sign out in the browser too, open \($0)" } ?? ""
        return "signed out here, but \(rest)\(page)"
    }
}
