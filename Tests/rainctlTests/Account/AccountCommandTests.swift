import Glibc
import JSON
import TestSupport
import Testing

/// The account's commands as scripts meet them: nobody is asked, and every end has its exit code and reason.
@Suite("rainctl account: without a terminal", .serialized)
struct AccountCommandTests {
    private static let user = "maker@example.com"
    private static let code = "246813"

    private func withMaker(
        _ answers: [String: [(status: Int, body: String)]] = [:], signedIn: Bool = false,
        _ body: (Maker, CannedCloud) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let all = signedIn ? CannedCloud.signIn.merging(answers) { $1 } : answers
            let cloud = try CannedCloud(all)
            let maker = try await cloud.maker(in: folder, signedIn: signedIn)
            try folder.write(Self.code + "\n", to: "code")
            try folder.write("New-Passw0rd-planted\n", to: "new-password")
            try folder.write("weakling", to: "weak")
            try await body(maker, cloud)
        }
    }

    private func expect(
        _ outcome: Maker.Outcome, _ status: Int, _ code: String, _ reason: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(outcome.status == status, sourceLocation: sourceLocation)
        #expect(outcome.failure?["code"]?.string == code, sourceLocation: sourceLocation)
        #expect(outcome.failure?["exit"]?.integer == Int64(status), sourceLocation: sourceLocation)
        #expect(outcome.failure?["reason"]?.string == reason, sourceLocation: sourceLocation)
    }

    // MARK: Refusals

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
            "account delete --code-file code", "DELETE /v1/user2?verification_code=\(code)", 119_015, 1, "other",
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

    @Test("a refusal ends with its exit code, its reason and the cloud's own words", arguments: [false, true])
    func refusal(signedIn: Bool) async throws {
        let withoutSession: Set = ["signup", "confirm", "resend", "reset", "versions", "--guest", "login"]
        let cases = Self.refusals.filter { withoutSession.isDisjoint(with: $0.arguments) == signedIn }
        #expect(cases.count > 10)
        try await withMaker(signedIn: signedIn) { maker, _ in
            for refusal in cases {
                // The session is the canned cloud's; the refusal comes from another that stands in its place.
                let cloud = try CannedCloud([
                    refusal.call: [CannedCloud.refusal(refusal.number)], "GET /v1/user2": [CannedCloud.profile],
                ])
                try maker.point(at: cloud)
                let outcome = try await maker.rainctl(Self.withFiles(refusal.arguments, maker) + ["--json"])
                expect(outcome, refusal.status, refusal.code, refusal.reason)
                #expect(outcome.failure?["message"]?.string?.contains("words of \(refusal.number)") == true)
                #expect(cloud.calls.contains(refusal.call), "\(refusal.arguments)")
                #expect((SecretHunt.mode(of: maker.folder.file(Maker.sessionFile)) != nil) == signedIn)
            }
        }
    }

    /// The word after `--…-file` is a file of the maker's.
    private static func withFiles(_ arguments: [String], _ maker: Maker) -> [String] {
        arguments.enumerated().map { index, word in
            index > 0 && arguments[index - 1].hasSuffix("-file") && !word.hasPrefix("/")
                ? maker.folder.file(word) : word
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
        ("account confirm \(user)", "missing_code"), ("account signup \(user)", "missing_password"),
        ("account signup \(user) --password-stdin --code-stdin", "usage"),
        ("account password change --password-stdin --new-password-stdin", "usage"),
        ("account password reset \(user) --code-stdin --new-password-stdin", "usage"),
        ("account password reset \(user) --code-file code", "missing_new_password"),
        ("account convert \(user) --code-file code", "missing_password"),
        ("account delete", "missing_confirmation"), ("account update --confirm-phone", "missing_code"),
        ("login \(user) --guest", "usage"), ("login \(user) --one-time-code --password-file password", "usage"),
        ("login", "missing_user"), ("login \(user)", "missing_password"),
    ]

    @Test("what breaks a rule is a usage error, and nothing is sent")
    func rules() async throws {
        try await withMaker(signedIn: true) { maker, cloud in
            let before = cloud.calls.count
            for (words, reason) in Self.brokenRules {
                let arguments = Self.withFiles(words.split(separator: " ").map(String.init), maker)
                expect(try await maker.rainctl(arguments + ["--json"]), 64, "usage", reason)
                #expect(cloud.calls.count == before, "\(words)")
            }
        }
    }

    @Test("a value that is not JSON is bad data, and a code that is none is refused here")
    func badData() async throws {
        try await withMaker(signedIn: true) { maker, cloud in
            let before = cloud.calls.count
            expect(
                try await maker.rainctl("account", "data", "set", "k", "{", "--json"), 65, "bad_data", "not_json")
            try maker.folder.write("12345", to: "short")
            expect(
                try await maker.rainctl(
                    "account", "confirm", Self.user, "--code-file", maker.folder.file("short"), "--json"),
                77, "auth", "wrong_code")
            #expect(cloud.calls.count == before)
        }
    }

    @Test("what needs a session says so before anything is sent")
    func notSignedIn() async throws {
        try await withMaker { maker, cloud in
            for words in [
                "account update --name Ada", "account data get", "account data set k 1", "account data remove k",
                "account delete --yes", "account convert \(Self.user)", "whoami",
                "account password change --password-file password --new-password-file new-password",
            ] {
                let arguments = Self.withFiles(words.split(separator: " ").map(String.init), maker)
                expect(try await maker.rainctl(arguments + ["--json"]), 77, "auth", "not_signed_in")
            }
            #expect(cloud.calls.isEmpty)
        }
    }

    // MARK: Two steps

    @Test("a sign-up names the command that confirms it, and that confirms it")
    func signUp() async throws {
        try await withMaker([
            "POST /v1/user2?locale=en": [CannedCloud.created], "POST /v1/user2": [CannedCloud.created],
        ]) {
            maker, cloud in
            let first = try await maker.succeeds([
                "account", "signup", "new@example.com", "--password-file", maker.folder.file("password"), "--locale",
                "en",
                "--json",
            ])
            #expect(first.document?["confirmed"] == false)
            #expect(first.document?["next"] == "rainctl account confirm new@example.com --code-stdin")
            let resent = try await maker.succeeds([
                "account", "resend", "new@example.com", "--password-file", maker.folder.file("password"), "--json",
            ])
            #expect(resent.document?["next"] == "rainctl account confirm new@example.com --code-stdin")
            let second = try await maker.succeeds(
                ["account", "confirm", "new@example.com", "--code-stdin", "--tag", "a:b", "--json"],
                input: .text(Self.code + "\n"))
            #expect(second.document?["confirmed"] == true)
            #expect(
                cloud.bodies("POST /v1/user2").last == [
                    "user_name": "new@example.com", "verification_code": .string(Self.code), "tags": ["a:b"],
                ])
        }
    }

    @Test("a one-time code sent to one command signs in by the next")
    func oneTimeCode() async throws {
        var answers = CannedCloud.signIn
        answers["POST /v1/login2"] = [
            CannedCloud.challenge, CannedCloud.refusal(101_012), CannedCloud.tokens,
        ]
        try await withMaker(answers) { maker, cloud in
            let pending = maker.folder.file("state/rainkit/sign-in-sim.json")
            let first = try await maker.succeeds(["login", Self.user, "--one-time-code", "--json"])
            #expect(first.document?["signed_in"] == false)
            #expect(first.document?["next"] == .string("rainctl login \(Self.user) --code-stdin"))
            #expect(SecretHunt.mode(of: pending) == 0o600)

            // The session of another user's sign-in is not this one's.
            let other = try await maker.rainctl(
                ["login", "other@example.com", "--code-stdin", "--json"], input: .text(Self.code))
            expect(other, 77, "auth", "no_pending_sign_in")

            // A wrong code leaves it finishable.
            let wrong = try await maker.rainctl(["login", Self.user, "--code-stdin", "--json"], input: .text("111111"))
            expect(wrong, 77, "auth", "wrong_code")
            #expect(SecretHunt.mode(of: pending) == 0o600)

            let second = try await maker.succeeds(["login", "--code-stdin", "--json"], input: .text(Self.code + "\n"))
            #expect(second.document?["signed_in"] == true)
            #expect(second.document?["user_id"] == "user-1")
            #expect(
                cloud.bodies("POST /v1/login2").last == [
                    "user_name": .string(Self.user), "verification_code": .string(Self.code),
                    "session": "planted-session",
                ])
            #expect(SecretHunt.mode(of: pending) == nil)
            let none = try await maker.rainctl(["login", "--code-stdin", "--json"], input: .text(Self.code))
            expect(none, 77, "auth", "no_pending_sign_in")
        }
    }

    @Test("a password to which the cloud wants a code as well is finished by a second command")
    func secondStep() async throws {
        var answers = CannedCloud.signIn
        answers["POST /v1/login2"] = [CannedCloud.challenge, CannedCloud.tokens]
        try await withMaker(answers) { maker, _ in
            let first = try await maker.rainctl(
                "login", Self.user, "--password-file", maker.folder.file("password"), "--json")
            expect(first, 77, "auth", "second_step_required")
            #expect(first.failure?["message"]?.string?.contains("rainctl login \(Self.user) --code-stdin") == true)
            let second = try await maker.succeeds(["login", Self.user, "--code", Self.code, "--json"])
            #expect(second.document?["signed_in"] == true)
            #expect(second.standardError.contains("warning: --code on the command line"))
        }
    }

    @Test("a challenge that the cloud has ended is forgotten")
    func challengeEnded() async throws {
        try await withMaker(["POST /v1/login2": [CannedCloud.challenge, CannedCloud.refusal(101_039)]]) { maker, _ in
            try await maker.succeeds(["login", Self.user, "--one-time-code"])
            let late = try await maker.rainctl(["login", "--code-stdin", "--json"], input: .text(Self.code))
            expect(late, 77, "auth", "challenge_expired")
            #expect(SecretHunt.mode(of: maker.folder.file("state/rainkit/sign-in-sim.json")) == nil)
        }
    }

    @Test("a script may write the code into the pipe once it has come", arguments: [false, true])
    func lateCode(withPassword: Bool) async throws {
        var answers = CannedCloud.signIn
        answers["POST /v1/login2"] = [CannedCloud.challenge, CannedCloud.tokens]
        try await withMaker(answers) { maker, cloud in
            let first = withPassword ? ["--password-file", maker.folder.file("password")] : ["--one-time-code"]
            let login = try await maker.start(["login", Self.user, "--code-stdin", "--json"] + first, input: .open)
            defer { login.kill() }
            let end = ContinuousClock.now + .seconds(20)
            while cloud.calls.isEmpty, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(2)) }
            login.write(Self.code + "\n")
            login.closeInput()
            #expect(try await login.wait() == .exited(0))
            #expect(cloud.bodies("POST /v1/login2").count == 2)
        }
    }

    @Test("a code that does not come ends with the time, and Ctrl-C does not wait for it")
    func noCode() async throws {
        try await withMaker(["POST /v1/login2": [CannedCloud.challenge]]) { maker, cloud in
            let waiting = ["login", Self.user, "--one-time-code", "--code-stdin", "--json"]
            let late = try await maker.start(waiting + ["--timeout", "1s"], input: .open)
            defer { late.kill() }
            #expect(try await late.wait() == .exited(16))
            let child = try await maker.start(waiting, input: .open)
            defer { child.kill() }
            let end = ContinuousClock.now + .seconds(20)
            while cloud.calls.count < 2, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(2)) }
            #expect(try await child.terminate(SIGINT) == .exited(130))
        }
    }

    @Test("a forgotten password is reset by two commands")
    func passwordReset() async throws {
        try await withMaker(["PUT /v1/forgotpassword2": [CannedCloud.done]]) { maker, cloud in
            let first = try await maker.succeeds(["account", "password", "reset", Self.user, "--json"])
            #expect(first.document?["reset"] == false)
            let second = try await maker.succeeds(
                [
                    "account", "password", "reset", Self.user, "--code-file", maker.folder.file("code"),
                    "--new-password-stdin", "--json",
                ], input: .text("New-Passw0rd-planted\n"))
            #expect(second.document?["reset"] == true)
            #expect(
                cloud.bodies("PUT /v1/forgotpassword2") == [
                    ["user_name": .string(Self.user)],
                    [
                        "user_name": .string(Self.user), "password": "New-Passw0rd-planted",
                        "verification_code": .string(Self.code),
                    ],
                ])
        }
    }

    @Test("a changed password signs out here")
    func passwordChange() async throws {
        try await withMaker(["PUT /v1/password2": [CannedCloud.done]], signedIn: true) { maker, _ in
            let file = maker.folder.file
            let outcome = try await maker.succeeds([
                "account", "password", "change", "--password-file", file("password"), "--new-password-file",
                file("new-password"), "--json",
            ])
            #expect(outcome.document?["user_name"] == .string(Self.user))
            #expect(SecretHunt.mode(of: file(Maker.sessionFile)) == nil)
        }
    }

    @Test("an account is deleted by two commands, a guest's by one")
    func deletion() async throws {
        let calls = [
            "DELETE /v1/user2?request=true&locale=en": [CannedCloud.done],
            "DELETE /v1/user2?request=true": [CannedCloud.done],
            "DELETE /v1/user2?verification_code=\(Self.code)": [CannedCloud.done],
        ]
        try await withMaker(calls, signedIn: true) { maker, _ in
            let session = maker.folder.file(Maker.sessionFile)
            let first = try await maker.succeeds(["account", "delete", "--yes", "--locale", "en", "--json"])
            #expect(first.document?["deleted"] == false)
            #expect(first.document?["next"] == "rainctl account delete --code-stdin")
            #expect(SecretHunt.mode(of: session) == 0o600)
            let second = try await maker.succeeds(
                ["account", "delete", "--code-stdin", "--json"], input: .text(Self.code))
            #expect(second.document?["deleted"] == true)
            #expect(SecretHunt.mode(of: session) == nil)

            let guest = try CannedCloud(
                calls.merging([
                    "POST /v1/user/guest": [CannedCloud.tokens],
                    "GET /v1/user2": [(200, #"{"user_id":"g","user_name":"guest@7.temp.user","is_guest_user":true}"#)],
                ]) { $1 })
            try maker.point(at: guest)
            let login = try await maker.succeeds(["login", "--guest", "--json"])
            #expect(login.document?["user_name"] == "guest@7.temp.user")
            let deleted = try await maker.succeeds(["account", "delete", "--yes", "--json"])
            #expect(deleted.document?["deleted"] == true)
            #expect(SecretHunt.mode(of: session) == nil)
        }
    }

    @Test("a guest becomes an account by two commands")
    func conversion() async throws {
        let calls = CannedCloud.signIn.merging([
            "POST /v1/user/guest": [CannedCloud.tokens],
            "POST /v1/user/guest/conversion/initiate": [CannedCloud.done],
            "POST /v1/user/guest/conversion/verify": [CannedCloud.done],
        ]) { $1 }
        try await withMaker(calls) { maker, cloud in
            try await maker.succeeds(["login", "--guest"])
            let first = try await maker.succeeds(["account", "convert", Self.user, "--json"])
            #expect(first.document?["converted"] == false)
            let second = try await maker.succeeds(
                [
                    "account", "convert", Self.user, "--code-stdin", "--password-file", maker.folder.file("password"),
                    "--json",
                ], input: .text(Self.code))
            #expect(second.document?["converted"] == true)
            #expect(second.document?["user_id"] == "user-1")
            #expect(
                cloud.bodies("POST /v1/user/guest/conversion/verify").first??["verification_code"] == .string(Self.code)
            )
        }
    }

    // MARK: The profile

    @Test("an update makes its changes one after the other")
    func update() async throws {
        try await withMaker(["PUT /v1/user2": [CannedCloud.done]], signedIn: true) { maker, cloud in
            let outcome = try await maker.succeeds([
                "account", "update", "--phone", "+15550100", "--name", "Ada", "--add-tag", "a:b", "--add-tag", "c:d",
                "--remove-tag", "e:f", "--locale", "en-us", "--second-step", "off", "--json",
            ])
            #expect(outcome.document?["phone_confirmed"] == false)
            #expect(outcome.document?["next"] == "rainctl account update --confirm-phone --code-stdin")
            let confirmed = try await maker.succeeds(
                ["account", "update", "--confirm-phone", "--code-stdin", "--json"], input: .text(Self.code))
            #expect(confirmed.document?["phone_confirmed"] == true)
            #expect(
                cloud.bodies("PUT /v1/user2") == [
                    ["name": "Ada"], ["locale": "en-us"], ["mfa": false], ["operation": "remove", "tags": ["e:f"]],
                    ["operation": "add", "tags": ["a:b", "c:d"]], ["phone_number": "+15550100"],
                    ["verification_code": .string(Self.code)],
                ])
        }
    }

    @Test("whoami tells the whole profile, as lines and as JSON")
    func whoami() async throws {
        let profile = #"""
            {"user_id":"user-1","user_name":"maker@example.com","mfa":true,"admin":true,"name":"Ada","phone_number":"+15550100",
            "email":"maker@example.com","quota":{"nodes":5},"user_roles":["owner"],"tags":["team:lab","x:y"],"locale":"en-us",
            "admin_tags":["tier:gold"],"picture_url":"https://example.com/p","is_guest_user":true,"expires_on":1800000000}
            """#
        try await withMaker(["GET /v1/user2": [(200, profile)]], signedIn: true) { maker, _ in
            let document = try #require(try await maker.succeeds(["whoami", "--json"]).document)
            let expected: [(String, JSONValue)] = [
                ("profile", "sim"), ("user_name", "maker@example.com"), ("user_id", "user-1"), ("name", "Ada"),
                ("email", "maker@example.com"), ("phone_number", "+15550100"), ("locale", "en-us"),
                ("picture_url", "https://example.com/p"), ("second_step", true), ("administrator", "plain"),
                ("roles", ["owner"]), ("tags", ["team:lab", "x:y"]), ("administrator_tags", ["tier:gold"]),
                ("quota", ["nodes": 5]), ("guest", true), ("guest_expires_at", "2027-01-15T08:00:00.000Z"),
            ]
            for (key, value) in expected { #expect(document[key] == value, "\(key)") }
            let text = try await maker.succeeds(["whoami"]).standardOutput
            for line in [
                "maker@example.com", "user id: user-1", "name: Ada", "telephone: +15550100", "second step: on",
                "tags: team:lab, x:y", "administrator tags: tier:gold", #"quota: {"nodes":5}"#,
                "guest until 2027-01-15T08:00:00.000Z",
            ] { #expect(text.split(separator: "\n").contains(Substring(line)), "\(line)") }
        }
    }

    @Test("custom data is set, printed and removed")
    func customData() async throws {
        let data =
            #"{"theme":{"value":{"dark":true}},"greeting":{"value":"hi \u001b[2J\u009b1m"},"empty":{"value":null}}"#
        let calls = [
            "GET /v1/user/custom_data": [(status: 200, body: data)], "PUT /v1/user/custom_data": [CannedCloud.done],
        ]
        try await withMaker(calls, signedIn: true) { maker, cloud in
            try await maker.succeeds(["account", "data", "set", "theme", #"{"dark": true}"#])
            try await maker.succeeds(["account", "data", "set", "greeting", "--text", "7"])
            try await maker.succeeds(["account", "data", "set", "list", "-"], input: .text("[1, 2]\n"))
            try await maker.succeeds(["account", "data", "remove", "theme"])
            #expect(
                cloud.bodies("PUT /v1/user/custom_data") == [
                    ["theme": ["value": ["dark": true]]], ["greeting": ["value": "7"]], ["list": ["value": [1, 2]]],
                    ["theme": nil],
                ])
            let one = try await maker.succeeds(["account", "data", "get", "theme"])
            #expect(one.standardOutput == "{\n  \"dark\": true\n}\n")
            let document = try await maker.succeeds(["account", "data", "get", "--json"]).document
            #expect(document?["data"]?["theme"] == ["dark": true])
            #expect(document?["data"]?["empty"] == .null)
            // What a terminal would obey stays JSON's escape.
            let all = try await maker.succeeds(["account", "data", "get"]).standardOutput
            #expect(all.contains(#"hi \u001b[2J\u009b1m"#))
            #expect(try JSONValue(parsing: Array(all.utf8))["greeting"] == "hi \u{1B}[2J\u{9B}1m")
            expect(
                try await maker.rainctl("account", "data", "get", "nothing", "--json"), 1, "other", "no_such_key")
        }
    }

    @Test("versions tells what the deployment speaks, and refuses one that we do not")
    func versions() async throws {
        let body = #"{"supported_versions":["v1"],"additional_info":[{"version":"v1","build_info":"b7"}]}"#
        try await withMaker(["GET /apiversions": [(200, body), (200, #"{"supported_versions":["v9"]}"#)]]) { maker, _ in
            let document = try await maker.succeeds(["account", "versions", "--json"]).document
            #expect(document?["versions"] == [["version": "v1", "used": true, "build": "b7"]])
            let outcome = try await maker.rainctl("account", "versions", "--json")
            expect(outcome, 78, "config", "unsupported")
            #expect(outcome.failure?["message"]?.string?.contains("speaks v9, not v1") == true)
        }
    }

    @Test("with the cloud gone every command ends as temporary, and the session stays")
    func unreachable() async throws {
        try await withMaker(signedIn: true) { maker, _ in
            try maker.point(at: "http://127.0.0.1:\(LoopbackServer.refusedPort())")
            for arguments in Set(Self.refusals.map(\.arguments)) {
                let outcome = try await maker.rainctl(Self.withFiles(arguments, maker) + ["--json"])
                expect(outcome, 75, "temporary", "network")
            }
            #expect(SecretHunt.mode(of: maker.folder.file(Maker.sessionFile)) == 0o600)
        }
    }
}
