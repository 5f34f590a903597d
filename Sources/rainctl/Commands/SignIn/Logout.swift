// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainKit

struct Logout: AsyncParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        commandName: "logout", abstract: "Sign out: end the session, on this machine and at the identity provider.",
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
        let outcome: AccountSession.SignOutOutcome
        do {
            outcome = try await withTimeout(timeout.duration) {
                try await client.signOut(everywhere: everywhere)
            }
        } catch {
            throw Self.withoutSignIn(error)
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

extension Logout {
    /// Returns the error without the advice to sign in: a user who wants to sign out has no use for it.
    private static func withoutSignIn(_ error: any Error) -> any Error {
        guard let account = (error as? RainKitError)?.account, account.code == .notSignedIn else { return error }
        return CommandFailure(
            ExitStatus(account), reason: "\(account.code)",
            message: GivenSettings.ofThisCommand.message(of: account).asSentence
                + " See who is signed in with: \(commandLine("account list"))")
    }
}

extension SignedOutResult: ConfirmingResult {
    var text: String { revoked ? "Signed out." : "Signed out on this machine." }
}
