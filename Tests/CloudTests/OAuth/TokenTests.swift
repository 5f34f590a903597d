// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON
import Testing

@Suite("Token requests and responses")
struct TokenTests {
    @Test("RFC 6749, 4.1.3: the body of a code's redemption, for each kind of client")
    func redemption() {
        let request = TokenRequest.authorizationCode(
            Secret("SplxlOBeZQQYbYS6WxSbIA"), redirectURI: "https://client.example.com/cb",
            codeVerifier: CodeVerifier(Secret("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")))
        let common =
            "grant_type=authorization_code&code=SplxlOBeZQQYbYS6WxSbIA&redirect_uri=https%3A%2F%2Fclient.example.com%2Fcb"
            + "&code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
        let none = ClientAuthentication.none(clientID: "s6BhdRkqt3")
        #expect(request.body(for: none).revealString() == common + "&client_id=s6BhdRkqt3")
        #expect(none.authorizationHeader == nil)
        let post = ClientAuthentication.post(clientID: "s6BhdRkqt3", secret: Secret("7Fjfp0ZBr1KtDRbnfVdmIw+"))
        #expect(
            request.body(for: post).revealString()
                == common + "&client_id=s6BhdRkqt3&client_secret=7Fjfp0ZBr1KtDRbnfVdmIw%2B")
        let basic = ClientAuthentication.basic(clientID: "s6BhdRkqt3", secret: Secret("7Fjfp0ZBr1KtDRbnfVdmIw"))
        #expect(request.body(for: basic).revealString() == common)
        // RFC 6749, 2.3.1, the header of its example in RFC 6749, 4.1.3 has another secret.
        #expect(basic.authorizationHeader?.revealString() == "Basic czZCaGRSa3F0Mzo3RmpmcDBaQnIxS3REUmJuZlZkbUl3")
    }

    @Test("id and secret are form-encoded before they become Basic")
    func basicEncoding() {
        let client = ClientAuthentication.basic(clientID: "a:b", secret: Secret("p w%"))
        // base64 of a%3Ab:p+w%25
        #expect(client.authorizationHeader?.revealString() == "Basic YSUzQWI6cCt3JTI1")
    }

    @Test("a renewal may request fewer rights")
    func renewal() {
        let request = TokenRequest.refreshToken(Secret("tGzv3JOkF0XG5Qx2TlKWIA"), scope: ["a", "b"])
        #expect(
            request.body(for: .none(clientID: "c")).revealString()
                == "grant_type=refresh_token&refresh_token=tGzv3JOkF0XG5Qx2TlKWIA&scope=a+b&client_id=c")
        #expect(!"\(request)".contains("tGzv"))
    }

    @Test("RFC 6749, 5.1: the response, and its other members are kept")
    func response() throws {
        let json: JSONValue = [
            "access_token": "2YotnFZFEjr1zCsicMWpAA", "token_type": "example", "expires_in": 3600,
            "refresh_token": "tGzv3JOkF0XG5Qx2TlKWIA", "example_parameter": "example_value",
        ]
        let response = try TokenResponse(json)
        #expect(response.accessToken == Secret("2YotnFZFEjr1zCsicMWpAA"))
        #expect(response.tokenType == "example")
        #expect(response.expiresIn == 3600)
        #expect(response.refreshToken == Secret("tGzv3JOkF0XG5Qx2TlKWIA"))
        #expect(response.scope == nil)
        #expect(response.json == json)
    }

    @Test(
        "leniency: how servers write lifetimes and scopes",
        arguments: [
            (JSONValue.integer(1199), 1199), (.string("1199"), 1199), (.number(1199.5), 1199.5), (.string(""), nil),
            (.integer(-1), nil), (.null, nil), (.number(1e300), nil),
        ] as [(JSONValue, Double?)])
    func lifetimes(json: JSONValue, seconds: Double?) throws {
        #expect(try TokenResponse(["access_token": "a", "expires_in": json]).expiresIn == seconds)
    }

    @Test("absent, null and empty are the same; a scope is a string or a list")
    func absent() throws {
        let bare = try TokenResponse([
            "access_token": "a", "refresh_token": nil, "id_token": "", "scope": nil, "token_type": "",
        ])
        #expect(bare == TokenResponse(accessToken: Secret("a")))
        #expect(try TokenResponse(["access_token": "a", "scope": "x  y"]).scope == ["x", "y"])
        #expect(try TokenResponse(["access_token": "a", "scope": ["x", "y"]]).scope == ["x", "y"])
        #expect(try TokenResponse(["access_token": "a", "scope": ""]).scope == [])
    }

    @Test(
        "an invalid token response is refused",
        arguments: [
            (JSONValue.array([]), OAuth2FormatError.Code.malformed), ([:], .missing), (["access_token": ""], .missing),
            (["access_token": 7], .malformed), (["access_token": "a\r\nX: y"], .malformed),
            (["access_token": "é"], .malformed),
            (["access_token": "a", "refresh_token": "b c"], .malformed),
            (["access_token": "a", "id_token": "\n"], .malformed),
        ] as [(JSONValue, OAuth2FormatError.Code)])
    func refused(json: JSONValue, code: OAuth2FormatError.Code) {
        #expect(formatError { () throws(OAuth2FormatError) in try TokenResponse(json) } == code)
    }

    @Test("RFC 6749, 5.2: errors of the token endpoint, standard and others")
    func errors() throws {
        let json: JSONValue = ["error": "invalid_grant", "error_description": "used up"]
        let error = try #require(OAuthError(json))
        #expect(error.code == .invalidGrant)
        #expect(error.description == "used up")
        #expect(error.json == json)
        #expect(OAuthError(["error": "expired_token"])?.code.rawValue == "expired_token")
        for none in [[:], ["error": ""], ["error": 1], ["error": ["code": 1]], nil] as [JSONValue] {
            #expect(OAuthError(none) == nil)
        }
    }
}
