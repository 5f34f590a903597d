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
}

/// Where a session is kept: what kind of store, and the path if it has one.
struct StorePlace: Sendable {
    var kind: String
    var path: String?
}

extension Context {
    var deploymentFile: DeploymentFile { DeploymentFile(path: "\(folders.configuration)/deployments.json") }

    /// The deployment that the flag names, then the environment, then the file, then Espressif's own.
    func deployment() throws(AccountError) -> Deployment {
        let content = try deploymentFile.load()
        let variable = environment["RAINKIT_PROFILE"].flatMap { $0.isEmpty ? nil : $0 }
        var deployment = try content.deployment(named: options.profile ?? variable ?? content.currentName)
        if let caFile = options.caFile { deployment.certificateAuthorities = caFile }
        return deployment
    }

    func account() throws(AccountError) -> AccountAccess {
        let deployment = try deployment()
        let client = CurlHTTPClient(CurlConfiguration(certificateAuthorities: deployment.certificateAuthorities))
        let folder = "\(folders.state)/sessions"
        let session = try AccountSession.rainMaker(
            deployment, http: client, store: FileCredentialStore(folder: folder), logger: logger)
        return AccountAccess(
            deployment: deployment, session: session,
            cloud: RainMakerCloud(deployment, session: session, http: client),
            user: RainMakerAccount(deployment, session: session, http: client),
            store: StorePlace(kind: "file", path: "\(folder)/\(deployment.name).json"))
    }

    /// The cloud's part of an onboarding. Throws `notSignedIn` before anything is sent anywhere.
    func onboardingCloud() async throws(AccountError) -> Onboarder.Cloud {
        let account = try account()
        _ = try await account.session.userID()
        return Onboarder.Cloud(
            mapping: account.cloud,
            pending: FilePendingMappings(path: "\(folders.state)/pending-\(account.deployment.name).json")
        ) { () async throws(AccountError) in
            try await account.session.profile().userID
        }
    }
}
