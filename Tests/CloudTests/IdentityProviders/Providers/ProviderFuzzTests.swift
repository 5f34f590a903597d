// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCrypto
import RainCryptoOpenSSL
import RainHTTP
import RainJSON
import RainKitTesting
import TestSupport
import Testing

@testable import IdentityProviders
@testable import RainAccount
@testable import RainMaker

private let replies: [[UInt8]] = [
    #"{"access_token":"a","expires_in":3600,"user_id":"1001","refresh_token":"r","server_time":1333537247}"#,
    #"{"access_token":"tk_a","expires_at":"2014-01-05%2011:57:26Z","principalID":"p","principalIDNS":"n","context_institution_id":"128807","refresh_token":"rt_a","refresh_token_expires_in":"604799"}"#,
    #"{"code":{"type":"http","value":"401"},"message":"WSKey 'k' is invalid","details":"Authorization header: x"}"#,
    #"{"name":"SPP Container","object":"User","error":null,"data":{"userId":"1001","name":{"formatted":"A"}}}"#,
    #"{"object":"Code","error":{"code":403,"type":"ApiException","description":{"a":"b"}},"data":null}"#,
    #"{"sig":"GTUVPjN1","algorithm":"HMAC-SHA256","object":"x","data":"eyJ9"}"#,
    #"[{"userId":"1001","companyId":"10157","screenName":"ada"}]"#,
    #"{"exception":"x.NoSuchUserException: none","throwable":"y","error":{"type":"z","message":"m"}}"#,
    "<script>Liferay.authToken = 'AbC12345';</script>", "<html>", "[]", "",
].map { Array($0.utf8) }

@Suite("Answers of SPiD, Liferay and OCLC, fuzzed")
struct ProviderFuzzTests {
    @Test(
        "sign-in, renewal, profile and sign-out",
        arguments: ["spid", "liferay", "liferay/cookie", "oclc", "oclc-oauth"])
    func answers(name: String) async throws {
        try await withOwnProcessInSoak(name) {
            var turn = 0
            let report = await fuzz("\(name)'s answers", from: replies, seed: UInt64(name.utf8.count) + 50) { input in
                let status = [200, 201, 302, 400, 401, 403, 420, 500, 503][input.count % 9]
                let cookie = String(decoding: input.suffix(40), as: UTF8.self)
                let http = FixedAnswer(
                    response: HTTPResponse(
                        status: status,
                        headers: [
                            HTTPHeader("Set-Cookie", cookie), HTTPHeader("Location", "/" + cookie),
                            HTTPHeader("WWW-Authenticate", cookie),
                        ], body: input))
                let parts = name.split(separator: "/").map(String.init)
                var settings = ProviderSettings(
                    base: "http://127.0.0.1:1", clientID: "c", clientSecret: Secret("s"),
                    mode: parts.count > 1 ? parts[1] : nil)
                if parts[0].hasPrefix("oclc") {
                    settings.parameters = ["contextInstitutionId": "128807", "authenticatingInstitutionId": "128807"]
                }
                if parts[0] == "spid" { settings.secrets = ["signSecret": Secret("a274de")] }
                let tools = ProviderTools(
                    http: http, clock: ManualWallClock(), hashes: OpenSSLHashes.self, signatures: OpenSSLCrypto.self
                ) { count in
                    [UInt8](repeating: 7, count: count)
                }
                guard
                    let provider = try? ProviderRegistry.builtIn.provider(parts[0], settings: settings, tools: tools)
                else {
                    Issue.record("no provider \(name)")
                    return
                }
                let credentials: [SignInCredentials] = [
                    .password(user: "ada", password: Secret("p")), .clientCredentials,
                    .authorizationCode(Secret("c"), redirectURI: "http://127.0.0.1/", codeVerifier: nil),
                ]
                turn += 1
                guard let tokens = try? await provider.signIn(credentials[turn % credentials.count]) else { return }
                #expect(!tokens.access.isEmpty)
                _ = try? await provider.renew(tokens)
                if let user = try? await provider.user(tokens) { #expect(!user.userID.rawValue.isEmpty) }
                _ = try? await provider.signOut(tokens, everywhere: false)
                var request = HTTPRequest(method: .get, url: "http://127.0.0.1:1/x")
                provider.authorize(&request, with: tokens)
                #expect(
                    request.headers.allSatisfy { header in
                        header.value.utf8.allSatisfy { $0 != 0x0A && $0 != 0x0D && $0 != 0 }
                    })
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }

    @Test("portals' pages, cookies and exceptions; OCLC's texts, dates and queries")
    func parsers() async throws {
        try await withOwnProcessInSoak {
            let examples = [
                "JSESSIONID=1; Path=/; HttpOnly; Max-Age=0; Domain=portal.example", "Liferay.authToken='x'",
                "2014-01-05 11:57:26.5+00:00", "https://a/?b=c%20d&b=e=f&g#h", "Authorization: Bearer tk_x",
            ].map { Array($0.utf8) }
            let report = fuzz("provider text", from: examples, seed: 61) { input in
                let text = String(decoding: input, as: UTF8.self)
                var jar = CookieJar()
                jar.take(
                    from: HTTPResponse(status: 200, headers: [HTTPHeader("Set-Cookie", text)]), host: "portal.example")
                #expect(jar.header?.revealBytes().allSatisfy { (0x20...0x7E).contains($0) } != false)
                _ = LiferayAuthToken.find(in: input)
                if let time = CivilTime(text) {
                    #expect(CivilTime(CivilTime(time.time).text()) == CivilTime(time.time))
                }
                let items = QueryItem.items(of: text)
                _ = WSKeySignature.signed(
                    key: "k", method: "GET", query: items, stamp: .init(timestamp: "1", nonce: "2"))
                #expect(!OCLCReply.withoutHeaders(text).lowercased().contains("bearer "))
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }
}
