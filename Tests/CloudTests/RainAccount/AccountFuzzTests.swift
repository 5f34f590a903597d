// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainMaker
import RainHTTP
import RainJSON
import RainKitTesting
import TestSupport
import Testing
import RainCore

private let replies: [[UInt8]] = [
    #"{"status":"failure","error_code":"101009","description":"Incorrect user name or password"}"#,
    #"{"status":"failure","error_code":101017,"description":"\u001b[2J"}"#, #"{"message":"Unauthorized"}"#,
    #"{"error":"invalid_grant","error_description":"x"}"#, "<html>502</html>", "[]", "",
    #"{"status":"success","idtoken":"a.eyJjdXN0b206dXNlcl9pZCI6IngifQ.c","accesstoken":"a.eyJleHAiOjF9.c","refreshtoken":"r"}"#,
    #"{"status":"success","session":"s"}"#, Bench.profile,
].map { Array($0.utf8) }

private let accountReplies: [[UInt8]] =
    replies
    + [
        #"{"user_id":"u1","user_name":"dev@example.com","mfa":true,"admin":true,"quota":{"nodes":5},"user_roles":["a"],"tags":["team:lab"],"custom_data":{"theme":{"value":"dark","perms":["r"]},"n":7},"is_guest_user":true,"expires_on":1800000000}"#,
        #"{"esp.location":{"value":{"espHome":"x"}},"n":{"value":null,"perms":[]}}"#,
        #"{"supported_versions":["v1"],"additional_info":[{"version":"v1","build_info":"b","release_notes":"n"}]}"#,
        #"{"status":"failure","error_code":"101012","description":"Verification code is wrong"}"#,
    ].map { Array($0.utf8) }

@Suite("Servers' answers and files, fuzzed")
struct AccountFuzzTests {
    @Test("sign-in, renewal, profile and sign-out")
    func provider() async throws {
        try await withOwnProcessInSoak {
            let deployment = try Deployment(name: "sim", base: "http://127.0.0.1:1")
            let report = await fuzz("cloud reply", from: replies, seed: 31) { input in
                let status = [200, 201, 302, 400, 401, 404, 429, 500, 502][input.count % 9]
                let http = FixedAnswer(response: HTTPResponse(status: status, body: input))
                let identity = RainMakerIdentity(deployment, http: http)
                let password = SignInCredentials.password(user: "u", password: Secret("p"))
                if let tokens = try? await identity.signIn(password) {
                    #expect(!tokens.access.isEmpty && tokens.refresh != nil)
                    _ = identity.user(claimedBy: tokens)
                }
                _ = try? await identity.renew(tokens("a"))
                if let profile = try? await identity.user(tokens("a")) { #expect(!profile.userID.rawValue.isEmpty) }
                _ = try? await identity.signOut(tokens("a"), everywhere: false)
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }

    @Test("everything else of an account")
    func account() async throws {
        try await withOwnProcessInSoak {
            let deployment = try Deployment(name: "sim", base: "http://127.0.0.1:1")
            let key = try CredentialKey("sim")
            let report = await fuzz("account reply", from: accountReplies, seed: 35) { input in
                let status = [200, 201, 302, 400, 401, 404, 429, 500, 502][input.count % 9]
                let http = FixedAnswer(response: HTTPResponse(status: status, body: input))
                let store = InMemoryCredentialStore([key: savedSession("a")])
                // Each cancelled sleep of the system's clock holds a kilobyte until its time is over, 30 s for a renewal: a hundred
                // thousand renewals in seconds are no gateway's.
                let session = AccountSession(
                    provider: RainMakerIdentity(deployment, http: http), http: http, store: store, key: key,
                    clock: ManualWallClock(), timer: ManualClock())
                let account = RainMakerAccount(deployment, session: session, http: http)
                if let profile = try? await account.user(customData: true) {
                    #expect(!profile.userID.rawValue.isEmpty)
                    for entry in profile.customData?.entries ?? [] { #expect(profile.customData?[entry.key] != nil) }
                }
                _ = try? await account.customData()
                if let versions = try? await account.supportedVersions() {
                    #expect(versions.contains { $0.name == "v1" })
                }
                if let challenge = try? await account.requestOneTimeCode(for: "u") {
                    #expect(!challenge.session.isEmpty)
                }
                do throws(AccountError) {
                    try await account.requestPasswordReset("dev@example.com")
                } catch {
                    #expect((error.serverMessage?.unicodeScalars.count ?? 0) <= 301)
                    #expect(!error.message.isEmpty)
                }
            }
            #expect(report.failures == [])
        }
    }

    @Test("stored sessions")
    func savedSessions() async throws {
        try await withOwnProcessInSoak {
            let examples = [savedSession("a"), savedSession("b", life: 1)].map { $0.serialized.revealBytes() }
            let report = fuzz("stored session", from: examples, seed: 32) { input in
                guard let session = try? SavedSession(serialized: Secret(input)) else { return }
                #expect((try? SavedSession(serialized: session.serialized)) == session)
                _ = session.tokens.shouldBeRenewed(at: UnixTime(seconds: 0))
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }

    @Test("JSON Web Tokens")
    func webTokens() async throws {
        try await withOwnProcessInSoak {
            let examples = [
                accessToken("a"), token("b", ["exp": "x", "iat": 1e308, "custom:user_id": ["y"]]), "a.b.c",
            ]
            .map { Array($0.utf8) }
            let report = fuzz("token", from: examples, seed: 33) { input in
                let tokens = Tokens(
                    jsonWebToken: Secret(input), refresh: nil, identity: nil, received: UnixTime(seconds: 1))
                _ = tokens.shouldBeRenewed(at: UnixTime(seconds: 2))
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }

    @Test("base URLs: an accepted one reads the same again")
    func urls() async throws {
        try await withOwnProcessInSoak {
            let examples = ["https://api.example.com:8443/rain/", "http://127.0.0.1:39187", "http://[::1]:8080/v1/"]
                .map { Array($0.utf8) }
            let report = fuzz("base URL", from: examples, seed: 34) { input in
                guard let url = try? ServiceURL(String(decoding: input, as: UTF8.self)) else { return }
                #expect((try? ServiceURL(url.text)) == url)
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }
}
