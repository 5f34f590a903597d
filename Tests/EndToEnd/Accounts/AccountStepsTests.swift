// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

/// What takes two steps is finished by a second command where nobody can be asked.
@Suite("rainctl account: in two steps")
struct AccountStepsTests {
    @Test("a sign-up names the command that confirms it, and that confirms it")
    func signUp() async throws {
        try await AccountScene.run([
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
                input: .text(AccountScene.code + "\n"))
            #expect(second.document?["confirmed"] == true)
            #expect(
                cloud.bodies("POST /v1/user2").last == [
                    "user_name": "new@example.com", "verification_code": .string(AccountScene.code), "tags": ["a:b"],
                ])
        }
    }

    @Test("a one-time code sent to one command signs in by the next")
    func oneTimeCode() async throws {
        var answers = CannedCloud.signIn
        answers["POST /v1/login2"] = [
            CannedCloud.challenge, CannedCloud.refusal(101_012), CannedCloud.tokens,
        ]
        try await AccountScene.run(answers) { maker, cloud in
            let pending = maker.folder.file("state/rainkit/sign-in-sim.json")
            let first = try await maker.succeeds(["login", AccountScene.user, "--one-time-code", "--json"])
            #expect(first.document?["signed_in"] == false)
            #expect(first.document?["next"] == .string("rainctl login \(AccountScene.user) --code-stdin"))
            #expect(SecretHunt.mode(of: pending) == 0o600)

            // The session of another user's sign-in is not this one's.
            let other = try await maker.rainctl(
                ["login", "other@example.com", "--code-stdin", "--json"], input: .text(AccountScene.code))
            expectFailure(other, 77, "auth", "no_pending_sign_in")

            // A wrong code leaves it finishable.
            let wrong = try await maker.rainctl(
                ["login", AccountScene.user, "--code-stdin", "--json"], input: .text("111111"))
            expectFailure(wrong, 77, "auth", "wrong_code")
            #expect(SecretHunt.mode(of: pending) == 0o600)

            let second = try await maker.succeeds(
                ["login", "--code-stdin", "--json"], input: .text(AccountScene.code + "\n"))
            #expect(second.document?["signed_in"] == true)
            #expect(second.document?["user_id"] == "user-1")
            #expect(
                cloud.bodies("POST /v1/login2").last == [
                    "user_name": .string(AccountScene.user), "verification_code": .string(AccountScene.code),
                    "session": "planted-session",
                ])
            #expect(SecretHunt.mode(of: pending) == nil)
            let none = try await maker.rainctl(["login", "--code-stdin", "--json"], input: .text(AccountScene.code))
            expectFailure(none, 77, "auth", "no_pending_sign_in")
        }
    }

    @Test("a password to which the cloud wants a code as well is finished by a second command")
    func secondStep() async throws {
        var answers = CannedCloud.signIn
        answers["POST /v1/login2"] = [CannedCloud.challenge, CannedCloud.tokens]
        try await AccountScene.run(answers) { maker, _ in
            let first = try await maker.rainctl(
                "login", AccountScene.user, "--password-file", maker.folder.file("password"), "--json")
            expectFailure(first, 77, "auth", "second_step_required")
            #expect(
                first.failure?["message"]?.string?.contains("rainctl login \(AccountScene.user) --code-stdin") == true)
            let second = try await maker.succeeds(["login", AccountScene.user, "--code", AccountScene.code, "--json"])
            #expect(second.document?["signed_in"] == true)
            #expect(second.standardError.contains("warning: --code on the command line"))
        }
    }

    @Test("a challenge that the cloud has ended is forgotten")
    func challengeEnded() async throws {
        try await AccountScene.run(["POST /v1/login2": [CannedCloud.challenge, CannedCloud.refusal(101_039)]]) {
            maker, _ in
            try await maker.succeeds(["login", AccountScene.user, "--one-time-code"])
            let late = try await maker.rainctl(["login", "--code-stdin", "--json"], input: .text(AccountScene.code))
            expectFailure(late, 77, "auth", "challenge_expired")
            #expect(SecretHunt.mode(of: maker.folder.file("state/rainkit/sign-in-sim.json")) == nil)
        }
    }

    @Test("a script may write the code into the pipe once it has come", arguments: [false, true])
    func lateCode(withPassword: Bool) async throws {
        var answers = CannedCloud.signIn
        answers["POST /v1/login2"] = [CannedCloud.challenge, CannedCloud.tokens]
        try await AccountScene.run(answers) { maker, cloud in
            let first = withPassword ? ["--password-file", maker.folder.file("password")] : ["--one-time-code"]
            let login = try await maker.start(
                ["login", AccountScene.user, "--code-stdin", "--json"] + first, input: .open)
            defer { login.kill() }
            let end = ContinuousClock.now + .waitLimit
            while cloud.calls.isEmpty, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(2)) }
            login.write(AccountScene.code + "\n")
            login.closeInput()
            #expect(try await login.wait() == .exited(0))
            #expect(cloud.bodies("POST /v1/login2").count == 2)
        }
    }

    @Test("a code that does not come ends with the time, and Ctrl-C does not wait for it")
    func noCode() async throws {
        try await AccountScene.run(["POST /v1/login2": [CannedCloud.challenge]]) { maker, cloud in
            let waiting = ["login", AccountScene.user, "--one-time-code", "--code-stdin", "--json"]
            let late = try await maker.start(waiting + ["--timeout", "10s"], input: .open)
            defer { late.kill() }
            #expect(try await late.wait() == .exited(16))
            let child = try await maker.start(waiting, input: .open)
            defer { child.kill() }
            let end = ContinuousClock.now + .waitLimit
            while cloud.calls.count < 2, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(2)) }
            #expect(try await child.terminate(SIGINT) == .exited(130))
        }
    }

    @Test("a forgotten password is reset by two commands")
    func passwordReset() async throws {
        try await AccountScene.run(["PUT /v1/forgotpassword2": [CannedCloud.done]]) { maker, cloud in
            let first = try await maker.succeeds(["account", "password", "reset", AccountScene.user, "--json"])
            #expect(first.document?["reset"] == false)
            let second = try await maker.succeeds(
                [
                    "account", "password", "reset", AccountScene.user, "--code-file", maker.folder.file("code"),
                    "--new-password-stdin", "--json",
                ], input: .text("New-Passw0rd-planted\n"))
            #expect(second.document?["reset"] == true)
            #expect(
                cloud.bodies("PUT /v1/forgotpassword2") == [
                    ["user_name": .string(AccountScene.user)],
                    [
                        "user_name": .string(AccountScene.user), "password": "New-Passw0rd-planted",
                        "verification_code": .string(AccountScene.code),
                    ],
                ])
        }
    }

    @Test("a changed password signs out here")
    func passwordChange() async throws {
        try await AccountScene.run(["PUT /v1/password2": [CannedCloud.done]], signedIn: true) { maker, _ in
            let file = maker.folder.file
            let outcome = try await maker.succeeds([
                "account", "password", "change", "--password-file", file("password"), "--new-password-file",
                file("new-password"), "--json",
            ])
            #expect(outcome.document?["user_name"] == .string(AccountScene.user))
            #expect(SecretHunt.mode(of: file(Maker.sessionFile)) == nil)
        }
    }

    @Test("an account is deleted by two commands, a guest's by one")
    func deletion() async throws {
        let calls = [
            "DELETE /v1/user2?request=true&locale=en": [CannedCloud.done],
            "DELETE /v1/user2?request=true": [CannedCloud.done],
            "DELETE /v1/user2?verification_code=\(AccountScene.code)": [CannedCloud.done],
        ]
        try await AccountScene.run(calls, signedIn: true) { maker, _ in
            let session = maker.folder.file(Maker.sessionFile)
            let first = try await maker.succeeds(["account", "delete", "--yes", "--locale", "en", "--json"])
            #expect(first.document?["deleted"] == false)
            #expect(first.document?["next"] == "rainctl account delete --code-stdin")
            #expect(SecretHunt.mode(of: session) == 0o600)
            let second = try await maker.succeeds(
                ["account", "delete", "--code-stdin", "--json"], input: .text(AccountScene.code))
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
        try await AccountScene.run(calls) { maker, cloud in
            try await maker.succeeds(["login", "--guest"])
            let first = try await maker.succeeds(["account", "convert", AccountScene.user, "--json"])
            #expect(first.document?["converted"] == false)
            let second = try await maker.succeeds(
                [
                    "account", "convert", AccountScene.user, "--code-stdin", "--password-file",
                    maker.folder.file("password"),
                    "--json",
                ], input: .text(AccountScene.code))
            #expect(second.document?["converted"] == true)
            #expect(second.document?["user_id"] == "user-1")
            #expect(
                cloud.bodies("POST /v1/user/guest/conversion/verify").first??["verification_code"]
                    == .string(AccountScene.code)
            )
        }
    }
}
