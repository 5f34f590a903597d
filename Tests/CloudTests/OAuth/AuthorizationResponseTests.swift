// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON
import Testing

@Suite("Authorization responses")
struct AuthorizationResponseTests {
    private let redirect = "http://127.0.0.1:4711/callback"

    private func parsed(_ rest: String) throws(OAuth2FormatError) -> AuthorizationResponse {
        try AuthorizationResponse(url: redirect + rest, to: try RedirectURI(redirect))
    }

    @Test("a code with state and issuer, in the query or in the fragment", arguments: ["?", "#"])
    func code(mark: String) throws {
        let response = try parsed(mark + "code=SplxlOBe%2BZQ&state=port%3A1&iss=https%3A%2F%2Fhonest.as.example")
        #expect(response.outcome == .code(Secret("SplxlOBe+ZQ")))
        #expect(response.state == State("port:1"))
        #expect(response.issuer == "https://honest.as.example")
        #expect(try AuthorizationResponse(response.parameters()) == response)
    }

    @Test("a refusal keeps the server's code and text")
    func refusal() throws {
        let response = try parsed(
            "?error=access_denied&error_description=User+said+no&error_uri=https%3A%2F%2Fx&state=s")
        #expect(
            response.outcome == .refused(OAuthError(.accessDenied, description: "User said no", uri: "https://x")))
        #expect(try AuthorizationResponse(response.parameters()) == response)
    }

    @Test("the implicit flow's tokens come in the fragment")
    func tokens() throws {
        let response = try parsed(
            "#access_token=tk_1&expires_in=1199&token_type=bearer&state=s&principalID=p&scope=a%20b")
        guard case .tokens(let tokens) = response.outcome else {
            Issue.record("no tokens")
            return
        }
        #expect(tokens.accessToken == Secret("tk_1"))
        #expect(tokens.expiresIn == 1199)
        #expect(tokens.scope == ["a", "b"])
        #expect(tokens.more == [.init("principalID", .string("p"))])
        #expect(try AuthorizationResponse(response.parameters()).outcome == .tokens(TokenResponse(tokens.json)))
    }

    @Test(
        "an answer that could be read in two ways, or not at all, is refused",
        arguments: [
            ("?code=a&code=b&state=s", OAuth2FormatError.Code.duplicate), ("?code=a&state=s&state=s", .duplicate),
            ("?code=a#code=a", .duplicate), ("?code=a&%63ode=b", .duplicate),
            ("?code=a&error=access_denied", .conflicting),
            ("?code=a#access_token=b", .conflicting), ("?error=x#access_token=b", .conflicting), ("", .missing),
            ("?state=s", .missing), ("?error=", .missing), ("?code=", .malformed), ("?code=%0A", .malformed),
            ("?code=%C3%A9", .malformed), ("?code=%", .malformed), ("?code=%FF", .malformed),
            ("?code=a&state=", .malformed),
            ("?code=a&state=%00", .malformed), ("/?code=a", .mismatch), ("x?code=a", .mismatch),
        ])
    func refused(rest: String, code: OAuth2FormatError.Code) {
        #expect(formatError { () throws(OAuth2FormatError) in try parsed(rest) } == code)
    }

    @Test("limits are enforced")
    func bounds() {
        let long = "?code=a&x=" + String(repeating: "y", count: ParameterList.maximumBytes)
        #expect(formatError { () throws(OAuth2FormatError) in try parsed(long) } == .tooLarge)
        let state = "?code=a&state=" + String(repeating: "y", count: State.maximumLength + 1)
        #expect(formatError { () throws(OAuth2FormatError) in try parsed(state) } == .malformed)
        let words = "?error=e&error_description=" + String(repeating: "y", count: 20_000)
        guard case .refused(let error)? = try? parsed(words).outcome else {
            Issue.record("not parsed")
            return
        }
        #expect(error.description?.count == OAuthError.maximumLength)
    }

    @Test("an answer belongs to a request by its state and, if known, by its issuer")
    func belonging() throws {
        let state = try #require(State("right"))
        func check(
            _ rest: String, issuer: String? = nil, mayLackState: Bool = false
        ) throws -> OAuth2FormatError.Code? {
            let response = try parsed(rest)
            return formatError { () throws(OAuth2FormatError) in
                try response.check(state: state, issuer: issuer, mayLackState: mayLackState)
            }
        }
        #expect(try check("?code=a&state=right") == nil)
        #expect(try check("?code=a&state=wrong") == .mismatch)
        #expect(try check("?code=a&state=righ") == .mismatch)
        #expect(try check("?code=a") == .mismatch)
        #expect(try check("?code=a", mayLackState: true) == nil)
        #expect(try check("?code=a&state=wrong", mayLackState: true) == .mismatch)
        #expect(try check("?code=a&state=right&iss=https://a", issuer: "https://a") == nil)
        #expect(try check("?code=a&state=right&iss=https://b", issuer: "https://a") == .mismatch)
        #expect(try check("?code=a&state=right&iss=https://b") == nil)
    }

    @Test("every truncation is refused or is a shorter answer; no truncation makes a code longer")
    func truncations() throws {
        let whole = "?code=SplxlOBe&state=xyz&iss=https%3A%2F%2Fa"
        for length in 0...whole.count {
            guard let response = try? parsed(String(whole.prefix(length))) else { continue }
            guard case .code(let code) = response.outcome else {
                Issue.record("not a code")
                continue
            }
            #expect("SplxlOBe".hasPrefix(code.revealString()))
        }
    }

    @Test("an answer that is split between query and fragment anywhere reads the same")
    func splits() throws {
        let pieces = ["code=abc", "state=s", "iss=https%3A%2F%2Fa", "x=1"]
        let whole = try parsed("?" + pieces.joined(separator: "&"))
        for cut in 0...pieces.count {
            let query = pieces[..<cut].joined(separator: "&"), fragment = pieces[cut...].joined(separator: "&")
            #expect(try parsed("?\(query)#\(fragment)") == whole)
        }
    }
}
