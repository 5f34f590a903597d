// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite struct SignUpTests {
    private static let name = "new@example.com"

    @Test(
        "who signs up signs in once the code has come back, and not before",
        arguments: [("user2", "new@example.com"), ("user", "+491701234567")])
    func journey(path: String, name: String) throws {
        let cloud = try TestCloud()
        let user = JSONValue.string(name)
        let asked = cloud.send("POST", "/v1/\(path)?locale=en", ["user_name": user, "password": "Passw0rd"])
        #expect(asked.status == 201 && asked.body["status"] == "success")
        #expect(cloud.send("POST", "/v1/login2", ["user_name": user, "password": "Passw0rd"]).errorCode == 101015)
        #expect(cloud.send("POST", "/v1/login2", ["user_name": user]).errorCode == 101015)
        let code = try cloud.code(.signUp, to: name)
        let body: JSONValue = ["user_name": user, "verification_code": .string(code), "tags": ["a:b"]]
        let confirmed = cloud.send("POST", "/v1/\(path)", body)
        #expect(confirmed.status == 201)
        let session = try cloud.signIn(name, "Passw0rd")
        let profile = cloud.send("GET", "/v1/user2", token: session.access).body
        #expect(profile["user_name"] == user && profile["tags"] == ["a:b"])
        #expect(profile[name.hasPrefix("+") ? "phone_number" : "email"] == user)
        #expect(cloud.send("POST", "/v1/\(path)", body).errorCode == 101011)
        #expect(try cloud.journal.entries(where: ["event": "account", "what": "confirmed"]).count == 1)
        #expect(try !cloud.folder.read("journal").contains(code))
    }

    @Test("asking again sends another code, the password is the last one, and the code before is void")
    func resend() throws {
        let cloud = try TestCloud()
        _ = cloud.signUp(Self.name, "Passw0rd1")
        let first = try cloud.code(.signUp, to: Self.name)
        #expect(cloud.signUp(Self.name, "Passw0rd2").status == 201)
        let second = try cloud.code(.signUp, to: Self.name)
        func confirm(_ code: String) -> Response {
            cloud.send(
                "POST", "/v1/user2", ["user_name": .string(Self.name), "verification_code": .string(code)])
        }
        if first != second { #expect(confirm(first).errorCode == 101012) }
        #expect(confirm(second).status == 201)
        #expect(throws: SimulatorError.self) { try cloud.signIn(Self.name, "Passw0rd1") }
        _ = try cloud.signIn(Self.name, "Passw0rd2")
    }

    @Test(
        "what is wrong with a sign-up is said by code",
        arguments: [
            (#"{"password":"Passw0rd"}"#, 101001), (#"{"user_name":"","password":"Passw0rd"}"#, 101001),
            (#"{"user_name":"new","password":"Passw0rd"}"#, 101002),
            (#"{"user_name":"new@example","password":"Passw0rd"}"#, 101002),
            (#"{"user_name":"a b@example.com","password":"Passw0rd"}"#, 101002),
            (#"{"user_name":"+49","password":"Passw0rd"}"#, 101037),
            (#"{"user_name":"+49170123456x","password":"Passw0rd"}"#, 101037),
            (#"{"user_name":"new@example.com"}"#, 101003), (#"{"user_name":"new@example.com","password":""}"#, 101003),
            (#"{"user_name":"dev@example.com","password":"Passw0rd"}"#, 101006),
            (#"{"user_name":"dev@example.com","verification_code":"000000"}"#, 101011),
            (#"{"user_name":"new@example.com","verification_code":"000000"}"#, 101009),
            (#"{"user_name":"new@example.com","password":7}"#, 100006), ("[]", 100006),
        ] as [(String, Int64)])
    func refused(body: String, code: Int64) throws {
        let reply = try TestCloud().send("POST", "/v1/user2", text: body)
        #expect(reply.status == 400 && reply.errorCode == code)
    }

    @Test(
        "a password has 8 to 256 characters, no white space, and a letter of either case and a figure",
        arguments: [
            "Passw0r", "passw0rd", "PASSW0RD", "Password", "Pass w0rd", "Passw0rd\t",
            "Passw0rd" + String(repeating: "x", count: 249),
        ])
    func passwordPolicy(password: String) throws {
        let cloud = try TestCloud()
        #expect(cloud.signUp(Self.name, password).errorCode == 101004)
        #expect(cloud.signUp(Self.name, "Passw0rd" + String(repeating: "x", count: 248)).status == 201)
    }

    @Test("a locale is a language, perhaps with a country")
    func locale() throws {
        let cloud = try TestCloud()
        for (locale, isGood) in [("en", true), ("en-us", true), ("no_locale", true), ("english", false), ("e1", false)]
        {
            let reply = cloud.send(
                "POST", "/v1/user2?locale=\(locale)", ["user_name": .string(Self.name), "password": "Passw0rd"])
            #expect(isGood ? reply.status == 201 : reply.errorCode == 112048, "\(locale)")
        }
    }

    @Test("a wrong code is refused, five of them use it up, and an expired one is refused")
    func wrongCodes() throws {
        let cloud = try TestCloud { $0.verificationLifetime = .seconds(100) }
        func confirm(_ code: JSONValue) -> Response {
            cloud.send("POST", "/v1/user2", ["user_name": .string(Self.name), "verification_code": code])
        }
        _ = cloud.signUp(Self.name)
        var code = try cloud.code(.signUp, to: Self.name)
        for _ in 0..<5 { #expect(confirm(TestCloud.wrong(code)).errorCode == 101012) }
        let spent = confirm(.string(code))
        #expect(spent.status == 500 && spent.errorCode == 101019)

        _ = cloud.signUp(Self.name)
        code = try cloud.code(.signUp, to: Self.name)
        cloud.pass(.seconds(100))
        #expect(confirm(.string(code)).errorCode == 101012)
        _ = cloud.signUp(Self.name)
        code = try cloud.code(.signUp, to: Self.name)
        #expect(
            cloud.send(
                "POST", "/v1/user2",
                ["user_name": .string(Self.name), "verification_code": .string(code), "tags": ["novalue"]]
            ).errorCode == 101067)
        // Some clients send it as a number.
        #expect(confirm(.integer(Int64(code)!)).status == 201)
    }

    @Test("a sign-up goes on after a restart, and neither code nor password is kept in clear")
    func restart() throws {
        let folder = try TemporaryFolder()
        let first = try TestCloud(folder: folder)
        _ = first.signUp(Self.name, "Planted1password")
        let code = try first.code(.signUp, to: Self.name)
        let state = try folder.read("data/state.json")
        #expect(!state.contains("\"\(code)\"") && !state.contains("Planted1password"))
        let second = try TestCloud(folder: folder)
        let body: JSONValue = ["user_name": .string(Self.name), "verification_code": .string(code)]
        #expect(second.send("POST", "/v1/user2", body).status == 201)
        _ = try second.signIn(Self.name, "Planted1password")
    }
}
