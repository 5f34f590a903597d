// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

/// Mutated requests to every entry of every simulated system.
@Suite("Identity systems, fuzzed")
struct IdentityFuzzTests {
    @Test("forms and bodies", arguments: IdentitySystem.allCases)
    func bodies(system: IdentitySystem) async throws {
        let seed: UInt64 =
            switch system {
            case .spid: 41
            case .liferay: 42
            case .oclc: 43
            case .oidc: 44
            case .neo: 45
            }
        try await withOwnProcessInSoak("\(system)") { try fuzzBodies(system, seed: seed) }
    }

    @Test("targets, and headers that prove something", arguments: IdentitySystem.allCases)
    func targets(system: IdentitySystem) async throws {
        let seed: UInt64 =
            switch system {
            case .spid: 51
            case .liferay: 52
            case .oclc: 53
            case .oidc: 54
            case .neo: 55
            }
        try await withOwnProcessInSoak("\(system)") { try fuzzTargets(system, seed: seed) }
    }

    @Test("dates and base64 of whatever it is are refused or read, and base64 comes back as it was")
    func values() async throws {
        try await withOwnProcessInSoak {
            let examples = ["2030-01-01 00:00:00+0000", "2014-01-05T11:57:26Z", "QUJD/+==", "aGVsbG8="].map {
                Array($0.utf8)
            }
            let report = fuzz("values", from: examples, seed: 61) { input in
                let text = String(decoding: input, as: UTF8.self)
                _ = seconds(ofDate: text)
                if let decoded = decodedBase64(text) {
                    #expect(Base64.text(decoded).utf8.elementsEqual(text.utf8.filter { $0 != 0x0A && $0 != 0x0D }))
                }
                _ = SPiDAssertion(text, secret: "s1gn")
                _ = BasicCredentials("Basic " + text)
            }
            #expect(report.failures.isEmpty, "\(report.complaint)")
        }
    }
}

/// Records what a system may not answer to anything at all: an internal fault, a header or a page that somebody else wrote.
private func expectSound(_ response: Response, _ request: @autoclosure () -> String = "") {
    let isSound =
        soundStatuses.contains(response.status)
        && response.headers.allSatisfy { $0.value.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } }
        && hasOwnScriptsOnly(response) && !response.serialized(keepsConnection: false, now: 0).isEmpty
    if !isSound { Issue.record("\(request()) \(response)") }
}

private let soundStatuses: Set<Int> = [200, 201, 302, 400, 401, 403, 404, 405, 420, 503]

private func hasOwnScriptsOnly(_ response: Response) -> Bool {
    let page = lowercasedASCII(response.page)
    // The portal's token is the only script.
    return occurrences(of: "<script", in: page) == occurrences(of: "<script>var Liferay = ", in: response.page)
        && occurrences(of: "<img", in: page) == 0
}

/// What would break out of a page, were it not escaped.
private let nasty = "%22%3E%3Cscript%3Ealert(1)%3C/script%3E%3Cimg%20src=x%20onerror='alert(1)'%3E"

private func fuzzBodies(_ system: IdentitySystem, seed: UInt64) throws {
    let identity = try TestIdentity(system)
    let examples = system.examples
    let bodies =
        examples.bodies + ["username=\(nasty)&password=x&user_code=\(nasty)", "login=\(nasty)&handle=\(nasty)"]
    var turn = 0
    let report = fuzz("\(system) bodies", from: bodies.map { Array($0.utf8) }, seed: seed) { input in
        let target = examples.posts[turn % examples.posts.count]
        let header = examples.headers[turn % examples.headers.count]
        turn += 1
        let type =
            input.first == UInt8(ascii: "{") || input.first == UInt8(ascii: "[")
            ? "application/json" : TestIdentity.form.value
        let reply = identity.send(
            "POST", target, headers: [.init("Content-Type", type), .init("Authorization", header)], body: input)
        expectSound(reply, target)
    }
    #expect(report.failures.isEmpty, "\(report.complaint)")
}

