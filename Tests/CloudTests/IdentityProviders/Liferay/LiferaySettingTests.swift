// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainCore
import RainHTTP
import RainJSON
import RainKitTesting
import TestSupport
import Testing

@Suite("A portal's settings: detected, refused, and named by an error")
struct LiferaySettingTests {
    private static let user =
        #"{"userId":"1001","companyId":"10157","emailAddress":"ada@example.com","screenName":"ada"}"#
    private static let sites = #"[{"groupId":"10184","companyId":"10157"}]"#
    private static let invoke = "/api/jsonws/invoke"

    private func portal(
        _ parameters: [String: String] = [:], mode: String? = nil, clientID: String? = nil
    ) throws -> (ConfiguredProvider, ScriptedHTTPClient) {
        let http = ScriptedHTTPClient()
        let settings = ProviderSettings(
            base: "http://127.0.0.1:1", clientID: clientID, mode: mode, parameters: parameters)
        let tools = ProviderBench.tools(http, ManualWallClock())
        return (try ProviderRegistry.builtIn.provider("liferay", settings: settings, tools: tools), http)
    }

    private func signIn(
        _ provider: ConfiguredProvider, _ user: String = "ada@example.com"
    ) async throws(AccountError) -> Tokens {
        try await provider.signIn(.password(user: user, password: Secret("correct-horse")))
    }

    private func commands(_ http: ScriptedHTTPClient) -> [String] {
        http.requests.map { String(decoding: $0.body, as: UTF8.self) }
    }

    // MARK: The version

    /// The answers with which portals before 7.0 report that they do not have such a service.
    static let unknownServices = [
        #"{"exception":"com.liferay.portal.kernel.jsonwebservice.NoSuchJSONWebServiceException","message":"No JSON web service action associated with path /x"}"#,
        #"{"exception":"com.liferay.portal.kernel.jsonwebservice.NoSuchJSONWebServiceException: No JSON web service action associated with path /x"}"#,
        #"{"exception":"No JSON web service action associated with path /group/get-user-sites-groups and method POST for //portal"}"#,
        #"{"exception":"java.lang.RuntimeException","message":"No JSON web service action associated with path /x"}"#,
        #"{"exception":"java.lang.NoSuchMethodException"}"#,
    ]

    @Test("without serverVersion a 6.2 portal is detected, and its version is stored", arguments: unknownServices)
    func detected(answer: String) async throws {
        let (provider, http) = try portal()
        http.expect(.post, Self.invoke, answer)
        http.expect(.post, Self.invoke, "[\(Self.sites)]")
        http.expect(.post, Self.invoke, "[\(Self.user)]")
        let tokens = try await signIn(provider)
        #expect(tokens["serverVersion"] == "62")
        let sent = commands(http)
        #expect(sent[0].contains("get-user-sites-groups") && sent[1].contains("\"/group/get-user-sites\""), "\(sent)")
        // A later command sends one request.
        http.expect(.post, Self.invoke, "[\(Self.user)]")
        #expect(try await provider.user(tokens).userID == UserID("1001"))
        try http.finish()
    }

    @Test("so is one whose users sign in with cookies")
    func detectedByCookie() async throws {
        let (provider, http) = try portal(mode: "cookie")
        let page = "<script>Liferay.authToken = 'AbC12345';</script>"
        http.expect(.get, "/c/portal/login", page)
        http.expect(.post, "/c/portal/login", page)
        http.expect(.post, Self.invoke, Self.unknownServices[0])
        http.expect(.post, Self.invoke, "[\(Self.user)]")
        let tokens = try await signIn(provider)
        #expect(tokens["serverVersion"] == "62")
        #expect(commands(http).last?.contains("/screens-web.screensuser/get-current-user") == true)
        try http.finish()
    }

    @Test("a portal of 7.0 is asked once, and a given version is used unchanged")
    func notDetected() async throws {
        for (version, sites) in [
            (nil, "get-user-sites-groups"), ("62", "/group/get-user-sites\""), ("6.2", "get-user-sites\""),
        ] {
            let (provider, http) = try portal(version.map { ["serverVersion": $0] } ?? [:])
            http.expect(.post, Self.invoke, "[\(Self.sites)]")
            http.expect(.post, Self.invoke, "[\(Self.user)]")
            #expect(try await signIn(provider)["serverVersion"] == nil)
            #expect(commands(http)[0].contains(sites), "\(commands(http))")
            try http.finish()
        }
    }

