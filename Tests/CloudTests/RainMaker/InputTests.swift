// SPDX-License-Identifier: Apache-2.0
import TestSupport
import IdentityProviders
import RainAccount
import RainMaker
import RainHTTP
import RainJSON
import RainKitTesting
import Testing
import RainCore

/// Input that breaks a rule is reported at once. Nothing is sent, so the script of these tests is empty.
@Suite("Rules for a user's input")
struct InputTests {
    private static let user = "dev@example.com"
    private static let password = Secret("Passw0rd-planted")
    private static let code = Secret("123456")

    typealias Attempt = @Sendable (RainMakerAccount) async throws(AccountError) -> Void

    struct Attempts {
        var all: [Attempt] = []
        mutating func add(_ attempt: @escaping Attempt) { all.append(attempt) }
    }

    private func refusal(_ attempt: Attempt) async throws -> AccountError {
        let bench = try Bench(savedSession("a"))
        let error = await accountError { () throws(AccountError) in try await attempt(bench.account) }
        #expect(bench.http.requests.isEmpty)
        return try #require(error)
    }

    @Test(
        "a password has 8 to 256 characters, upper and lower case, a digit and no spaces",
        arguments: [
            "", "Passw0r", "passw0rd", "PASSW0RD", "Password", "Passw0rd x", "Passw0rd\n", "\tPassw0rd", "12345678",
            "Ää0Ää0Ä", "A1" + String(repeating: "a", count: 255),
        ])
    func weakPasswords(text: String) async throws {
        var attempts = Attempts()
        attempts.add { account throws(AccountError) in try await account.signUp(Self.user, password: Secret(text)) }
        attempts.add { account throws(AccountError) in
            try await account.resendSignUpCode(Self.user, password: Secret(text))
        }
        attempts.add { account throws(AccountError) in
            try await account.resetPassword(Self.user, to: Secret(text), code: Self.code)
        }
        attempts.add { account throws(AccountError) in
            try await account.changePassword(from: Self.password, to: Secret(text))
        }
        attempts.add { account throws(AccountError) in
            _ = try await account.confirmGuestConversion(to: Self.user, password: Secret(text), code: Self.code)
        }
        for attempt in attempts.all {
            let error = try await refusal(attempt)
            #expect(error.code == .weakPassword)
            #expect(error.serverCode == nil)
            #expect(error.message.contains("8 to 256"), "the rule is in the sentence")
            #expect(!error.message.contains("0rd"), "the password is not")
        }
    }

