// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

/// What a person at a terminal is asked, and that no secret shows there.
@Suite("rainctl account: at a terminal")
struct AccountPromptTests {
    private static let password = "Typed-Passw0rd-planted"
    private static let code = "246813"

    private func ends(_ person: Person, _ status: Int32 = 0) async throws {
        let ended = try await person.wait()
        #expect(ended == .exited(Int(status)), "\(person.transcript)")
        for secret in [Self.password, Self.code, "planted-session", "planted-refresh"] {
            #expect(!person.transcript.contains(secret), "a secret was shown: \(person.transcript)")
            #expect(!person.process.standardOutput.contains(secret))
        }
    }

    @Test("signing in asks for user and password; the user name is seen, the password is not")
    func login() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try CannedCloud(CannedCloud.signIn)
            let maker = try await cloud.maker(in: folder)
            let person = try await maker.atTerminal(["login"])
            try await person.answers("E-mail address or telephone number: ", "maker@example.com")
            try await person.answers("Password: ", Self.password)
            try await ends(person)
            #expect(person.transcript.contains("maker@example.com"), "what is typed is echoed but for secrets")
            #expect(
                cloud.bodies("POST /v1/login2") == [
                    ["user_name": "maker@example.com", "password": .string(Self.password)]
                ])
        }
    }

    @Test("a password that the cloud refuses is asked for again, three times in all", arguments: [2, 3])
    func wrongPassword(attempts: Int) async throws {
        try await withTemporaryFolder { folder in
            var answers = CannedCloud.signIn
            let right = answers["POST /v1/login2"] ?? []
            let wrong = [(status: Int, body: String)](repeating: CannedCloud.refusal(101_009), count: attempts - 1)
            answers["POST /v1/login2"] = wrong + (attempts == 3 ? [CannedCloud.refusal(101_009)] : right)
            let cloud = try CannedCloud(answers)
            let maker = try await cloud.maker(in: folder)
            let person = try await maker.atTerminal(["login", "maker@example.com"])
            try await person.answers("Password: ", "planted-but-wrong")
            for _ in 1..<attempts {
                try await person.hears("password is wrong")
                try await person.answers("Password: ", Self.password)
            }
            try await ends(person, attempts == 3 ? 77 : 0)
            #expect(!person.transcript.contains("planted"), "\(person.transcript)")
            let isRefused = attempts == 3
            #expect(
                person.transcript.contains("rainctl account password reset maker@example.com") == isRefused,
                "\(person.transcript)")
            #expect(person.transcript.contains("Next: plug in a board, and run: rainctl provision") == !isRefused)
            #expect(cloud.bodies("POST /v1/login2").count == attempts)
        }
    }

    @Test("a password that no account can have is refused before it is typed again, and nothing is sent")
    func weakPassword() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try CannedCloud(["POST /v1/user2": [CannedCloud.created]])
            let maker = try await cloud.maker(in: folder)
            let person = try await maker.atTerminal(["account", "signup", "new@example.com"])
            try await person.answers("Password: ", "weak")
            try await person.hears("A password needs 8 to 256 characters")
            try await person.answers("Password: ", Self.password)
            try await person.answers("Type it again: ", Self.password)
            try await person.answers("Code that was sent to new@example.com: ", Self.code)
            try await ends(person)
            #expect(person.transcript.ranges(of: "Type it again: ").count == 1)
            #expect(cloud.bodies("POST /v1/user2").count == 2)
        }
    }

    @Test("a second step is asked for, and a mistyped code once more")
    func secondStep() async throws {
        try await withTemporaryFolder { folder in
            var answers = CannedCloud.signIn
            answers["POST /v1/login2"] = [CannedCloud.challenge, CannedCloud.refusal(101_012), CannedCloud.tokens]
            let cloud = try CannedCloud(answers)
            let maker = try await cloud.maker(in: folder)
            let person = try await maker.atTerminal(["login", "maker@example.com"])
            try await person.answers("Password: ", Self.password)
            try await person.answers("Code that was sent to maker@example.com: ", "12345")
            try await person.hears("six digits")
            try await person.answers("Code that was sent to maker@example.com: ", "111111")
            try await person.hears("the latest one")
            try await person.answers("Code that was sent to maker@example.com: ", Self.code)
            try await ends(person)
            #expect(person.process.standardOutput.hasPrefix("Signed in as maker@example.com"))
            #expect(cloud.bodies("POST /v1/login2").count == 3, "text that is not a code was not sent")
            #expect(
                cloud.bodies("POST /v1/login2").last == [
                    "user_name": "maker@example.com", "verification_code": .string(Self.code),
                    "session": "planted-session",
                ])
            #expect(SecretHunt.mode(of: folder.file("state/rainkit/sign-in-sim.json")) == nil)
        }
    }

    @Test("signing up asks twice for the password, then for the code")
    func signUp() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try CannedCloud(["POST /v1/user2": [CannedCloud.created]])
            let maker = try await cloud.maker(in: folder)
            let person = try await maker.atTerminal(["account", "signup", "new@example.com", "--tag", "team:lab"])
            try await person.answers("Password: ", Self.password)
            try await person.answers("Type it again: ", Self.password)
            try await person.answers("Code that was sent to new@example.com: ", Self.code)
            try await ends(person)
            #expect(
                cloud.bodies("POST /v1/user2") == [
                    ["user_name": "new@example.com", "password": .string(Self.password)],
                    ["user_name": "new@example.com", "verification_code": .string(Self.code), "tags": ["team:lab"]],
                ])
        }
    }

    @Test("a wrong code is asked for again, three times in all", arguments: [2, 3])
    func wrongCode(attempts: Int) async throws {
        try await withTemporaryFolder { folder in
            let wrong = [(status: Int, body: String)](repeating: CannedCloud.refusal(101_012), count: attempts - 1)
            let last = attempts == 3 ? CannedCloud.refusal(101_012) : CannedCloud.created
            let cloud = try CannedCloud(["POST /v1/user2": wrong + [last]])
            let maker = try await cloud.maker(in: folder)
            let person = try await maker.atTerminal(["account", "confirm", "new@example.com"])
            try await person.answers("Code that was sent to new@example.com: ", "000000")
            for _ in 1..<attempts {
                try await person.answers("Code again (Enter to stop): ", Self.code)
            }
            try await ends(person, attempts == 3 ? 77 : 0)
            #expect(cloud.bodies("POST /v1/user2").count == attempts)
            for next in ["confirm", "resend"] {
                #expect(
                    person.transcript.contains("rainctl account \(next) new@example.com") == (attempts == 3),
                    "\(person.transcript)")
            }
        }
    }

    @Test("a name that no user can have is asked for again before the password, three times in all", arguments: [2, 3])
    func userName(attempts: Int) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try CannedCloud(CannedCloud.signIn)
            let maker = try await cloud.maker(in: folder)
            let person = try await maker.atTerminal(["login"])
            for attempt in 1...attempts {
                try await person.answers(
                    "E-mail address or telephone number: ",
                    attempt == 2 && attempts == 2 ? "maker@example.com" : "notmail")
                if attempt == 1 { try await person.hears("A user name must be an e-mail address") }
            }
            if attempts == 2 { try await person.answers("Password: ", Self.password) }
            try await ends(person, attempts == 2 ? 0 : 64)
            #expect(person.transcript.ranges(of: "Password: ").count == (attempts == 2 ? 1 : 0))
            #expect(cloud.bodies("POST /v1/login2").count == (attempts == 2 ? 1 : 0))
        }
    }

    @Test("a name that was given and can be nobody's is refused before a password is asked for")
    func givenUserName() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try CannedCloud([:])
            let maker = try await cloud.maker(in: folder)
            let person = try await maker.atTerminal(["login", "notmail"])
            try await person.hears("A user name must be an e-mail address")
            try await ends(person, 64)
            #expect(!person.transcript.contains("Password: "), "\(person.transcript)")
            #expect(cloud.calls.isEmpty)
        }
    }

    @Test("two passwords that differ are asked for again, and not sent")
    func passwordsDiffer() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try CannedCloud([:])
            let maker = try await cloud.maker(in: folder)
            let person = try await maker.atTerminal(["account", "signup", "new@example.com", "--json"])
            for attempt in 1...3 {
                try await person.answers("Password: ", Self.password)
                try await person.answers("Type it again: ", Self.password + "x")
                // The last time it is the error, and with --json that is a document.
                if attempt < 3 { try await person.hears("The two entries differ.") }
            }
            try await ends(person, 64)
            #expect(person.process.standardOutput.contains("\"reason\": \"not_the_same\""))
            #expect(cloud.calls.isEmpty)
        }
    }

    @Test("a new telephone number is confirmed at once")
    func telephone() async throws {
        try await withTemporaryFolder { folder in
            var answers = CannedCloud.signIn
            answers["PUT /v1/user2"] = [CannedCloud.done]
            let cloud = try CannedCloud(answers)
            let maker = try await cloud.maker(in: folder, signedIn: true)
            let person = try await maker.atTerminal(["account", "update", "--phone", "+15550100"])
            try await person.answers("Code that was sent to +15550100: ", Self.code)
            try await ends(person)
            #expect(
                cloud.bodies("PUT /v1/user2") == [
                    ["phone_number": "+15550100"], ["verification_code": .string(Self.code)],
                ])
        }
    }

    @Test("deleting asks whether it is meant", arguments: [("no", Int32(130)), ("", 130), ("yes", 0)])
    func delete(answer: String, status: Int32) async throws {
        try await withTemporaryFolder { folder in
            var answers = CannedCloud.signIn
            answers["DELETE /v1/user2?request=true"] = [CannedCloud.done]
            answers["DELETE /v1/user2?verification_code=\(Self.code)"] = [CannedCloud.done]
            let cloud = try CannedCloud(answers)
            let maker = try await cloud.maker(in: folder, signedIn: true)
            let person = try await maker.atTerminal(["account", "delete"])
            try await person.answers("Type yes: ", answer)
            if status == 0 { try await person.answers("Code that was sent to maker@example.com: ", Self.code) }
            try await ends(person, status)
            #expect(cloud.calls.contains { $0.hasPrefix("DELETE") } == (status == 0))
            #expect((SecretHunt.mode(of: folder.file(Maker.sessionFile)) != nil) == (status != 0))
        }
    }

    @Test("Ctrl-C at a prompt ends the command at once, and the terminal echoes again")
    func interrupt() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try CannedCloud([:])
            let maker = try await cloud.maker(in: folder)
            let person = try await maker.atTerminal(["login", "maker@example.com"])
            try await person.hears("Password: ")
            #expect(person.terminal.settings.c_lflag & tcflag_t(ECHO) == 0)
            await person.types("half a pass\u{3}")
            try await ends(person, 130)
            #expect(person.terminal.settings.c_lflag & tcflag_t(ECHO) != 0)
            #expect(cloud.calls.isEmpty)
        }
    }

    @Test("the end of input at a prompt cancels")
    func endOfInput() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try CannedCloud([:])
            let maker = try await cloud.maker(in: folder)
            let person = try await maker.atTerminal(["login"])
            try await person.hears("E-mail address or telephone number: ")
            await person.types("\u{4}")
            try await ends(person, 130)
        }
    }

    @Test("with --no-input even a terminal is not asked")
    func noInput() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try CannedCloud(["POST /v1/login2": [CannedCloud.challenge]])
            let maker = try await cloud.maker(in: folder)
            for (arguments, status, words) in [
                (["login", "maker@example.com"], Int32(64), "--password-file"),
                (["account", "signup", "new@example.com"], 64, "--password-file"),
                (["account", "confirm", "new@example.com"], 64, "--code-stdin"),
                (["login"], 64, "login USER"),
            ] {
                let person = try await maker.atTerminal(arguments + ["--no-input"])
                try await person.hears(words)
                try await ends(person, status)
            }
        }
    }
}
