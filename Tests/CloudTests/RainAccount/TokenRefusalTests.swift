// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainHTTP
import RainJSON
import RainKitTesting
import TestSupport
import Testing

@testable import IdentityProviders
@testable import RainAccount
@testable import RainMaker

@Suite("One refusal, one meaning")
struct TokenRefusalTests {
    static let refusals: [(name: String, code: AccountError.Code)] = [
        ("invalid_grant", .invalidGrant), ("invalid_client", .clientRefused), ("unauthorized_client", .clientRefused),
        ("unsupported_grant_type", .invalidConfiguration), ("invalid_scope", .invalidConfiguration),
        ("access_denied", .accessDenied), ("invalid_request", .rejected), ("authorization_pending", .pending),
        ("slow_down", .pending), ("expired_token", .codeExpired), ("invalid_token", .expired),
        ("insufficient_scope", .insufficientScope), ("unsupported_token_type", .rejected),
        ("server_error", .serverFault), ("temporarily_unavailable", .serverFault), ("their_own", .rejected),
    ]

    @Test(
        "the same refusal of a token endpoint has the same code and keeps its name for every caller: RainMaker, a provider's definition, OCLC",
        arguments: refusals)
    func same(name: String, code: AccountError.Code) async throws {
        let body = #"{"error":"\#(name)","error_description":"d"}"#
        let http = ScriptedHTTPClient()
        http.expect(.post, "/token", status: 400, body)
        let endpoint = TokenEndpoint(url: "http://127.0.0.1:1/token", client: .none(clientID: "c"), http: http)
        let bench = try ProviderBench("")
        bench.http.expect(.post, "/token", status: 400, body)
        let errors = [
            await accountError { () throws(AccountError) in
                try await endpoint.redeem(.authorizationCode(Secret("planted"), redirectURI: nil))
            },
            await accountError { () throws(AccountError) in
                try await bench.provider.signIn(
                    .authorizationCode(Secret("planted"), redirectURI: "http://127.0.0.1/callback", codeVerifier: nil))
            },
            OCLCReply.failure(try JSONValue(parsing: Array(body.utf8)), status: 400, from: "h"),
        ]
        for error in errors {
            #expect(error?.code == code && error?.serverCause == name && error?.serverMessage == "d")
            #expect(error?.status == 400)
        }
        #expect(AccountError(signIn: OAuthError(.init(rawValue: name))).code == code)
    }

    @Test("for a provider without passwords the error names its other modes")
    func noPasswords() async throws {
        let bench = try ProviderBench("")
        bench.http.expect(.post, "/token", status: 400, #"{"error":"unsupported_grant_type"}"#)
        let error = await accountError { () throws(AccountError) in
            try await bench.provider.signIn(.password(user: "ada", password: Secret("planted")))
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(
            error?.message.hasSuffix("has no sign-in by password (unsupported_grant_type); sign in in the browser")
                == true,
            "\(error as Any)")
    }

    @Test(
        "for a sign-in call to an address with nothing the error names the base URL; a server's error name has priority",
        arguments: [
            (#"{"message":"Not found"}"#, AccountError.Code.invalidConfiguration),
            (#"{"error":"invalid_request"}"#, .rejected), (#"{"error":"invalid_grant"}"#, .invalidGrant),
        ])
    func nothingThere(body: String, code: AccountError.Code) async throws {
        let bench = try ProviderBench("")
        bench.http.expect(.post, "/token", status: 404, body)
        let error = await accountError { () throws(AccountError) in
            try await bench.provider.signIn(.password(user: "ada", password: Secret("planted")))
        }
        #expect(error?.code == code && error?.status == 404, "\(error as Any)")
        #expect(
            error?.message.contains("service at this base URL") == (code == .invalidConfiguration), "\(error as Any)")
    }

    @Test("the time that a token endpoint asks to wait is reported to every caller", arguments: [429, 503])
    func retryAfter(status: Int) async throws {
        let http = ScriptedHTTPClient()
        http.expect(.post, "/token") { _ in
            HTTPResponse(status: status, headers: [HTTPHeader("Retry-After", "7")], body: Array("{}".utf8))
        }
        let endpoint = TokenEndpoint(url: "http://127.0.0.1:1/token", client: .none(clientID: "c"), http: http)
        let error = await accountError { () throws(AccountError) in
            try await endpoint.redeem(.authorizationCode(Secret("c"), redirectURI: nil))
        }
        #expect(error?.retryAfter == .seconds(7) && error?.isTransient == true)
    }
}
