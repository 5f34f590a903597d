// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainHTTP
import Logging

extension AccountSession {
    /// A session at a RainMaker deployment, stored under the deployment's name and the account's.
    /// - Parameter account: what the account is called in the store; nil where there is no other.
    public static func rainMaker(
        _ deployment: Deployment, http: any HTTPClient, store: any CredentialStore, account: String? = nil,
        clock: any WallClock = SystemWallClock(), logger: Logger? = nil
    ) throws(AccountError) -> AccountSession {
        try rainMaker(
            deployment, http: http, store: store, account: account, clock: clock, logger: logger,
            timer: ContinuousClock())
    }

    /// - Parameter timer: by which what takes too long is given up.
    package static func rainMaker(
        _ deployment: Deployment, http: any HTTPClient, store: any CredentialStore, account: String? = nil,
        clock: any WallClock = SystemWallClock(), logger: Logger? = nil, timer: any Clock<Duration>
    ) throws(AccountError) -> AccountSession {
        let server = ServerClock(clock: clock)
        return AccountSession(
            provider: RainMakerIdentity(deployment, http: server.listening(to: http), clock: clock), http: http,
            store: store, key: try CredentialKey(deployment.name, account: account), clock: clock, server: server,
            logger: logger, timer: timer)
    }
}
