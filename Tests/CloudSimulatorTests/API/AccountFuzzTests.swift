// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

/// As ``APIFuzzTests``, for the account, the hosted pages and the control interface.
@Suite("The account's entries, fuzzed")
struct AccountFuzzTests {
    /// Whether this answer to a mutant is acceptable. The cloud answers 500 to too many wrong codes, and to too many users.
    private static func isSound(_ response: Response) -> Bool {
        guard response.status != 500 else { return [101008, 101019].contains(response.errorCode) }
        return [200, 201, 302, 400, 401, 404].contains(response.status)
    }

    @Test("bodies of every account call")
    func bodies() async throws {
        try await withOwnProcessInSoak {
            let cloud = try TestCloud(isForgetful: true)
            var session = try cloud.signIn()
            let examples = Examples.bodies + [Array("{\"refreshtoken\":\"\(session.refresh)\"}".utf8)]
            var turn = 0
            let report = fuzz("account bodies", from: examples, seed: 31) { input in
                let (method, target) = Examples.calls[turn % Examples.calls.count]
                turn += 1
                let response = cloud.api.respond(
                    to: Request(
                        method: method, target: target, headers: [.init("Authorization", session.access)], body: input))
                #expect(Self.isSound(response), "\(method) \(target): \(response)")
                guard response.status == 401 || turn % 500 == 0 else { return }
                // A mutant signed it out, or changed the password.
                try? cloud.api.addUser(name: TestCloud.user, password: TestCloud.password)
                if let again = try? cloud.signIn() { session = again }
            }
            #expect(report.failures.isEmpty, "\(report.complaint)")
        }
    }

    @Test("forms of the sign-in page and of the token endpoint")
    func forms() async throws {
        try await withOwnProcessInSoak {
            let cloud = try TestCloud(isForgetful: true)
            let flow = OAuthFlow(cloud: cloud)
            let type = [Request.Field("Content-Type", "application/x-www-form-urlencoded")]
            let targets = [flow.target, "/oauth2/token", flow.target + "&identity_provider=GitHub", "/token"]
            var turn = 0
            let report = fuzz("forms", from: Examples.forms, seed: 32) { input in
                let target = targets[turn % targets.count]
                turn += 1
                let response = cloud.api.respond(
                    to: Request(method: "POST", target: target, headers: type, body: input))
                #expect(Self.isSound(response) && Self.isContained(response), "\(target): \(response)")
            }
            #expect(report.failures.isEmpty, "\(report.complaint)")
        }
    }

    @Test("queries of the hosted pages and of account calls")
    func queries() async throws {
        try await withOwnProcessInSoak {
            let cloud = try TestCloud(isForgetful: true)
            let token = try cloud.signIn().access
            let calls = [
                ("GET", "/oauth2/authorize"), ("GET", "/welcome.html"), ("DELETE", "/v1/user2"), ("POST", "/v1/user2"),
                ("GET", "/v1/user/public_profile"), ("GET", "/v1/user2"),
            ]
            var turn = 0
            let report = fuzz("queries", from: Examples.queries, seed: 33) { input in
                let (method, path) = calls[turn % calls.count]
                turn += 1
                let target = "\(path)?\(String(decoding: input, as: UTF8.self))"
                let response = cloud.api.respond(
                    to: Request(method: method, target: target, headers: [.init("Authorization", token)]))
                #expect(Self.isSound(response) && Self.isContained(response), "\(target): \(response)")
            }
            #expect(report.failures.isEmpty, "\(report.complaint)")
        }
    }

    @Test("what tests ask for")
    func control() async throws {
        try await withOwnProcessInSoak {
            let cloud = try TestCloud(isForgetful: true)
            let names = ["expire", "revoke", "faults", "clock", "mfa", "weather", "daylight", "nonsense"]
            var turn = 0
            let report = fuzz("control", from: Examples.control, seed: 34) { input in
                let path = "/_sim/\(names[turn % names.count])"
                turn += 1
                let response = cloud.api.respond(to: Request(method: "POST", target: path, body: input))
                #expect([200, 400, 404].contains(response.status), "\(path): \(response)")
                // Whatever faults there are now: they answer something that can be sent.
                let faulty = cloud.api.respond(to: Request(method: "GET", target: "/apiversions"))
                #expect((200...599).contains(faulty.status))
                #expect(!faulty.serialized(keepsConnection: false, now: cloud.api.now).isEmpty)
            }
            #expect(report.failures.isEmpty, "\(report.complaint)")
        }
    }

