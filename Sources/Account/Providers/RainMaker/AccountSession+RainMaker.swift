import HTTPCore
import Logging

extension AccountSession {
    /// A session at a RainMaker deployment, stored under the deployment's name.
    public static func rainMaker(
        _ deployment: Deployment, http: any HTTPClient, store: any CredentialStore,
        clock: any WallClock = SystemWallClock(), logger: Logger? = nil
    ) throws(AccountError) -> AccountSession {
        AccountSession(
            provider: RainMakerIdentity(deployment, http: http, clock: clock), http: http, store: store,
            key: try CredentialKey(deployment.name), clock: clock, logger: logger)
    }
}
