// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Every refusal has its exit code and its reason, whether the cloud says no, the rules do, or nobody is there.
@Suite("rainctl account: refusals")
struct AccountRefusalTests {
    private static let user = AccountScene.user
    private static let code = AccountScene.code

    struct Refusal: Sendable {
        var arguments: [String]
        var call: String
        var number: Int
        var status: Int
        var code: String
        var reason: String

        init(_ arguments: String, _ call: String, _ number: Int, _ status: Int, _ code: String, _ reason: String) {
            self.arguments = arguments.split(separator: " ").map(String.init)
            (self.call, self.number, self.status, self.code, self.reason) = (call, number, status, code, reason)
        }
    }

    static let refusals: [Refusal] = [
        Refusal(
            "account signup \(user) --password-file password", "POST /v1/user2", 101_006, 1, "other", "account_exists"),
        Refusal(
            "account signup \(user) --password-file password", "POST /v1/user2", 101_005, 75, "temporary",
            "server_fault"),
        Refusal(
            "account signup \(user) --password-file password", "POST /v1/user2", 100_052, 78, "config", "unsupported"),
        Refusal("account confirm \(user) --code-file code", "POST /v1/user2", 101_012, 77, "auth", "wrong_code"),
        Refusal("account confirm \(user) --code-file code", "POST /v1/user2", 100_068, 77, "auth", "code_expired"),
        Refusal("account confirm \(user) --code-file code", "POST /v1/user2", 101_011, 1, "other", "already_verified"),
        Refusal(
            "account resend \(user) --password-file password", "POST /v1/user2", 101_019, 75, "temporary",
            "rate_limited"),
        Refusal("account password reset \(user)", "PUT /v1/forgotpassword2", 101_025, 77, "auth", "unknown_user"),
        Refusal(
            "account password reset \(user) --code-file code --new-password-file new-password",
            "PUT /v1/forgotpassword2",
            101_012, 77, "auth", "wrong_code"),
        Refusal(
            "account password change --password-file password --new-password-file new-password", "PUT /v1/password2",
            101_007, 77, "auth", "invalid_credentials"),
        Refusal("account update --name Ada", "PUT /v1/user2", 101_046, 78, "config", "unsupported"),
        Refusal("account update --phone +15550100", "PUT /v1/user2", 101_056, 1, "other", "phone_number_in_use"),
        Refusal("account update --add-tag a:b", "PUT /v1/user2", 101_067, 64, "usage", "invalid_tag"),
        Refusal("account update --locale xx", "PUT /v1/user2", 112_048, 64, "usage", "invalid_locale"),
        Refusal("account update --second-step on", "PUT /v1/user2", 100_004, 1, "other", "forbidden"),
        Refusal("account data get", "GET /v1/user/custom_data", 101_087, 1, "other", "not_for_guests"),
        Refusal("account data set k 1", "PUT /v1/user/custom_data", 999_999, 1, "other", "rejected"),
        Refusal("account data remove k", "PUT /v1/user/custom_data", 100_070, 75, "temporary", "rate_limited"),
        Refusal("account delete --yes", "DELETE /v1/user2?request=true", 119_017, 1, "other", "forbidden"),
        Refusal(
            "account delete --code-file code", "DELETE /v1/user2?verification_code=\(code)", 119_005, 77, "auth",
            "wrong_code"),
        Refusal(
            "account delete --code-file code", "DELETE /v1/user2?verification_code=\(code)", 119_016, 1, "other",
            "limit_reached"),
        Refusal(
            "account convert \(user)", "POST /v1/user/guest/conversion/initiate", 101_097, 64, "usage",
            "invalid_user_name"),
        Refusal("login --guest", "POST /v1/user/guest", 100_003, 78, "config", "unsupported"),
        Refusal("login \(user) --one-time-code", "POST /v1/login2", 101_025, 77, "auth", "unknown_user"),
        Refusal("login \(user) --password-file password", "POST /v1/login2", 101_015, 77, "auth", "unverified_user"),
        Refusal(
            "login \(user) --password-file password", "POST /v1/login2", 101_058, 77, "auth", "password_reset_required"),
        Refusal("login \(user) --password-file password", "POST /v1/login2", 101_016, 77, "auth", "sign_in_failed"),
        Refusal("account versions", "GET /apiversions", 100_070, 75, "temporary", "rate_limited"),
    ]

