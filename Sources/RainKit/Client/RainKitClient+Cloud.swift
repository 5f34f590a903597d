// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import Logging
import RainAccount
import RainCore
import RainIO
import RainMaker

/// The cloud's part of setting up a board: who is signed in, and where the cloud hears whose the board is.
extension RainKitClient {
    /// Throws `notSignedIn` before anything is sent anywhere, and `missingParameter` for a provider whose users belong to no cloud that is
    /// described here.
    /// - Parameter notes: what is to be remembered with the board, for which the user's own cloud may have no place (`unsupported`).
    public func checkCanProvision(_ notes: MappingNotes = MappingNotes()) async throws(AccountError) {
        try (try await onboardingCloud().mapping as? HTTPNodeMapping)?.check(notes)
    }

    /// Forgets the unfinished mappings of the signed-in user. Nothing is sent, and the boards can be set up again. Mappings that another
    /// run is handling stay.
    /// - Returns: the nodes whose mappings were given up.
    @discardableResult
    public func forgetPendingMappings() async throws(OnboardingError) -> [NodeID] {
        let account: AccountAccess
        let user: UserID
        do throws(AccountError) {
            account = try self.account()
            user = try await account.session.userID()
        } catch {
            throw OnboardingError(
                error.code == .cancelled ? .cancelled : .account(error), step: .resume, message: error.message)
        }
        do throws(RecordStoreError) {
            return try await records(at: account.name).pending.forgetAll(of: user)
        } catch {
            throw OnboardingError(
                .cannotKeepPending(error), step: .resume,
                message: "What earlier runs left could not be given up: \(error).")
        }
    }

    func signedInCloud() async throws(OnboardingError) -> Onboarder.Cloud {
        do throws(AccountError) {
            return try await onboardingCloud()
        } catch {
            throw OnboardingError(
                error.code == .cancelled ? .cancelled : .account(error), step: .account, message: error.message)
        }
    }

    private func onboardingCloud() async throws(AccountError) -> Onboarder.Cloud {
        try checkBackend()
        let account = try account()
        let user = try await account.session.userID()
        let mapping = try mapping(account, user: user)
        try await (mapping as? HTTPNodeMapping)?.checkSession()
        let records = records(at: account.name)
        return Onboarder.Cloud(
            name: account.name, mapping: mapping, claiming: claiming(account), pending: records.pending,
            claimed: records.claimed
        ) { () async throws(AccountError) in
            let user = try await account.session.user().userID
            // A backend that refuses does so before anything is sent to the board.
            try await mapping.beginSession()
            return user
        }
    }

    /// How long a backend has to answer a sign-out.
    private static let signOutDeadline = Duration.seconds(2)

    /// Ends what a run has begun at the cloud, whatever came of the run.
    func endSession(at cloud: Onboarder.Cloud?) async {
        guard let mapping = cloud?.mapping else { return }
        let (timer, logger) = (configuration.tools.timer, configuration.logger)
        // Not a child of the caller's task: a cancelled task cannot send. It is awaited, and ends by its deadline.
        await Task {
            let outcome = await withDeadline(Self.signOutDeadline, sleep: { try await timer.sleep(for: $0) }) {
                () async throws(AccountError) in try await mapping.endSession()
            }
            if case .success? = outcome { return }
            logger.debug("the backend was not signed out of")
        }.value
    }

    /// RainMaker's cloud knows RainMaker's users. Those of any other identity system belong to a cloud that only the user knows.
    private func checkBackend() throws(AccountError) {
        guard let provider = configuration.provider, configuration.backend == nil else { return }
        throw AccountError(
            .missingParameter,
            message: "users of \(title(of: provider)) belong to a cloud of your own, and none is described here",
            remedies: [.backend])
    }

    private func mapping(_ account: AccountAccess, user: UserID) throws(AccountError) -> any NodeMapping {
        if let nodes = account.nodes { return nodes }
        guard let backend = configuration.backend else {
            throw AccountError(
                .unsupported,
                message: "boards cannot be put into an account at \(account.provider?.title ?? account.name)")
        }
        // Tokens are not shared with a backend where the provider has codes for that (SPiD's documentation, "Login").
        var codes: HTTPNodeMapping.CodeSource?
        if let provider = account.provider, let spid = try? SPiDAccount(account.session, provider) {
            codes = { client throws(AccountError) in try await spid.code(for: .code(forClient: client)) }
        }
        return try HTTPNodeMapping(backend, session: account.session, user: user, http: account.http, codes: codes)
    }

    private func claiming(_ account: AccountAccess) -> (any NodeClaiming)? {
        account.deployment.flatMap { ClaimService($0, session: account.session) }
    }
}
