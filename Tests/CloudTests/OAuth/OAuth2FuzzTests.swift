// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON
import TestSupport
import Testing

@Suite("OAuth 2.0 messages, fuzzed")
struct OAuth2FuzzTests {
    @Test("authorization responses: an accepted one reads the same after it is written again")
    func responses() async throws {
        try await withOwnProcessInSoak {
            let examples = [
                "code=SplxlOBeZQQYbYS6WxSbIA&state=port%3A8080&iss=https%3A%2F%2Fa.example",
                "error=access_denied&error_description=The+user+said+%22no%22&state=xyz",
                "access_token=tk_1&expires_at=2014-01-05%2011:57:26Z&expires_in=1199&token_type=bearer&state=s", "",
                "&&=&code", "code=a&code=b",
            ].map { Array($0.utf8) }
            let report = fuzz("authorization response", from: examples, seed: 41) { input in
                let cut = input.firstIndex(of: UInt8(ascii: "#")) ?? input.endIndex
                guard
                    let response = try? AuthorizationResponse(query: input[..<cut], fragment: input[cut...].dropFirst())
                else { return }
                guard let parameters = try? response.parameters(), let again = try? AuthorizationResponse(parameters)
                else {
                    Issue.record("not readable again: \(hexString(input))")
                    return
                }
                #expect(again.state == response.state && again.issuer == response.issuer)
                if case .code = response.outcome { #expect(again == response) }
                if case .refused = response.outcome { #expect(again == response) }
            }
            #expect(report.failures == [])
        }
    }

    @Test("token responses and errors")
    func tokens() async throws {
        try await withOwnProcessInSoak {
            let examples = [
                #"{"access_token":"a","token_type":"Bearer","expires_in":3600,"refresh_token":"r","scope":"x y","id_token":"i.j.k"}"#,
                #"{"access_token":"a","expires_in":"12","scope":["x"],"scope":null,"more":{"deep":[1,2.5]}}"#,
                #"{"error":"invalid_grant","error_description":"\u001b[2J","error_uri":"https://x"}"#, "[]",
            ].map { Array($0.utf8) }
            let report = fuzz("token response", from: examples, seed: 42) { input in
                guard let json = try? JSONValue(parsing: input, limits: TokenResponse.limits) else { return }
                if let response = try? TokenResponse(json) {
                    #expect(!response.accessToken.isEmpty)
                    #expect((try? TokenResponse(response.json)) == response, "\(hexString(input))")
                }
                if let error = OAuthError(json) { #expect(OAuthError(error.json) == error) }
            }
            #expect(report.failures == [])
        }
    }

    @Test("redirect URIs: an accepted one reads its own answer and no other")
    func redirects() async throws {
        try await withOwnProcessInSoak {
            let examples = [
                "http://127.0.0.1:4711/callback", "http://[::1]:1/", "https://a.example/cb?own=1",
                "com.example.app:/cb",
            ].map { Array($0.utf8) }
            let report = fuzz("redirect URI", from: examples, seed: 43) { input in
                guard let text = String(validating: input, as: UTF8.self), let uri = try? RedirectURI(text) else {
                    return
                }
                #expect(uri.matches(registered: uri))
                let url = uri.text + (uri.text.contains("?") ? "&" : "?") + "code=a&state=b"
                #expect((try? AuthorizationResponse(url: url, to: uri))?.outcome == .code(Secret("a")))
            }
            #expect(report.failures == [])
        }
    }
}