private func fuzzTargets(_ system: IdentitySystem, seed: UInt64) throws {
    let identity = try TestIdentity(system)
    let examples = system.examples
    var turn = 0
    let pages = examples.targets.map {
        "\($0)\($0.contains("?") ? "&" : "?")x=\(nasty)&user_code=\(nasty)&state=\(nasty)"
    }
    let inputs = examples.targets + pages + examples.headers + examples.cookies
    let report = fuzz("\(system) targets", from: inputs.map { Array($0.utf8) }, seed: seed) { input in
        turn += 1
        // What the parser lets through: printable ASCII in the target, no control characters in headers.
        let target = text(of: input) { $0 > 0x20 && $0 < 0x7F }
        let line = text(of: input) { $0 >= 0x20 && $0 != 0x7F }
        let fixed = examples.targets[turn % examples.targets.count]
        let replies = [
            identity.get("/" + target.drop { $0 == "/" }),
            identity.get(fixed, headers: [.init("Authorization", line)]),
            identity.get(fixed, headers: [.init("Cookie", line)]),
        ]
        for reply in replies { expectSound(reply) }
    }
    #expect(report.failures.isEmpty, "\(report.complaint)")
}

/// Good requests to start from.
private struct Examples {
    var posts: [String]
    var bodies: [String]
    var targets: [String]
    var headers: [String]
    var cookies: [String]
}

