// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import RainHTTP
import RainKitTesting
import TestSupport
import Testing

@Suite("The meanings of SPiD's refusals of an assertion")
struct SPiDAssertionRefusalTests {
    private func provider(
        secrets: [String: Secret] = ["signSecret": Secret("s1gn")]
    ) throws -> (ConfiguredProvider, ScriptedHTTPClient) {
        let http = ScriptedHTTPClient()
        let settings = ProviderSettings(
            base: "http://127.0.0.1:1", clientID: "app-1", clientSecret: Secret("s"), secrets: secrets)
        let tools = ProviderBench.tools(http, ManualWallClock())
        return (try ProviderRegistry.builtIn.provider("spid", settings: settings, tools: tools), http)
    }

    private func facebook(_ application: String = "app1") -> SignInCredentials {
        .thirdParty(
            ThirdPartyToken(provider: "facebook", token: Secret("planted-fb"), expires: nil, applicationID: application)
        )
    }

    static let refusals: [(words: String, says: [String], remedies: [Remedy])] = [
        ("The assertion has expired", ["assertion", "expired"], []),
        ("JWT expired", ["assertion", "expired"], []),
        ("Expired token", ["assertion", "expired"], []),
        ("The assertion was used before", ["assertion", "used before"], []),
        ("iss is not an application of the client's", ["application", "app1", "iss"], [.applicationID]),
        ("Unknown application", ["application", "app1"], [.applicationID]),
        ("aud is not the address of this endpoint", ["aud", "base URL"], []),
        ("The assertion is not signed by the client's sign secret", ["signSecret"], []),
        ("Signature verification failed", ["signSecret"], []),
        ("The third party does not accept its token", ["sign in there again"], []),
        ("sub is not authorization", ["assertion"], []), ("Invalid grant", ["assertion"], []), ("", ["assertion"], []),
    ]

    @Test("the message names the assertion and its problem, and no code", arguments: refusals)
    func refused(words: String, says: [String], remedies: [Remedy]) async throws {
        let (provider, http) = try provider()
        let description = words.isEmpty ? "" : #","error_description":"\#(words)""#
        http.expect(.post, "/oauth/token", status: 400, #"{"error":"invalid_grant"\#(description)}"#)
        let error = await accountError { () throws(AccountError) in try await provider.signIn(facebook()) }
        #expect(error?.code == .invalidGrant && error?.status == 400, "\(error as Any)")
        let message = error?.message ?? ""
        for text in says { #expect(message.contains(text), "\(message)") }
        #expect(!message.contains("code") && message.contains("facebook"), "\(message)")
        #expect(error?.remedies == remedies && !"\(error as Any)".contains("planted"))
        try http.finish()
    }

    @Test("a given assertion is called an assertion too")
    func given() async throws {
        let (provider, http) = try provider()
        http.expect(
            .post, "/oauth/token", status: 400,
            #"{"error":"invalid_grant","error_description":"The assertion has expired"}"#)
        let error = await accountError { () throws(AccountError) in
            // {"alg":"HS256"}
            try await provider.signIn(.assertion(Secret("eyJhbGciOiJIUzI1NiJ9.e30=.ab")))
        }
        #expect(
            error?.message.contains("assertion") == true && error?.message.contains("code") == false, "\(error as Any)")
    }

    @Test(
        "an assertion that is not a JSON Web Token is not sent",
        arguments: ["not.a.jwt", "a", "", "e30.e30", "e30.e30.e30.e30", "MTIz.e30.ab", "=.e30.ab"])
    func noToken(text: String) async throws {
        let (provider, http) = try provider()
        let error = await accountError { () throws(AccountError) in
            try await provider.signIn(.assertion(Secret(text)))
        }
        let words = text.isEmpty ? "is empty" : "JSON Web Token"
        #expect(error?.code == .invalidInput && error?.message.contains(words) == true, "\(error as Any)")
        try http.finish()
    }

    @Test("a code that has expired is still called a code")
    func code() async throws {
        let (provider, http) = try provider()
        http.expect(
            .post, "/oauth/token", status: 400,
            #"{"error":"invalid_grant","error_description":"The code has expired"}"#)
        let error = await accountError { () throws(AccountError) in
            try await provider.signIn(
                .authorizationCode(Secret("c"), redirectURI: "http://127.0.0.1/backend", codeVerifier: nil))
        }
        #expect(error?.code == .codeExpired && error?.message.contains("code") == true, "\(error as Any)")
    }

    @Test("an unknown user remains one, so that the user can register", arguments: ["unknown_user", "unverified_user"])
    func unknown(name: String) async throws {
        let (provider, http) = try provider()
        http.expect(.post, "/oauth/token", status: 400, #"{"error":"\#(name)"}"#)
        let error = await accountError { () throws(AccountError) in try await provider.signIn(facebook()) }
        #expect(error?.code.description == name)
    }

    @Test("a missing application id is named before anything is sent")
    func noApplication() async throws {
        let (provider, http) = try provider()
        let error = await accountError { () throws(AccountError) in try await provider.signIn(facebook("")) }
        #expect(error?.code == .missingParameter && error?.remedies == [.applicationID], "\(error as Any)")
        #expect(http.requests.isEmpty)
    }

    @Test("for a token of a third party without the client's sign secret, the error names the secret")
    func noSignSecret() async throws {
        let (provider, http) = try provider(secrets: [:])
        let error = await accountError { () throws(AccountError) in try await provider.signIn(facebook()) }
        #expect(error?.code == .missingParameter && error?.message.contains("sign secret") == true, "\(error as Any)")
        #expect(error?.remedies == [.secretParameter(name: "signSecret")])
        #expect(http.requests.isEmpty)
    }

    @Test("a code without its redirect URI is sent without one, and the refusal says what is missing")
    func noRedirect() async throws {
        let (provider, http) = try provider()
        http.expect(.post, "/oauth/token", status: 400, #"{"error":"redirect_uri_mismatch"}"#)
        let error = await accountError { () throws(AccountError) in
            try await provider.signIn(.authorizationCode(Secret("c"), redirectURI: "", codeVerifier: nil))
        }
        #expect(error?.remedies == [.redirectURI] && error?.message.contains("redirect URI") == true, "\(error as Any)")
        #expect(!String(decoding: http.requests[0].body, as: UTF8.self).contains("redirect_uri"))
    }
}