    @Test("for a portal without the service in any version, the error names the setting", arguments: [nil, "70", "62"])
    func unknown(version: String?) async throws {
        let (provider, http) = try portal(version.map { ["serverVersion": $0] } ?? [:])
        for _ in 0..<(version == nil ? 2 : 1) { http.expect(.post, Self.invoke, Self.unknownServices[0]) }
        let error = await accountError { () throws(AccountError) in try await signIn(provider) }
        #expect(
            error?.code == .unsupported && error?.remedies == [.parameter(name: "serverVersion")], "\(error as Any)")
        #expect(error?.message.contains("serverVersion") == true)
        try http.finish()
    }

    @Test(
        "an unsupported version is refused before anything is sent or a browser opens",
        arguments: ["99", "60", "75", "7", "abc", "", "-62", "6.3", "70 "])
    func refused(version: String) async throws {
        for mode in ["basic", "cookie", "oauth2UsernameAndPassword", "oauth2Redirect"] {
            let (provider, http) = try portal(["serverVersion": version], mode: mode, clientID: "screens-1")
            let error = await accountError { () throws(AccountError) in
                if mode == "oauth2Redirect" {
                    _ = try await provider.signInPage()
                } else {
                    _ = try await signIn(provider)
                }
            }
            #expect(error?.code == .invalidConfiguration, "\(mode)")
            let message = error?.message ?? ""
            #expect(message.contains("serverVersion") && message.contains("62") && message.contains("74"), "\(message)")
            #expect(error?.remedies == [.parameter(name: "serverVersion")])
            #expect(http.requests.isEmpty)
        }
    }

    // MARK: Settings that an error names

    private static let stranger = """
        {"exception":"No User exists","throwable":"com.liferay.portal.kernel.exception.NoSuchUserException: No User exists"}
        """

    @Test(
        "a kind of name that the portal may not accept is named, whether it comes from a setting or the name's form",
        arguments: [("email", "ada@example.com"), ("screenName", "ada@example.com"), ("userId", "1001")])
    func loginBy(kind: String, user: String) async throws {
        let (provider, http) = try portal(["loginBy": kind, "companyId": "10157"])
        http.expect(.post, Self.invoke, status: 401, "")
        let error = await accountError { () throws(AccountError) in try await signIn(provider, user) }
        #expect(error?.code == .invalidCredentials && error?.remedies == [.parameter(name: "loginBy")])
        #expect(error?.message.contains("loginBy") == true && error?.message.contains(kind) == true, "\(error as Any)")

        let (plain, quiet) = try portal(["companyId": "10157"])
        quiet.expect(.post, Self.invoke, status: 401, "")
        let bare = await accountError { () throws(AccountError) in try await signIn(plain, user) }
        #expect(bare?.code == .invalidCredentials && bare?.remedies == [.parameter(name: "loginBy")])
        let guessed = user == "1001" ? "userId" : "email"
        #expect(bare?.message.contains("does not let users sign in by \(guessed) (loginBy)") == true)
        #expect(bare?.message.contains("session") == false, "\(bare as Any)")
    }

    @Test("a name that is not a number is refused with the setting that requires one, and nothing is sent")
    func noNumber() async throws {
        let (provider, http) = try portal(["loginBy": "userId"])
        let error = await accountError { () throws(AccountError) in try await signIn(provider) }
        #expect(error?.code == .invalidUserName && error?.message.contains("loginBy") == true, "\(error as Any)")
        #expect(http.requests.isEmpty)
    }

    @Test(
        "another company than the user's is named with the setting that it comes from",
        arguments: [
            (["contextCompanyId": "20000"], "contextCompanyId"), (["companyId": "20000"], "companyId"),
            (["companyId": "20000", "contextCompanyId": "10157"], "companyId"),
            (["companyId": "0", "contextCompanyId": "20000"], "contextCompanyId"),
        ])
    func company(parameters: [String: String], name: String) async throws {
        for answer in [Self.stranger, "[\(Self.user)]"] {
            let (provider, http) = try portal(parameters)
            http.expect(.post, Self.invoke, answer)
            let error = await accountError { () throws(AccountError) in try await signIn(provider) }
            #expect(error?.code == .wrongContext && error?.remedies == [.parameter(name: name)], "\(error as Any)")
            #expect(error?.message.contains("20000 ") == true && error?.message.contains("(\(name))") == true)
        }
    }
}
