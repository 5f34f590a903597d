// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import RainCrypto
import RainCryptoOpenSSL
import RainHTTP
import RainJSON
import RainKitTesting
import TestSupport
import Testing

@Suite("ID tokens, by their signer and the way they arrive")
struct IdentityTokenTests {
    private static let secret = "a-client-secret-that-is-long-enough-for-hmac"

    /// An ID token signed with the client's secret (OpenID Connect Core 1.0, section 10.1).
    private func signed(_ more: JSONValue = [:], secret: String = secret) -> String {
        let claims: JSONValue = [
            "iss": "http://127.0.0.1:1", "sub": "ada", "aud": "app-1", "iat": 1_800_000_000, "exp": 1_800_003_600,
        ]
        let all = JSONValue.object((claims.members ?? []).filter { more[$0.name] == nil } + (more.members ?? []))
        let text = [#"{"alg":"HS256"}"#, String(decoding: all.serialized(), as: UTF8.self)]
            .map { base64URL(Array($0.utf8)) }.joined(separator: ".")
        return text + "." + base64URL(OpenSSLHashes.hmacSHA256(Array(text.utf8), key: Array(secret.utf8)))
    }

    private func bench(
        keys: Bool, algorithm: String? = nil, secret: String? = secret, lists: String = "RS256"
    ) throws -> ProviderBench {
        let registered = algorithm.map { #","identityTokenAlgorithm":"\#($0)""# } ?? ""
        let bench = try ProviderBench(
            #""discovery":"{base}/.well-known/openid-configuration","endpoints":{},"client":{"authentication":"basic"\#(registered)}"#,
            settings: ProviderSettings(clientID: "app-1", clientSecret: secret.map { Secret($0) }))
        let base = "http://127.0.0.1:1"
        let more = keys ? #","jwks_uri":"\#(base)/jwks""# : ""
        bench.http.expect(
            .get, "/.well-known/openid-configuration",
            #"{"issuer":"\#(base)","token_endpoint":"\#(base)/token","id_token_signing_alg_values_supported":["\#(lists)"]\#(more)}"#
        )
        return bench
    }

    private func signIn(_ bench: ProviderBench, _ token: String) async -> AccountError? {
        bench.http.expect(.post, "/token", #"{"access_token":"a","token_type":"Bearer","id_token":"\#(token)"}"#)
        return await accountError { () async throws(AccountError) in
            try await bench.provider.signIn(.password(user: "ada", password: Secret("p")))
        }
    }

    @Test("a client that is registered for HS256 accepts it, and checks it with its secret")
    func sharedSecret() async throws {
        let bench = try bench(keys: true, algorithm: "HS256")
        #expect(await signIn(bench, signed()) == nil)
        let wrong = await signIn(bench, signed(secret: "another secret, as long as the first one"))
        #expect(wrong?.code == .untrustedAnswer && wrong?.message.contains("signature") == true)
        #expect(!"\(wrong as Any)".contains(Self.secret))
        try bench.http.finish()
    }

    @Test("a client with a secret accepts HS256 under that secret, also if its registration is unknown")
    func unregistered() async throws {
        let bench = try bench(keys: true)
        #expect(await signIn(bench, signed()) == nil)
        let wrong = await signIn(bench, signed(secret: "another secret, as long as the first one"))
        #expect(wrong?.code == .untrustedAnswer && wrong?.message.contains("signature") == true)
        try bench.http.finish()
    }

    @Test("HS256 is refused if the client has no secret, or is registered for another algorithm")
    func confusion() async throws {
        for (algorithm, secret) in [(nil, nil), ("RS256", Self.secret)] {
            let bench = try bench(keys: true, algorithm: algorithm, secret: secret)
            let response = TokenResponse(accessToken: Secret("a"), identityToken: Secret(signed()))
            let error = await accountError { () async throws(AccountError) in
                try await bench.provider.signIn(.tokens(response, isDirect: true))
            }
            #expect(error?.code == .untrustedAnswer && error?.message.contains("HS256") == true, "\(error as Any)")
            try bench.http.finish()
        }
    }

    @Test("if no keys are published, TLS to the token endpoint replaces the signature")
    func direct() async throws {
        let bench = try bench(keys: false)
        #expect(await signIn(bench, signed(secret: "whoever's")) == nil)
        try bench.http.finish()
    }

    @Test(
        "for an unsupported algorithm that the provider lists, TLS replaces the signature", arguments: [true, false])
    func otherAlgorithm(isListed: Bool) async throws {
        let bench = try bench(keys: true, lists: isListed ? "EdDSA" : "RS256")
        let token = [#"{"alg":"EdDSA","kid":"k"}"#, String(decoding: claims.serialized(), as: UTF8.self), "s"]
            .map { base64URL(Array($0.utf8)) }.joined(separator: ".")
        let error = await signIn(bench, token)
        #expect((error == nil) == isListed, "\(error as Any)")
        #expect(isListed || error?.code == .untrustedAnswer && error?.message.contains("EdDSA") == true)
        try bench.http.finish()
    }

    @Test("an ID token from a browser is refused unless its signature can be checked")
    func throughBrowser() async throws {
        for (keys, says) in [(false, "publishes no keys"), (true, "HS256")] {
            let bench = try bench(keys: keys)
            let response = TokenResponse(accessToken: Secret("a"), identityToken: Secret(signed(["nonce": "n"])))
            let error = await accountError { () async throws(AccountError) in
                try await bench.provider.signIn(.tokens(response, nonce: "n"))
            }
            #expect(error?.code == .untrustedAnswer, "\(error as Any)")
            #expect(keys || error?.message.contains("HS256") == true || error?.message.contains(says) == true)
        }
    }

    @Test("an ID token without a required claim is refused", arguments: ["iss", "sub", "aud", "exp", "iat"])
    func missing(name: String) async throws {
        let bench = try bench(keys: false)
        let error = await signIn(bench, signed([name: nil]))
        #expect(error?.code == .untrustedAnswer && error?.message.contains("(\(name))") == true, "\(error as Any)")
    }

    @Test("clocks may differ by a minute")
    func leeway() async throws {
        for (end, isTaken) in [(1_799_999_950, true), (1_799_999_930, false)] {
            let bench = try bench(keys: false)
            let error = await signIn(bench, signed(["exp": .integer(Int64(end))]))
            #expect((error == nil) == isTaken, "\(error as Any)")
        }
    }

    @Test("several audiences are accepted if the token names this client as the one that it was issued to")
    func audiences() async throws {
        let bench = try bench(keys: false)
        #expect(await signIn(bench, signed(["aud": ["other", "app-1"], "azp": "app-1"])) == nil)
    }

    @Test("unavailable keys fail a sign-in with a temporary error, and a document without keys is reported")
    func noKeys() async throws {
        let bench = try bench(keys: true, algorithm: "ES256")
        let token = [#"{"alg":"ES256","kid":"k"}"#, String(decoding: claims.serialized(), as: UTF8.self), "s"]
            .map { base64URL(Array($0.utf8)) }.joined(separator: ".")
        bench.http.expect(.post, "/token", #"{"access_token":"a","token_type":"Bearer","id_token":"\#(token)"}"#)
        bench.http.expect(.get, "/jwks", status: 503, "{}")
        let down = await accountError { () async throws(AccountError) in
            try await bench.provider.signIn(.password(user: "ada", password: Secret("p")))
        }
        #expect(down?.code == .serverFault, "\(down as Any)")
        bench.http.expect(.post, "/token", #"{"access_token":"a","token_type":"Bearer","id_token":"\#(token)"}"#)
        bench.http.expect(.get, "/jwks", #"{"kty":"EC"}"#)
        let none = await accountError { () async throws(AccountError) in
            try await bench.provider.signIn(.password(user: "ada", password: Secret("p")))
        }
        #expect(none?.code == .malformedAnswer, "\(none as Any)")
        bench.http.expect(.post, "/token", #"{"access_token":"a","token_type":"Bearer","id_token":"\#(token)"}"#)
        bench.http.expect(.get, "/jwks", status: 403, #"{"error":"access_denied"}"#)
        let shut = await accountError { () async throws(AccountError) in
            try await bench.provider.signIn(.password(user: "ada", password: Secret("p")))
        }
        #expect(shut?.isTransient == true && shut?.message.contains("/jwks") == true, "\(shut as Any)")
        // The refresh token has been used when a renewal's ID token arrives. TLS replaces keys that are unavailable just then.
        let old = Tokens(
            access: Secret("o"), refresh: Secret("r"), identity: Secret(token), received: UnixTime(seconds: 0))
        for status in [503, 403] {
            bench.http.expect(.post, "/token", #"{"access_token":"b","token_type":"Bearer","id_token":"\#(token)"}"#)
            bench.http.expect(.get, "/jwks", status: status, "{}")
            #expect(try await bench.provider.renew(old).access == Secret("b"))
        }
        try bench.http.finish()
    }

    private var claims: JSONValue {
        [
            "iss": "http://127.0.0.1:1", "sub": "ada", "aud": "app-1", "iat": 1_800_000_000, "exp": 1_800_003_600,
        ]
    }
}
