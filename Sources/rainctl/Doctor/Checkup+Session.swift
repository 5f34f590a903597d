// SPDX-License-Identifier: Apache-2.0
import RainKit

/// Who is signed in, and whether the cloud takes the session.
extension Checkup {
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
            if let finding = await refusal(of: account, user: status.userName) { return [finding] }
            return [.ok("session", "\(user) is signed in.")]
        } catch {
            return unusable(error, account)
        }
    }

    /// What the cloud has against the session, which looks good here, or why it cannot tell; nil where it takes it.
    private func refusal(of account: AccountAccess, user: String) async -> Finding? {
        guard let rainMaker = account.rainMaker else { return nil }
        let outcome = await answer(within: answerLimit) { () async throws(AccountError) in try await rainMaker.user() }
        let name = user.onOneLine
        var finding: Finding
        switch outcome {
        case .success: return nil
        case .failure(let error):
            let failure = CommandFailure(error)
            switch error.code {
            case .cancelled: return nil
            case _ where failure.status == .auth:
                return .fail(
                    "session", failure.reason,
                    "The cloud does not take the session of \(name) any longer: \(error.message.asSentence)",
                    fix: signIn(user))
            // Tokens that were renewed, and cannot be kept.
            case .storeUnreadable, .cannotStore, .storeLocked, .storeAbsent, .storeNotAnswering:
                return unusable(error, account).first
            case .rateLimited: finding = .warn("session", failure.reason, Self.untold(name, failure.message))
            case .serverFault: finding = .fail("session", failure.reason, Self.untold(name, failure.message))
            default:
                let fix = "rainctl account curl -- -i /v1/user2"
                finding = .fail("session", failure.reason, Self.untold(name, failure.message), fix: fix)
            }
        case nil:
            let message = Self.untold(name, "It does not answer.")
            finding = .fail("session", "timeout", message, fix: "rainctl account curl -- -i /v1/user2")
        }
        finding.messageWithoutCloud = "\(name) is signed in, as far as can be told without the cloud."
        return finding
    }

    private static func untold(_ user: String, _ why: String) -> String {
        "The cloud does not say whether it takes the session of \(user): \(why)"
    }

    /// Where not even the account is known.
    private func unusableList(_ error: AccountError) -> [Finding] {
        // The check of the profile says so, or that of the files.
        guard error.code != .invalidConfiguration, !home.keepsAway(context.folders.state) else { return [] }
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
        case .notSignedIn: return [absent(account)]
        // The check of the profile says so.
        case .invalidConfiguration: return []
        // The check of the files says so.
        case .storeUnreadable where home.keepsAway(context.folders.state),
            .cannotStore where home.keepsAway(context.folders.state):
            return []
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

    /// Nobody is signed in, or not the one whom somebody names.
    private func absent(_ account: AccountAccess) -> Finding {
        let list = try? context.accounts.known.load()
        guard let (name, origin) = ProfileSettings.namedAccount(context) else {
            return .fail("session", "not_signed_in", "Nobody is signed in.", fix: signIn(nil))
        }
        let others = (list?.entries(at: account.name) ?? []).map(\.name).filter { $0 != name }
        let known = others.isEmpty ? "nobody else" : others.map(\.onOneLine).joined(separator: ", ")
        let message =
            "The account \(name.onOneLine) is not signed in at \(account.name.onOneLine). The name comes from: \(origin). "
            + "Signed in there: \(known)."
        // What it is called may be no name that one can sign in with.
        let user = list?.entry(name, at: account.name)?.userName ?? (name.contains("@") ? name : nil)
        guard case .variable(let variable) = origin, !others.isEmpty else {
            return .fail("session", "not_signed_in", message, fix: signIn(user))
        }
        return .fail("session", "not_signed_in", message, fix: "unset \(variable)")
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
