// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainMaker

/// The deployment in use.
extension Checkup {
    func profile() -> [Finding] {
        // No claim service claims boards of other providers' users.
        guard client.configuration.provider == nil else { return [] }
        let deployment = client.configuration.deployment
        if deployment.neo != nil {
            return [
                .ok(
                    "profile",
                    "The deployment in use is \(deployment.name.onOneLine), a deployment of RainMaker Neo at \(deployment.base.text)."
                )
            ]
        }
        guard deployment.claim != nil else {
            return [
                .warn(
                    "profile", "no_claim_service",
                    "The deployment \(deployment.name.onOneLine) has no claim service: boards without a certificate cannot be set up "
                        + "there.",
                    fix: .remedy(.claimService))
            ]
        }
        return [.ok("profile", "The deployment in use is \(deployment.name.onOneLine), at \(deployment.base.text).")]
    }
}

/// The user who is signed in, and whether the cloud accepts the session.
extension Checkup {
    func session() async -> [Finding] {
        let account: AccountAccess
        do throws(AccountError) {
            account = try client.accountInUse()
        } catch {
            return unusableList(error)
        }
        do throws(AccountError) {
            let status = try await account.session.status()
            let user = status.userName.onOneLine
            if status.hasExpired, !status.isRenewable {
                return [
                    Finding.fail("session", "expired", "The session of \(user) has ended, and cannot be renewed.")
                        .fixed(bySignInOf: status.userName)
                ]
            }
            if let finding = await refusal(of: account, user: status.userName) { return [finding] }
            return [.ok("session", "\(user) is signed in.")]
        } catch {
            return unusable(error, account)
        }
    }

    /// Why the cloud refuses a session that looks usable here, or why it is unknown whether it does; nil if the cloud accepts it.
    private func refusal(of account: AccountAccess, user: String) async -> Finding? {
        guard let rainMaker = account.rainMaker else { return nil }
        let outcome = await answer(within: answerLimit) { () async throws(AccountError) in try await rainMaker.user() }
        let name = user.onOneLine
        var finding: Finding
        switch outcome {
        case .success: return nil
        case .failure(let error):
            let code = RainKitError(error).code
            switch error.code {
            case .cancelled: return nil
            case _ where code == .auth:
                return Finding.fail(
                    "session", "\(error.code)",
                    "The cloud no longer accepts the session of \(name): \(error.message.asSentence)"
                ).fixed(bySignInOf: user)
            // Tokens that were renewed, and cannot be kept.
            case .storeUnreadable, .cannotStore, .storeLocked, .storeAbsent, .storeNotAnswering:
                return unusable(error, account).first
            case .rateLimited: finding = .warn("session", "\(error.code)", Self.unknown(name, Self.sentence(error)))
            case .serverFault: finding = .fail("session", "\(error.code)", Self.unknown(name, Self.sentence(error)))
            default:
                finding = .fail(
                    "session", "\(error.code)", Self.unknown(name, Self.sentence(error)), fix: .remedy(.cloudAnswer))
            }
            finding.remedies = error.remedies
        case nil:
            finding = .fail(
                "session", "timeout", Self.unknown(name, "The cloud does not answer."), fix: .remedy(.cloudAnswer))
        }
        finding.messageWithoutCloud = "\(name) is signed in, according to the stored session."
        return finding
    }

    private static func unknown(_ user: String, _ why: String) -> String {
        "It is not known whether the cloud accepts the session of \(user): \(why)"
    }

    private static func sentence(_ error: AccountError) -> String {
        var sentence = error.message.asSentence
        if let wait = error.retryAfter {
            let seconds = wait.components.seconds + (wait.components.attoseconds > 0 ? 1 : 0)
            sentence = sentence.replacing("; try again in a few minutes", with: "")
            sentence += " The server asks clients to wait \(seconds) s."
        }
        if let words = error.serverMessage, !words.isEmpty, !error.message.contains("\"\(words)\"") {
            sentence += " (The server says: \(words.onOneLine))"
        }
        return sentence
    }

    /// The findings if not even the account is known.
    private func unusableList(_ error: AccountError) -> [Finding] {
        // The checks of the deployment and of the files report these.
        guard error.code != .invalidConfiguration, !home.keepsAway(client.configuration.state) else { return [] }
        let finding = Finding.fail("session", Self.reason(error), error.message.asSentence)
        let known = client.accounts.known
        if (try? known.load()) == nil {
            return [finding.mended(privateFile: known.path, else: Finding.movingAway(known.path))]
        }
        // The other place is the one in which systemd hands credentials to a service.
        let folder = client.configuration.environment["CREDENTIALS_DIRECTORY"]?.asShellWord ?? ""
        return [finding.fixed(by: .command("ls -l \(folder)"))]
    }

    private func unusable(_ error: AccountError, _ account: AccountAccess) -> [Finding] {
        let finding = Finding.fail("session", Self.reason(error), error.message.asSentence)
        let user = userName(of: account)
        switch error.code {
        case .notSignedIn: return [absent(account)]
        // The check of the deployment reports it.
        case .invalidConfiguration: return []
        // The check of the files reports it.
        case .storeUnreadable where home.keepsAway(client.configuration.state),
            .cannotStore where home.keepsAway(client.configuration.state):
            return []
        // A sign-in replaces the stored session, whatever is there.
        case .storeUnreadable, .cannotStore:
            let signIn = finding.fixed(bySignInOf: user)
            guard let path = account.place.path else { return [signIn] }
            return [signIn.mended(privateFile: path, else: signIn.fix)]
        case .storeLocked, .storeAbsent, .storeNotAnswering:
            var finding = finding.fixed(bySignInOf: user)
            finding.fix = .remedy(.fileStore)
            return [finding]
        default:
            var other = Finding.fail("session", "\(error.code)", Self.sentence(error))
            other.remedies = error.remedies
            guard RainKitError(error).code == .auth else { return [other.fixed(by: .remedy(.storedSession))] }
            return [other.fixed(bySignInOf: user)]
        }
    }

    /// Nobody is signed in, or not the user whom the configuration names.
    private func absent(_ account: AccountAccess) -> Finding {
        guard let name = client.configuration.account else {
            return Finding.fail("session", "not_signed_in", "Nobody is signed in.").fixed(bySignInOf: nil)
        }
        let list = try? client.accounts.known.load()
        let others = (list?.entries(at: account.name) ?? []).map(\.name).filter { $0 != name }
        let known = others.isEmpty ? "none" : others.map(\.onOneLine).joined(separator: ", ")
        // The name of an account may not be one to sign in with.
        let user = list?.entry(name, at: account.name)?.userName ?? (name.contains("@") ? name : nil)
        return Finding.fail(
            "session", "not_signed_in",
            "The account \(name.onOneLine) is not signed in at \(account.name.onOneLine). Accounts that are signed in there: \(known)."
        ).fixed(bySignInOf: user)
    }

    /// A folder that is not trusted stops a session from being read here, and not only from being stored.
    private static func reason(_ error: AccountError) -> String {
        error.code == .cannotStore ? "store_unreadable" : "\(error.code)"
    }

    /// The name that the user signs in with, if the list of accounts has it.
    private func userName(of account: AccountAccess) -> String? {
        guard let list = try? client.accounts.known.load(), let name = account.place.account else { return nil }
        return list.entry(name, at: account.name)?.userName
    }
}

extension Finding {
    /// The same with a sign-in as what fixes it.
    fileprivate func fixed(bySignInOf user: String?) -> Finding {
        var finding = fixed(by: .remedy(.signIn))
        finding.user = user
        return finding
    }
}
