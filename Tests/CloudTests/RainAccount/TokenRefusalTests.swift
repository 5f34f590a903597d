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

    @Test(
        "the sentence about a refused client or request is what RFC 6749 means by the name, at each provider and at the sign-in page",
        arguments: [
            ("unauthorized_client", "not registered for this grant"), ("invalid_client", "its secret is wrong"),
            ("unsupported_grant_type", "does not offer this way to sign in"), ("invalid_scope", "check the scope"),
            ("unsupported_response_type", "does not offer this way to sign in"),
            ("invalid_request", "malformed or incomplete"),
            ("temporarily_unavailable", "not available at the moment"),
        ])
    func sentences(name: String, words: String) throws {
        let body: JSONValue = ["error": .string(name)]
        let response = HTTPResponse(status: 400, headers: [], body: Array(#"{"error":"\#(name)"}"#.utf8))
        let errors = [
            EndpointRefusal(response, body, from: "h", isForTokens: true)?.error,
            OCLCReply.failure(body, status: 400, from: "h"),
            name == "invalid_client" ? nil : AccountError(signIn: OAuthError(.init(rawValue: name))),
        ]
        for error in errors.compactMap(\.self) {
            #expect(error.message.contains(words), "\(error.message)")
            #expect(error.message.contains("its secret is wrong") == (name == "invalid_client"), "\(error.message)")
        }
        let spid = SPiDErrorName(rawValue: name).meaning(host: "h")?.sentence
        #expect(spid?.contains("client's id and secret") != true || name == "invalid_client")
        if name == "unauthorized_client" { #expect(spid?.contains(words) == true) }
    }

    @Test("a request that is malformed ends no session, whatever its status", arguments: [400, 401])
    func malformed(status: Int) {
        #expect(AccountError.Code(.invalidRequest, status: status) == .rejected)
    }

    @Test("a refused grant of a sign-in by password is a wrong password, not a code that is too old")
    func passwordGrant() async throws {
        let bench = try ProviderBench("")
        bench.http.expect(.post, "/token", status: 400, #"{"error":"invalid_grant"}"#)
        let error = await accountError { () throws(AccountError) in
            try await bench.provider.signIn(.password(user: "ada", password: Secret("planted")))
        }
        #expect(error?.code == .invalidGrant)
        #expect(error?.message.hasPrefix("wrong user name or password, or ") == true, "\(error as Any)")
    }

    @Test("the client's secret is not suspected of a client that may not use the grant")
    func noRemark() async throws {
        let bench = try ProviderBench(
            "", settings: ProviderSettings(clientID: "app-1", clientSecret: Secret("SECRET=planted")))
        bench.http.expect(.post, "/token", status: 400, #"{"error":"unauthorized_client"}"#)
        let error = await accountError { () throws(AccountError) in
            try await bench.provider.signIn(.password(user: "ada", password: Secret("planted")))
        }
        #expect(error?.message.hasSuffix("not registered for this grant") == true, "\(error as Any)")
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

    @Test(
        "a base URL that lacks the path of the provider's usual one is reported with that path",
        arguments: [
            ("http://127.0.0.1:1", "", true), ("http://127.0.0.1:1/auth", "/auth", true),
            ("http://127.0.0.1:1/oauth2", "/oauth2", false),
        ])
    func missingPath(base: String, path: String, isMissing: Bool) async throws {
        let bench = try ProviderBench(
            #""environments":{"production":"http://127.0.0.1:1/oauth2"}"#,
            settings: ProviderSettings(base: base, clientID: "app-1"))
        bench.http.expect(.post, "\(path)/token", status: 404, #"{"message":"Not found"}"#)
        let error = await accountError { () throws(AccountError) in
            try await bench.provider.signIn(.password(user: "ada", password: Secret("planted")))
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(
            error?.message.hasSuffix("perhaps /oauth2 is missing at the end of the URL") == isMissing, "\(error as Any)"
        )
    }

    @Test(
        "a token endpoint that does not exist is named with its path; a server's error name has priority",
        arguments: [
            (404, #"{"message":"Not Found"}"#, true), (404, #"{"error":"Not Found"}"#, true), (404, "", true),
            (405, "<html>", true), (404, #"{"error":"invalid_grant"}"#, false),
            (404, #"{"error":"invalid_request"}"#, false),
        ])
    func noEndpoint(status: Int, body: String, isMissing: Bool) async throws {
        let http = ScriptedHTTPClient()
        http.expect(.post, "/oauth2/tokenn", status: status, body)
        let endpoint = TokenEndpoint(url: "http://127.0.0.1:1/oauth2/tokenn", client: .none(clientID: "c"), http: http)
        let error = await accountError { () throws(AccountError) in
            try await endpoint.redeem(.authorizationCode(Secret("planted"), redirectURI: nil))
        }
        let sentence = "127.0.0.1:1 has no token endpoint at /oauth2/tokenn (HTTP \(status)); check the token path"
        #expect(error?.message.hasPrefix(sentence) == isMissing, "\(error as Any)")
        #expect((error?.code == .invalidConfiguration) == isMissing && error?.status == status, "\(error as Any)")
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
