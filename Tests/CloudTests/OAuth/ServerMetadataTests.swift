// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON
import Testing

@Suite("Servers' metadata, and information about their tokens")
struct ServerMetadataTests {
    @Test("RFC 8414, 3.2: the example")
    func published() throws {
        let text = """
            {"issuer": "https://server.example.com", "authorization_endpoint": "https://server.example.com/authorize",
             "token_endpoint": "https://server.example.com/token",
             "token_endpoint_auth_methods_supported": ["client_secret_basic", "private_key_jwt"],
             "token_endpoint_auth_signing_alg_values_supported": ["RS256", "ES256"],
             "userinfo_endpoint": "https://server.example.com/userinfo", "jwks_uri": "https://server.example.com/jwks.json",
             "registration_endpoint": "https://server.example.com/register",
             "scopes_supported": ["openid", "profile", "email", "address", "phone", "offline_access"],
             "response_types_supported": ["code", "code token"],
             "service_documentation": "http://server.example.com/service_documentation.html",
             "ui_locales_supported": ["en-US", "en-GB", "en-CA", "fr-FR", "fr-CA"]}
            """
        let metadata = try ServerMetadata(JSONValue(parsing: Array(text.utf8)))
        #expect(metadata.authorizationEndpoint == "https://server.example.com/authorize")
        #expect(metadata.tokenEndpoint == "https://server.example.com/token")
        #expect(metadata.userInfoEndpoint == "https://server.example.com/userinfo")
        #expect(metadata.tokenEndpointAuthenticationMethods == ["client_secret_basic", "private_key_jwt"])
        #expect(metadata.responseTypes == ["code", "code token"] && metadata.scopes.count == 6)
        #expect(metadata.deviceAuthorizationEndpoint == nil && metadata.grantTypes == nil)
        #expect(!metadata.namesIssuerInResponses)
        try metadata.check(issuer: "https://server.example.com")
        #expect(throws: OAuth2FormatError.self) { try metadata.check(issuer: "https://server.example.com/") }
    }

    @Test("RFC 8414, 3.1, and OpenID Connect Discovery, 4.1: its address")
    func place() {
        #expect(
            ServerMetadata.url(of: "https://example.com/issuer1", isOpenID: false)
                == "https://example.com/.well-known/oauth-authorization-server/issuer1")
        #expect(
            ServerMetadata.url(of: "https://example.com", isOpenID: false)
                == "https://example.com/.well-known/oauth-authorization-server")
        #expect(
            ServerMetadata.url(of: "https://example.com/issuer1/")
                == "https://example.com/issuer1/.well-known/openid-configuration")
    }

    @Test("metadata without an issuer is refused", arguments: ["{}", "[]", #"{"issuer":7}"#, #"{"issuer":""}"#])
    func refused(text: String) {
        #expect(throws: OAuth2FormatError.self) { try ServerMetadata(JSONValue(parsing: Array(text.utf8))) }
    }

    @Test("RFC 7662, 2.1 and 2.2: the examples")
    func introspection() throws {
        #expect(
            FormRequest.introspection(of: Secret("mF_9.B5f-4.1JqM"), hint: .accessToken).body(
                for: .basic(clientID: "s6BhdRkqt3", secret: Secret("gX1fBat3bV"))
            ).revealString() == "token=mF_9.B5f-4.1JqM&token_type_hint=access_token")
        let active = try Introspection(
            JSONValue(
                parsing: Array(
                    """
                    {"active": true, "client_id": "l238j323ds-23ij4", "username": "jdoe", "scope": "read write dolphin",
                     "sub": "Z5O3upPC88QrAjx00dis", "aud": "https://protected.example.net/resource",
                     "iss": "https://server.example.com/", "exp": 1419356238, "iat": 1419350238, "extension_field": "twenty-seven"}
                    """.utf8)))
        #expect(active.isActive && active.userName == "jdoe" && active.scope == ["read", "write", "dolphin"])
        #expect(active.expires == 1_419_356_238 && active.members.contains { $0.name == "extension_field" })
        #expect(try !Introspection(["active": false]).isActive)
        #expect(throws: OAuth2FormatError.self) { try Introspection(["active": "true"]) }
    }

    @Test("RFC 7009, 2.1: the example")
    func revocation() {
        #expect(
            FormRequest.revocation(of: Secret("45ghiukldjahdnhzdauz"), hint: .refreshToken).body(
                for: .basic(clientID: "s6BhdRkqt3", secret: Secret("gX1fBat3bV"))
            ).revealString() == "token=45ghiukldjahdnhzdauz&token_type_hint=refresh_token")
    }

    @Test("RFC 6749, 4.3.2 and 4.4.2, and RFC 7523, 2.1: the examples' bodies")
    func grants() {
        let basic = ClientAuthentication.basic(clientID: "s6BhdRkqt3", secret: Secret("gX1fBat3bV"))
        #expect(
            TokenRequest.password(user: "johndoe", password: Secret("A3ddj3w")).body(for: basic).revealString()
                == "grant_type=password&username=johndoe&password=A3ddj3w")
        #expect(basic.authorizationHeader?.revealString() == "Basic czZCaGRSa3F0MzpnWDFmQmF0M2JW")
        #expect(
            TokenRequest.clientCredentials().body(for: basic).revealString() == "grant_type=client_credentials")
        #expect(
            TokenRequest.jwtBearer(Secret("eyJhbGciOiJFUzI1NiIsImtpZCI6IjE2In0.eyJpc3Mi.J9l-ZhwP")).body(
                for: .signed(clientID: "x")
            ).revealString()
                == "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
                + "&assertion=eyJhbGciOiJFUzI1NiIsImtpZCI6IjE2In0.eyJpc3Mi.J9l-ZhwP")
    }

    @Test("RFC 9207: an answer without an issuer is not accepted for a server that always names itself")
    func issuer() throws {
        let state = try #require(State("s"))
        let answer = { (text: String) in try AuthorizationResponse(query: Array(text.utf8)) }
        try answer("code=c&state=s&iss=https%3A%2F%2Fa").check(state: state, issuer: "https://a", requiresIssuer: true)
        for text in ["code=c&state=s", "code=c&state=s&iss=https%3A%2F%2Fb"] {
            #expect(throws: OAuth2FormatError.self) {
                try answer(text).check(state: state, issuer: "https://a", requiresIssuer: true)
            }
        }
    }
}
