// SPDX-License-Identifier: Apache-2.0
import RainKit

/// Which cloud is in use, and who is signed in there.
extension Checkup {
    func profile() -> [Finding] {
        let deployment: Deployment
        do throws(AccountError) {
            deployment = try context.deployment()
        } catch {
            return [unusable(error)]
        }
        guard deployment.claim != nil else {
            return [
                .warn(
                    "profile", "no_claim_service",
                    "The profile \(deployment.name.onOneLine) has no claim service: boards without a certificate cannot be set up there.",
                    fix: commandsForClaims(at: deployment)
                )
            ]
        }
        return [.ok("profile", "The profile in use is \(deployment.name.onOneLine), at \(deployment.base.text).")]
    }

    /// The new profile is also the one that is used from then on.
    private func commandsForClaims(at deployment: Deployment) -> String? {
        guard let (name, commands) = try? context.commandsForClaims(at: deployment) else { return nil }
        return "\(commands) && rainctl profile use \(name)"
    }

    private func unusable(_ error: AccountError) -> Finding {
        guard error.remedies.contains(.knownDeployment) else {
            let path = context.deploymentFile.path
            return Finding.fail("profile", "unreadable_profiles", error.message.asSentence)
                .mended(privateFile: path, else: Finding.movingAway(path))
        }
        var message = error.message.asSentence
        var fix = "rainctl profile list"
        if let content = try? context.deploymentFile.load() {
            let origin = ProfileSettings.chosen(context, content).origin
            message += " The name comes from: \(origin)."
            switch origin {
            case .variable(let name): fix = "unset \(name)"
            case .file(context.deploymentFile.path): fix = "rainctl profile use global"
            default: break
            }
        }
        return .fail("profile", "unknown_profile", message, fix: fix)
    }

    func session() async -> [Finding] {
        // There is nowhere to look, which the check of the files says.
        guard !lacksHome else { return [] }
        let account: AccountAccess
        do throws(AccountError) {
            account = try context.client().account()
        } catch {
            return unusableList(error)
        }
        do throws(AccountError) {
            let status = try await account.session.status()
            let user = status.userName.onOneLine
            if status.hasExpired, !status.isRenewable {
                return [
                    .fail(
                        "session", "expired", "The session of \(user) is over, and nothing renews it.",
                        fix: signIn(status.userName))
                ]
            }
            if let refusal = await refusal(of: account) {
                return [
                    .fail(
                        "session", "\(refusal.code)",
                        "The cloud does not take the session of \(user) any longer: \(refusal.message.asSentence)",
                        fix: signIn(status.userName))
                ]
            }
            return [.ok("session", "\(user) is signed in.")]
        } catch {
            return unusable(error, account)
        }
    }

    /// What the cloud has against the session, which looks good here; nil where it takes it. That it cannot be asked is what the check of the
    /// cloud is for.
    private func refusal(of account: AccountAccess) async -> AccountError? {
        guard let rainMaker = account.rainMaker else { return nil }
        let outcome = await answer(within: answerLimit) { () async throws(AccountError) in try await rainMaker.user() }
        guard case .failure(let error)? = outcome, CommandFailure(error).status == .auth else { return nil }
        return error
    }

    /// Where not even the account is known.
    private func unusableList(_ error: AccountError) -> [Finding] {
        // The check of the profile says so.
        guard error.code != .invalidConfiguration else { return [] }
        let finding = Finding.fail("session", Self.reason(error), error.message.asSentence)
        let path = context.accounts.known.path
        if (try? context.accounts.known.load()) == nil {
            return [finding.mended(privateFile: path, else: Finding.movingAway(path))]
        }
        // What is left is what systemd hands to a service.
        return [finding.fixed(by: "ls -l \(context.environment["CREDENTIALS_DIRECTORY"]?.asShellWord ?? "")")]
    }

    private func unusable(_ error: AccountError, _ account: AccountAccess) -> [Finding] {
        let finding = Finding.fail("session", Self.reason(error), error.message.asSentence)
        let user = userName(of: account)
        switch error.code {
        case .notSignedIn:
            return [.fail("session", "not_signed_in", "Nobody is signed in.", fix: signIn(nil))]
        // The check of the profile says so.
        case .invalidConfiguration: return []
        // A sign-in replaces what is stored, whatever that is.
        case .storeUnreadable, .cannotStore:
            guard let path = account.place.path else { return [finding.fixed(by: signIn(user))] }
            return [finding.mended(privateFile: path, else: signIn(user))]
        case .storeLocked, .storeAbsent, .storeNotAnswering:
            return [finding.fixed(by: "\(signIn(user)) --store file")]
        default:
            let failure = CommandFailure(error)
            return [
                .fail(
                    "session", failure.reason, failure.message,
                    fix: failure.status == .auth ? signIn(user) : "rainctl account status")
            ]
        }
    }

    /// A folder that is not trusted keeps a session from being read here, and not only from being stored.
    private static func reason(_ error: AccountError) -> String {
        error.code == .cannotStore ? "store_unreadable" : "\(error.code)"
    }

    /// What the user signs in with, where the list of accounts has them.
    private func userName(of account: AccountAccess) -> String? {
        guard let list = try? context.accounts.known.load(), let name = account.place.account else { return nil }
        return list.entry(name, at: account.name)?.userName
    }

    /// To the same deployment and account as this command's options name.
    private func signIn(_ user: String?) -> String {
        var words = ["rainctl", "login", user?.withoutControls.asShellWord ?? "USER"]
        if let profile = context.options.profile { words += ["--profile", profile.asShellWord] }
        if let account = context.options.account { words += ["--account", account.asShellWord] }
        return words.joined(separator: " ")
    }
}