    @Test("a refusal ends with its exit code, its reason and the cloud's text", arguments: [false, true])
    func refusal(signedIn: Bool) async throws {
        let withoutSession: Set = ["signup", "confirm", "resend", "reset", "versions", "--guest", "login"]
        let cases = Self.refusals.filter { withoutSession.isDisjoint(with: $0.arguments) == signedIn }
        #expect(cases.count > 10)
        try await AccountScene.run(signedIn: signedIn) { maker, _ in
            for refusal in cases {
                // The session belongs to the canned cloud; the refusal comes from another cloud that replaces it.
                let cloud = try CannedCloud([
                    refusal.call: [CannedCloud.refusal(refusal.number)], "GET /v1/user2": [CannedCloud.profile],
                ])
                try await maker.move(to: cloud.base)
                let outcome = try await maker.rainctl(AccountScene.withFiles(refusal.arguments, maker) + ["--json"])
                expectFailure(outcome, refusal.status, refusal.code, refusal.reason)
                #expect(outcome.failure?["message"]?.string?.contains("words of \(refusal.number)") == true)
                #expect(cloud.calls.contains(refusal.call), "\(refusal.arguments)")
                #expect((SecretHunt.mode(of: maker.folder.file(Maker.sessionFile)) != nil) == signedIn)
            }
        }
    }

    static let brokenRules = [
        ("account signup \(user) --password-file weak", "weak_password"),
        ("account signup maker --password-file password", "invalid_user_name"),
        ("account signup +12 --password-file password", "invalid_phone_number"),
        ("account signup \(user) --password-file password --locale e", "invalid_locale"),
        ("account confirm \(user) --code-file code --tag x", "invalid_tag"),
        ("account password reset \(user) --code-file code --new-password-file weak", "weak_password"),
        ("account password reset maker", "invalid_user_name"),
        ("account password change --password-file password --new-password-file weak", "weak_password"),
        ("account update --name Ada --add-tag x", "invalid_tag"),
        ("account update --name Ada --phone 15550100", "invalid_phone_number"),
        ("account update --name Ada --locale e", "invalid_locale"),
        ("account convert maker", "invalid_user_name"),
        ("account update", "usage"), ("account update --code-file code", "usage"),
        ("account data set k", "usage"), ("account data set k 1 --text x", "usage"),
        ("account confirm \(user)", "missing_code"), ("account signup \(user)", "missing_secret"),
        ("account signup \(user) --password-stdin --code-stdin", "usage"),
        ("account password change --password-stdin --new-password-stdin", "usage"),
        ("account password reset \(user) --code-stdin --new-password-stdin", "usage"),
        ("account password reset \(user) --code-file code", "missing_secret"),
        ("account convert \(user) --code-file code", "missing_secret"),
        ("account delete", "missing_confirmation"), ("account update --confirm-phone", "missing_code"),
        ("login \(user) --guest", "usage"), ("login \(user) --one-time-code --password-file password", "usage"),
        ("login", "missing_user"), ("login \(user)", "missing_secret"), ("login maker", "invalid_user_name"),
    ]

    @Test("what breaks a rule is a usage error, and nothing is sent")
    func rules() async throws {
        try await AccountScene.run(signedIn: true) { maker, cloud in
            let before = cloud.calls.count
            for (words, reason) in Self.brokenRules {
                let arguments = AccountScene.withFiles(words.split(separator: " ").map(String.init), maker)
                expectFailure(try await maker.rainctl(arguments + ["--json"]), 64, "usage", reason)
                #expect(cloud.calls.count == before, "\(words)")
            }
        }
    }

    @Test("a value that is not JSON is bad data, and an invalid code is refused here")
    func badData() async throws {
        try await AccountScene.run(signedIn: true) { maker, cloud in
            let before = cloud.calls.count
            expectFailure(
                try await maker.rainctl("account", "data", "set", "k", "{", "--json"), 65, "bad_data", "not_json")
            try maker.folder.write("12345", to: "short")
            expectFailure(
                try await maker.rainctl(
                    "account", "confirm", AccountScene.user, "--code-file", maker.folder.file("short"), "--json"),
                77, "auth", "wrong_code")
            #expect(cloud.calls.count == before)
        }
    }

    @Test("commands that need a session report that before anything is sent")
    func notSignedIn() async throws {
        try await AccountScene.run { maker, cloud in
            for words in [
                "account update --name Ada", "account data get", "account data set k 1", "account data remove k",
                "account delete --yes", "account convert \(Self.user)", "whoami",
                "account password change --password-file password --new-password-file new-password",
            ] {
                let arguments = AccountScene.withFiles(words.split(separator: " ").map(String.init), maker)
                expectFailure(try await maker.rainctl(arguments + ["--json"]), 77, "auth", "not_signed_in")
            }
            #expect(cloud.calls.isEmpty)
        }
    }

    @Test("with the cloud gone every command ends as temporary, and the session stays")
    func unreachable() async throws {
        try await AccountScene.run(signedIn: true) { maker, _ in
            try await maker.move(to: "http://127.0.0.1:\(LoopbackServer.refusedPort())")
            for arguments in Set(Self.refusals.map(\.arguments)) {
                let outcome = try await maker.rainctl(AccountScene.withFiles(arguments, maker) + ["--json"])
                expectFailure(outcome, 75, "temporary", "network")
            }
            #expect(SecretHunt.mode(of: maker.folder.file(Maker.sessionFile)) == 0o600)
        }
    }
}
