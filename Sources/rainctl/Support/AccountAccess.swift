import Logging
import RainKit

/// The deployment in use, and the session there.
struct AccountAccess: Sendable {
    let deployment: Deployment
    let session: AccountSession
    let cloud: RainMakerCloud
    /// What the user does with the account itself.
    let user: RainMakerAccount
    /// Where the session is kept, for people.
    let store: StorePlace
    /// Where the session of someone who signs in goes.
    let newSession: NewAccountStore?
}

/// Where a session is kept: in what kind of store, under which account's name, and the path if it has one.
struct StorePlace: Sendable {
    var kind: String
    var account: String?
    var path: String?

    init(_ kept: AccountDirectory.KeptAccount) {
        kind = kept.kind.rawValue
        account = kept.key.account
        path = (kept.store as? FileCredentialStore)?.path(of: kept.key)
    }
}

extension Context {
    var deploymentFile: DeploymentFile { DeploymentFile(path: "\(folders.configuration)/deployments.json") }

    /// The deployment that the flag names, then the environment, then the file, then Espressif's own.
    func deployment() throws(AccountError) -> Deployment {
        let content = try deploymentFile.load()
        var deployment = try content.deployment(
            named: options.profile ?? variable("RAINKIT_PROFILE") ?? content.currentName)
        if let caFile = options.caFile ?? variable("RAINKIT_CA_FILE") { deployment.certificateAuthorities = caFile }
        return deployment
    }

    var accounts: AccountDirectory {
        AccountDirectory(folder: folders.state, environment: environment, logger: logger)
    }

    /// What the account is to be called, or is called, if anybody said.
    var accountName: String? { options.account ?? variable("RAINKIT_ACCOUNT") }

    /// The account that the flag names, then the environment, then the one in use at the deployment.
    func account() throws(AccountError) -> AccountAccess {
        let deployment = try deployment()
        let kept = try accounts.account(at: deployment.name, named: accountName)
        return try access(deployment, store: kept.store, account: kept.key.account, place: StorePlace(kept))
    }

    /// For someone who signs in: a place for the session that is proven to work, before anything is asked. Where it is not the
    /// expected one, that is said.
    func newAccount(user: String?, store options: StoreOptions) async throws -> AccountAccess {
        try await newAccount(user: user, in: options.choice(self))
    }

    func newAccount(user: String?, in choice: StoreChoice) async throws -> AccountAccess {
        let deployment = try deployment()
        let store = try await accounts.newAccount(
            at: deployment.name, named: accountName, user: user, in: choice)
        if let note = store.note { output.say("note: \(note.asSentence)") }
        let place = AccountDirectory.KeptAccount(
            key: try CredentialKey(deployment.name, account: accountName ?? user), kind: store.kind, store: store)
        return try access(deployment, store: store, account: nil, place: StorePlace(place))
    }

    /// Takes a signed-out account off the list.
    func forget(_ account: AccountAccess) throws(AccountError) {
        guard let name = account.store.account else { return }
        try accounts.known.change { $0.remove(name, at: account.deployment.name) }
    }

    private func access(
        _ deployment: Deployment, store: any CredentialStore, account: String?, place: StorePlace
    ) throws(AccountError) -> AccountAccess {
        let client = CurlHTTPClient(CurlConfiguration(certificateAuthorities: deployment.certificateAuthorities))
        let session = try AccountSession.rainMaker(
            deployment, http: client, store: store, account: account, logger: logger)
        return AccountAccess(
            deployment: deployment, session: session,
            cloud: RainMakerCloud(deployment, session: session, http: client),
            user: RainMakerAccount(deployment, session: session, http: client), store: place,
            newSession: store as? NewAccountStore)
    }

    /// The cloud's part of an onboarding. Throws `notSignedIn` before anything is sent anywhere.
    func onboardingCloud() async throws(AccountError) -> Onboarder.Cloud {
        let account = try account()
        _ = try await account.session.userID()
        return Onboarder.Cloud(
            mapping: account.cloud, claiming: ClaimService(account.deployment, session: account.session),
            pending: FilePendingMappings(path: "\(folders.state)/pending-\(account.deployment.name).json"),
            claimed: FileClaimedBoards(path: "\(folders.state)/claimed-\(account.deployment.name).json")
        ) { () async throws(AccountError) in
            try await account.session.user().userID
        }
    }
}
