// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainMaker
import RainOnboarding

/// The cloud's part of setting up a board: who is signed in, and where the cloud hears whose the board is.
extension RainKitClient {
    /// Throws `notSignedIn` before anything is sent anywhere, and `missingParameter` for a provider whose users belong to no cloud that is
    /// described here.
    /// - Parameter notes: what is to be remembered with the board, for which the user's own cloud may have no place (`unsupported`).
    public func checkCanProvision(_ notes: MappingNotes = MappingNotes()) async throws(AccountError) {
        try (try await onboardingCloud().mapping as? HTTPNodeMapping)?.check(notes)
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
        let records = records(at: account.name)
        return Onboarder.Cloud(
            name: account.name, mapping: try mapping(account, user: user), claiming: claiming(account),
            pending: records.pending,
            claimed: records.claimed
        ) { () async throws(AccountError) in
            try await account.session.user().userID
        }
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
        return try HTTPNodeMapping(backend, session: account.session, user: user, http: account.http)
    }

    private func claiming(_ account: AccountAccess) -> (any NodeClaiming)? {
        account.deployment.flatMap { ClaimService($0, session: account.session) }
    }
}
