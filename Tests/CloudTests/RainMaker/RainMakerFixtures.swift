// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainMaker
import RainHTTP
import RainJSON
import RainKitTesting
import RainCore

/// A cloud that plays a script, with a signed-in user.
struct ScriptedCloud {
    let http = ScriptedHTTPClient()
    let cloud: RainMakerCloud

    init(signedIn: Bool = true) throws {
        cloud = try Self.cloud(over: http, signedIn: signedIn)
    }

    static func cloud(over http: any HTTPClient, signedIn: Bool = true) throws -> RainMakerCloud {
        let deployment = try Deployment(name: "sim", base: "http://127.0.0.1:1")
        let saved = SavedSession(
            provider: "rainmaker", userID: UserID("user-1"), userName: "dev@example.com",
            tokens: Tokens(access: Secret("planted-access"), received: UnixTime(seconds: 0)))
        let store = InMemoryCredentialStore(signedIn ? [try CredentialKey("sim"): saved] : [:])
        let session = try AccountSession.rainMaker(
            deployment, http: http, store: store, clock: ManualWallClock(), timer: ManualClock())
        return RainMakerCloud(deployment, session: session, http: http)
    }

    /// The bodies that were sent.
    var bodies: [JSONValue?] { http.requests.map { try? JSONValue(parsing: $0.body) } }
}