    /// Nothing breaks out of a header or of a page.
    private static func isContained(_ response: Response) -> Bool {
        let headers = response.headers.allSatisfy { $0.value.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } }
        return headers && !response.page.lowercased().contains("<script")
    }
}

private enum Examples {
    static let calls = [
        ("POST", "/v1/login2"), ("POST", "/v1/user2"), ("PUT", "/v1/forgotpassword2"), ("PUT", "/v1/password2"),
        ("PUT", "/v1/user2"), ("PUT", "/v1/user/custom_data"), ("PUT", "/v1/user/public_profile"),
        ("POST", "/v1/user/guest/conversion/initiate"), ("POST", "/v1/user/guest/conversion/verify"),
        ("POST", "/v1/user/push_notification/mobile_platform_endpoint"), ("POST", "/v1/logout2"),
        ("POST", "/v1/user/guest"), ("POST", "/v1/user/data-requests"),
    ]

    static let bodies = [
        #"{"user_name":"new@example.com","password":"Passw0rd"}"#,
        #"{"user_name":"new@example.com","verification_code":"123456","tags":["a:b"]}"#,
        #"{"user_name":"dev@example.com","verification_code":123456,"session":"login.abc"}"#,
        #"{"user_name":"dev@example.com","password":null,"verification_code":null}"#,
        #"{"user_name":"dev@example.com","password":"Passw0rd","verification_code":"123456"}"#,
        #"{"password":"Passw0rd","newpassword":"Another1"}"#, #"{"phone_number":"+491701234567"}"#,
        #"{"operation":"add","tags":["city:Pune","a:b"]}"#, #"{"locale":"en-us"}"#, #"{"mfa":true}"#,
        #"{"name":"Ada"}"#, #"{"verification_code":"123456"}"#,
        #"{"key":{"value":{"a":[1,2.5,null]},"perms":[{"read":["user"]}]},"other":null}"#,
        #"{"profile":{"nick":"Ada"}}"#, #"{"platform":"GCM","mobile_device_token":"abc"}"#, #"{"logout_all":false}"#,
    ].map { Array($0.utf8) }

    static let forms = [
        "username=dev%40example.com&password=Passw0rd&action=allow", "action=deny", "username=ada%40example.com",
        "session=mfa.abc&code=123456",
        """
        grant_type=authorization_code&client_id=1h7ujqjs8140n17v0ahb4n51m2&code=abc&\
        redirect_uri=http%3A%2F%2F127.0.0.1%3A49152%2Fcallback&code_verifier=\(OAuthFlow.verifier)
        """,
        "grant_type=refresh_token&client_id=1h7ujqjs8140n17v0ahb4n51m2&refresh_token=session.random",
        "grant_type=password&client_id=1h7ujqjs8140n17v0ahb4n51m2&username=dev%40example.com&password=Passw0rd",
    ].map { Array($0.utf8) }

    static let queries = [
        """
        response_type=code&client_id=1h7ujqjs8140n17v0ahb4n51m2&redirect_uri=http://127.0.0.1:1/cb&state=port:1&\
        code_challenge=\(OAuthFlow.challenge)&code_challenge_method=S256&identity_provider=GitHub
        """, "code=abc&state=port:49152", "error=access_denied&error_description=No%20%3Cno&state=port:1:x",
        "request=true&locale=en", "verification_code=123456", "user_name=dev%40example.com", "custom_data=true",
    ].map { Array($0.utf8) }

    static let control = [
        #"{"user":"dev@example.com"}"#, #"{"user":"dev@example.com","on":true}"#, #"{"offset":600}"#,
        #"{"rules":[{"method":"GET","path":"/*","action":"status","status":503,"retry_after":7,"count":2}]}"#,
        #"{"latitude":59.91,"longitude":10.75,"values":{"temperature":31}}"#,
        #"{"latitude":59.91,"longitude":10.75,"event":"sunset"}"#,
        #"{"rules":[{"path":"/apiversions","action":"truncate","processed":true},{"path":"/v1/*","action":"html"}]}"#,
    ].map { Array($0.utf8) }
}