extension IdentitySystem {
    fileprivate var examples: Examples {
        switch self {
        case .spid:
            Examples(
                posts: [
                    "/oauth/token", TestIdentity.spidPage(), "/api/2/oauth/exchange", "/oauth/introspect", "/oauth/ro",
                    "/api/2/signup", "/api/2/signup_jwt", "/api/2/user/attach_jwt", "/api/2/passwordless/start",
                    "/login",
                ],
                bodies: [
                    "grant_type=password&username=ada%40example.com&password=correct-horse&scope=openid",
                    "grant_type=authorization_code&code=abc&redirect_uri=http%3A%2F%2F127.0.0.1%2Fbackend&code_verifier=x",
                    "grant_type=refresh_token&refresh_token=abc", "grant_type=client_credentials",
                    "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
                        + PercentEncoding.encoded(SPiDResourceTests.assertion),
                    "username=ada%40example.com&password=correct-horse&action=allow&remember=1",
                    "handle=abc&action=allow",
                    "clientId=backend-1&type=session&redirectUri=http%3A%2F%2F127.0.0.1%2Fbackend&oauth_token=abc",
                    "token=abc&client_id=app-1&client_secret=app-1-secret", "connection=email&email=ada%40example.com",
                ],
                targets: [
                    TestIdentity.spidPage(), "/oauth/authorize?client_id=app-1", "/session/abc", "/auth/session/abc",
                    "/logout?redirect_uri=spidmobile-app-1%3A%2F%2Flogout&oauth_token=abc", "/api/2/me?oauth_token=abc",
                    "/api/2/user/1001", "/api/2/email/YWRhQGV4YW1wbGUuY29t/status", "/api/2/logout",
                ],
                headers: [
                    "Bearer abc", "Basic YXBwLTE6YXBwLTEtc2VjcmV0", "Basic YmFja2VuZC0xOmJhY2tlbmQtMS1zZWNyZXQ=",
                ],
                cookies: ["identity=abc; remember=def", "identity=abc"])
        case .liferay:
            Examples(
                posts: [
                    "/api/jsonws/invoke", "/c/portal/login", LiferayOAuthTests.target(), "/o/oauth2/token",
                    "/o/oauth2/introspect", "/o/oauth2/revoke", "/api/secure/jsonws/invoke",
                    "/api/jsonws/user/get-user-by-id",
                ],
                bodies: [
                    #"[{"/user/get-user-by-email-address":{"companyId":10157,"emailAddress":"ada@example.com"}}]"#,
                    #"{"/user/get-current-user":{}}"#, #"[{"/user/get-user-by-id":{"userId":"1001"}},{"/x":null}]"#,
                    "cmd=%7B%22%2Fuser%2Fget-current-user%22%3A%7B%7D%7D",
                    "login=ada%40example.com&password=correct-horse&rememberMe=true",
                    "username=ada%40example.com&password=correct-horse&action=allow", "handle=abc&action=allow",
                    "grant_type=password&username=ada%40example.com&password=correct-horse&scope=x", "userId=1001",
                    "grant_type=authorization_code&client_id=screens-1&code=abc&redirect_uri=x&code_verifier=y",
                    "token=abc", "grant_type=client_credentials&client_id=screens-2&client_secret=screens-2-secret",
                ],
                targets: [
                    LiferayOAuthTests.target(), "/c/portal/login", "/c", "/web/guest/home", "/c/portal/logout",
                    "/documents/10184/0/private.txt", "/api/jsonws/user/get-user-by-id?userId=1001",
                    "/api/jsonws/user/get-current-user?p_auth=abcdefgh",
                ],
                headers: [
                    "Basic YWRhQGV4YW1wbGUuY29tOmNvcnJlY3QtaG9yc2U=", "Bearer abc",
                    "Basic c2NyZWVucy0yOnNjcmVlbnMtMi1zZWNyZXQ=",
                ],
                cookies: ["JSESSIONID=abc; COOKIE_SUPPORT=true", "COOKIE_SUPPORT=true"])
        case .oclc:
            Examples(
                posts: [
                    TestIdentity.oclcPage(), "/token", "/auth/128807?client_id=wskey-1", "/ncip",
                    "/oauth2/accessToken?grant_type=client_credentials&scope=WMS_NCIP",
                ],
                bodies: [
                    "username=ada&password=correct-horse&action=allow", "handle=abc&action=allow",
                    "grant_type=client_credentials&scope=WMS_NCIP%20context%3A128807",
                    "grant_type=refresh_token&refresh_token=rt_abc",
                    "grant_type=authorization_code&code=auth_abc&redirect_uri=oclcApp%3A%2F%2Fuser_agent_flow",
                ],
                targets: [
                    TestIdentity.oclcPage(), TestIdentity.oclcPage(["authenticatingInstitutionId": nil]),
                    "/auth?client_id=wskey-1&scope=x", "/auth/128807?scope=WMS_NCIP%20context:128807&client_id=wskey-1",
                    "/bib/data/1?inst=128807&q=a%20b&q=", "/ncip",
                ],
                headers: [
                    "Bearer tk_abc, principalID=\"p-ada\", principalIDNS=\"urn:oclc:platform:128807\"",
                    "Basic d3NrZXktMTp3c2tleS0xLXNlY3JldA==",
                    WSKeyHeader.scheme
                        + " clientId=\"wskey-1\", timestamp=\"1700000000\", nonce=\"1\", signature=\"YQ==\"",
                ],
                cookies: ["a=b"])
        case .oidc:
            Examples(
                posts: [
                    TestIdentity.oidcPage(), "/token", "/userinfo", "/introspect", "/revoke", "/device_authorization",
                    "/device", "/device?user_code=BCDF-GHJK", "/logout",
                ],
                bodies: [
                    "username=ada&password=correct-horse&action=allow&user_code=BCDF-GHJK", "handle=abc&action=allow",
                    "grant_type=authorization_code&client_id=native-1&code=abc&redirect_uri=x&code_verifier=y",
                    "grant_type=refresh_token&client_id=native-1&refresh_token=abc&scope=openid",
                    "client_id=native-1&scope=openid",
                    "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code&client_id=native-1&device_code=abc",
                    "token=abc&client_id=web-1&client_secret=web-1-secret",
                    "grant_type=client_credentials&client_id=web-1",
                ],
                targets: [
                    TestIdentity.oidcPage(), TestIdentity.oidcPage(["prompt": "none"]), "/userinfo", "/jwks",
                    "/device?user_code=BCDF-GHJK", "/.well-known/openid-configuration",
                    "/logout?post_logout_redirect_uri=http%3A%2F%2F127.0.0.1%2Fx&state=s",
                ],
                headers: ["Bearer abc", "Basic d2ViLTE6d2ViLTEtc2VjcmV0"], cookies: ["op_session=abc"])
        case .neo:
            Examples(
                posts: [
                    "/v1/user/auth/token", "/v1/user/auth/token/refresh", "/v1/user/auth/signout", "/oauth2/token",
                    TestIdentity.oidcPage(["scope": "openid"], path: "/oauth2/authorize"),
                ],
                bodies: [
                    #"{"username":"ada@example.com","password":"correct-horse"}"#, #"{"refresh_token":"abc"}"#,
                    "username=ada%40example.com&password=correct-horse&action=allow", "handle=abc&action=deny",
                    "grant_type=authorization_code&client_id=native-1&code=abc&redirect_uri=x&code_verifier=y",
                    "grant_type=refresh_token&client_id=native-1&refresh_token=abc",
                ],
                targets: [
                    "/v1/users/me", TestIdentity.oidcPage(["scope": "openid"], path: "/oauth2/authorize"),
                    "/oauth2/token",
                ],
                headers: ["Bearer abc.def.ghi", "Basic bmF0aXZlLTE6"], cookies: ["a=b"])
        }
    }
}