    @Test(
        "a password at the limit of the rule is sent",
        arguments: ["Passw0rd", "ÄÄÄÄÄaA1", "A1" + String(repeating: "a", count: 254), "aA1€€€€€"])
    func goodPasswords(text: String) async throws {
        let bench = try Bench()
        bench.http.expect(.post, "/v1/user2", status: 201, #"{"status":"success","description":"d"}"#)
        try await bench.account.signUp(Self.user, password: Secret(text))
        #expect(bench.http.requests[0].json?["password"]?.string == text)
    }

    @Test("a code is six digits", arguments: ["", "12345", "1234567", "12345a", "١٢٣٤٥٦", "12 456", "-12345"])
    func codes(text: String) async throws {
        var attempts = Attempts()
        attempts.add { account throws(AccountError) in try await account.confirmSignUp(Self.user, code: Secret(text)) }
        attempts.add { account throws(AccountError) in
            try await account.resetPassword(Self.user, to: Self.password, code: Secret(text))
        }
        attempts.add { account throws(AccountError) in try await account.update([.phoneCode(Secret(text))]) }
        attempts.add { account throws(AccountError) in try await account.update([.tagsCode(Secret(text))]) }
        attempts.add { account throws(AccountError) in try await account.confirmDeletion(code: Secret(text)) }
        attempts.add { account throws(AccountError) in
            _ = try await account.confirmGuestConversion(to: Self.user, password: Self.password, code: Secret(text))
        }
        attempts.add { account throws(AccountError) in
            let challenge = SignInChallenge(userName: Self.user, session: Secret("s"))
            _ = try await account.session.signIn(.oneTimeCode(challenge, code: Secret(text)))
        }
        for attempt in attempts.all {
            let error = try await refusal(attempt)
            #expect(error.code == .wrongCode)
            #expect(error.message.contains("six digits"))
        }
    }

    @Test(
        "a telephone number has + and the country code",
        arguments: [
            "", "+", "015550100", "15550100", "+0155501", "+12 345 678", "+1555010a", "+1234567890123456", "+1234",
        ])
    func phoneNumbers(text: String) async throws {
        let error = try await refusal { account throws(AccountError) in try await account.update([.phoneNumber(text)]) }
        #expect(error.code == .invalidPhoneNumber)
        #expect(error.message.contains("country code"))
    }

    @Test(
        "a user name is an e-mail address or a telephone number",
        arguments: [
            ("", AccountError.Code.invalidUserName), ("dev", .invalidUserName), ("@example.com", .invalidUserName),
            ("dev@", .invalidUserName), ("dev@a@b", .invalidUserName), ("d ev@example.com", .invalidUserName),
            ("dev@example.com\n", .invalidUserName), ("dev\u{A0}@example.com", .invalidUserName),
            (String(repeating: "x", count: 300) + "@example.com", .invalidUserName), ("+12", .invalidPhoneNumber),
        ])
    func userNames(text: String, code: AccountError.Code) async throws {
        var attempts = Attempts()
        attempts.add { account throws(AccountError) in try await account.signUp(text, password: Self.password) }
        attempts.add { account throws(AccountError) in try await account.confirmSignUp(text, code: Self.code) }
        attempts.add { account throws(AccountError) in try await account.requestPasswordReset(text) }
        attempts.add { account throws(AccountError) in
            try await account.resetPassword(text, to: Self.password, code: Self.code)
        }
        attempts.add { account throws(AccountError) in try await account.requestGuestConversion(to: text) }
        for attempt in attempts.all { #expect(try await refusal(attempt).code == code) }
    }

    @Test("a name has 1 to 256 characters", arguments: ["", String(repeating: "x", count: 257)])
    func names(text: String) async throws {
        let error = try await refusal { account throws(AccountError) in try await account.update([.name(text)]) }
        #expect(error.code == .invalidName)
        #expect(error.message.contains("1 to 256"))
    }

    @Test("a tag is key:value", arguments: [[], ["x"], [":x"], ["x:"], [""], ["a:b", "c"], ["a:\n"]])
    func tags(tags: [String]) async throws {
        var attempts = Attempts()
        attempts.add { account throws(AccountError) in try await account.update([.addTags(tags)]) }
        attempts.add { account throws(AccountError) in try await account.update([.removeTags(tags)]) }
        if !tags.isEmpty {
            attempts.add { account throws(AccountError) in
                try await account.confirmSignUp(Self.user, code: Self.code, tags: tags)
            }
        }
        for attempt in attempts.all { #expect(try await refusal(attempt).code == .invalidTag) }
    }

    @Test(
        "a locale looks like en or en-us", arguments: ["", "e", "en-", "-us", "en us", "12", "en-us-%", "deutsch"])
    func locales(text: String) async throws {
        var attempts = Attempts()
        attempts.add { account throws(AccountError) in
            try await account.signUp(Self.user, password: Self.password, locale: text)
        }
        attempts.add { account throws(AccountError) in try await account.requestPasswordReset(Self.user, locale: text) }
        attempts.add { account throws(AccountError) in _ = try await account.requestDeletion(locale: text) }
        attempts.add { account throws(AccountError) in try await account.update([.locale(text)]) }
        for attempt in attempts.all { #expect(try await refusal(attempt).code == .invalidLocale) }
    }

    @Test("custom data has a key and at most 399 KB")
    func customData() async throws {
        let large = RainMakerCustomData.Entry(key: "k", value: .string(String(repeating: "x", count: 399 << 10)))
        var attempts = Attempts()
        attempts.add { account throws(AccountError) in try await account.setCustomData(large) }
        attempts.add { account throws(AccountError) in try await account.setCustomData(.init(key: "", value: 1)) }
        attempts.add { account throws(AccountError) in try await account.removeCustomData("") }
        for attempt in attempts.all { #expect(try await refusal(attempt).code == .invalidInput) }
    }

    @Test("the current password is needed to change it")
    func currentPassword() async throws {
        let error = try await refusal { account throws(AccountError) in
            try await account.changePassword(from: Secret(""), to: Self.password)
        }
        #expect(error.code == .invalidInput)
    }
}
