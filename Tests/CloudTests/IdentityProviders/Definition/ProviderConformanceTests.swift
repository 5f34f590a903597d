// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainMaker
import RainHTTP
import RainHTTPCurl
import RainCryptoOpenSSL
import RainJSON
import RainKitTesting
import TestSupport
import Testing
import RainCore

@Suite("Providers keep the contract of all providers")
struct ProviderConformanceTests {
    @Test(
        "the checks find a provider that treats a fault as a refusal, one that adds no proof, and one that quotes secrets"
    )
    func defects() async throws {
        for defect in [Defective.Defect.giddy, .silent, .talkative] {
            let failure = await #expect(throws: IdentityProviderConformance.Failure.self) {
                try await IdentityProviderConformance.check {
                    IdentityProviderConformance.Subject(
                        http: AnsweringClient(), right: { .password(user: "ada", password: Secret("pw-planted")) },
                        secrets: ["pw-planted"]
                    ) { http, clock in Defective(defect: defect, http: http, clock: clock) }
                }
            }
            #expect(failure?.promise.isEmpty == false)
        }
    }
}

private struct AnsweringClient: HTTPClient {
    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse { HTTPResponse(status: 200) }
}

/// A provider that breaks the contract in one way.
private struct Defective: IdentityProvider {
    enum Defect: Sendable { case giddy, silent, talkative }
    let defect: Defect
    let http: any HTTPClient
    let clock: any WallClock
    let name = "defective"
    var resources: [ServiceURL] { [] }

    private func ask() async throws(AccountError) {
        do throws(HTTPError) {
            let response = try await http.send(HTTPRequest(method: .get, url: "http://127.0.0.1:1/"))
            guard response.status < 500, response.body.isEmpty else {
                throw HTTPError(.malformed, host: "x", message: "no answer")
            }
        } catch {
            throw AccountError(.network, message: defect == .talkative ? "pw-planted a-planted" : "no network")
        }
    }

    func signIn(_ credentials: SignInCredentials) async throws(AccountError) -> Tokens {
        try await ask()
        return Tokens(access: Secret("a-planted"), refresh: Secret("r-planted"), received: clock.now)
    }

    func renew(_ tokens: Tokens) async throws(RenewalError) -> Tokens {
        do throws(AccountError) {
            try await ask()
            return tokens
        } catch {
            throw defect == .giddy ? .refused(error) : .unavailable(error)
        }
    }

    func user(_ tokens: Tokens) async throws(AccountError) -> UserInfo {
        try await ask()
        return UserInfo(userID: UserID("1"), userName: "ada")
    }

    func signOut(_ tokens: Tokens, everywhere: Bool) async throws(AccountError) -> SignOutReport { .complete }

    func authorize(_ request: inout HTTPRequest, with tokens: Tokens) {
        if defect != .silent { request.headers.append(HTTPHeader("Authorization", "Bearer a-planted")) }
    }
}
