// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// The whole life of an account, each step in a separate process, against the simulated cloud: its mailbox has the codes.
@Suite("rainctl account: a life")
struct AccountLifeTests {
    private struct Life {
        let maker: Maker
        let cloud: SimulatedCloud
        let mailbox: ReceivedCodes

        func file(_ name: String) -> String { maker.folder.file(name) }

        /// Runs a command with `--json`; a code for it comes from the mailbox by standard input.
        func does(
            _ words: String..., code: (kind: String, to: String)? = nil, ends status: Int = 0,
            sourceLocation: SourceLocation = #_sourceLocation
        ) async throws -> Maker.Outcome {
            let input: ChildProcess.Input =
                try code.map { .text(try mailbox.code($0.kind, to: $0.to) + "\n") } ?? .empty
            let outcome = try await maker.rainctl(
                words + (code == nil ? [] : ["--code-stdin"]) + ["--json"], input: input)
            #expect(outcome.status == status, "\(words): \(outcome.standardOutput)", sourceLocation: sourceLocation)
            return outcome
        }

        func refused(
            _ words: String..., code: (kind: String, to: String)? = nil, ends status: Int, as reason: String,
            sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            let input: ChildProcess.Input =
                try code.map { .text(try mailbox.code($0.kind, to: $0.to) + "\n") } ?? .empty
            let outcome = try await maker.rainctl(
                words + (code == nil ? [] : ["--code-stdin"]) + ["--json"], input: input)
            #expect(outcome.status == status, "\(words): \(outcome.standardOutput)", sourceLocation: sourceLocation)
            #expect(outcome.failure?["reason"]?.string == reason, "\(words)", sourceLocation: sourceLocation)
        }

        /// What the cloud has noted about an account, in order.
        func noted(_ user: String) throws -> [String] {
            try cloud.journal.entries(where: ["event": "account", "user": .string(user)]).compactMap {
                $0["what"]?.string
            }
        }
    }

    private func live(_ arguments: [String] = [], _ body: (Life) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let mailbox = ReceivedCodes(path: folder.file("mailbox"))
            let cloud = try await SimulatedCloud.start(arguments: ["--mailbox", mailbox.path] + arguments, in: folder)
            let maker = try Maker(folder)
            try await maker.use(cloud)
            for (name, text) in [
                ("first", "F1rst-planted-word"), ("second", "S3cond-planted-word"), ("third", "Th1rd-planted-word"),
            ] { try folder.write(text + "\n", to: name) }
            try await body(Life(maker: maker, cloud: cloud, mailbox: mailbox))
        }
    }

    @Test("from sign-up to deletion")
    func life() async throws {
        try await live { life in
            let user = "ada@example.com"
            // Sign up.
            let signUp = try await life.does("account", "signup", user, "--password-file", life.file("first"))
            #expect(signUp.document?["confirmed"] == false)
            try await life.refused(
                "login", user, "--password-file", life.file("first"), ends: 77, as: "unverified_user")
            try await life.refused("account", "confirm", user, "--code", "000000", ends: 77, as: "wrong_code")
            _ = try await life.does("account", "resend", user, "--password-file", life.file("first"))
            let confirmed = try await life.does("account", "confirm", user, "--tag", "team:lab", code: ("signup", user))
            #expect(confirmed.document?["confirmed"] == true)
            try await life.refused("account", "confirm", user, code: ("signup", user), ends: 1, as: "already_verified")
            try await life.refused(
                "account", "signup", user, "--password-file", life.file("first"), ends: 1, as: "account_exists")

            // Sign in, and change what the cloud knows.
            _ = try await life.does("login", user, "--password-file", life.file("first"))
            _ = try await life.does(
                "account", "update", "--name", "Ada", "--add-tag", "room:hall", "--remove-tag", "team:lab", "--locale",
                "en-us", "--phone", "+15550100")
            _ = try await life.does("account", "update", "--confirm-phone", code: ("phone", "+15550100"))
            try await life.refused("account", "update", "--second-step", "on", ends: 1, as: "forbidden")
            let profile = try #require(try await life.does("whoami").document)
            #expect(profile["name"] == "Ada")
            #expect(profile["tags"] == ["room:hall"])
            #expect(profile["locale"] == "en-us")
            #expect(profile["phone_number"] == "+15550100")
            let userID = profile["user_id"]

            // Custom data.
            _ = try await life.does("account", "data", "set", "theme", #"{"dark":true}"#)
            _ = try await life.does("account", "data", "set", "greeting", "--text", "hello")
            _ = try await life.does("account", "data", "remove", "greeting")
            #expect(try await life.does("account", "data", "get").document?["data"] == ["theme": ["dark": true]])

            // Another password; every session ends.
            try await life.refused(
                "account", "password", "change", "--password-file", life.file("second"), "--new-password-file",
                life.file("third"), ends: 77, as: "invalid_credentials")
            _ = try await life.does(
                "account", "password", "change", "--password-file", life.file("first"), "--new-password-file",
                life.file("second"))
            try await life.refused("whoami", ends: 77, as: "not_signed_in")
            try await life.refused(
                "login", user, "--password-file", life.file("first"), ends: 77, as: "invalid_credentials")
            _ = try await life.does("login", user, "--password-file", life.file("second"))

            // A forgotten password; sessions go on.
            _ = try await life.does("account", "password", "reset", user)
            _ = try await life.does(
                "account", "password", "reset", user, "--new-password-file", life.file("third"),
                code: ("password_reset", user))
            #expect(try await life.does("whoami").document?["user_id"] == userID)
            try await life.refused(
                "login", user, "--password-file", life.file("second"), ends: 77, as: "invalid_credentials")
            _ = try await life.does("login", user, "--password-file", life.file("third"))

            // The end.
            try await life.refused("account", "delete", "--code", "000000", ends: 77, as: "code_expired")
            _ = try await life.does("account", "delete", "--yes")
            let deleted = try await life.does("account", "delete", code: ("delete", user))
            #expect(deleted.document?["deleted"] == true)
            try await life.refused("whoami", ends: 77, as: "not_signed_in")
            try await life.refused(
                "login", user, "--password-file", life.file("third"), ends: 77, as: "invalid_credentials")
            #expect(
                try life.noted(user).filter { $0 != "code_sent" && $0 != "updated" } == [
                    "signed_up", "signed_up", "confirmed", "password_changed", "password_reset", "deleted",
                ])
        }
    }

    @Test("a one-time code signs in, and its session is good for one sign-in")
    func oneTimeCode() async throws {
        try await live { life in
            let user = SimulatedCloud.user
            let sent = try await life.does("login", user, "--one-time-code")
            #expect(sent.document?["signed_in"] == false)
            try await life.refused("whoami", ends: 77, as: "not_signed_in")
            try await life.refused("login", "--code", "000000", ends: 77, as: "wrong_code")
            let signedIn = try await life.does("login", code: ("login", user))
            #expect(signedIn.document?["signed_in"] == true)
            #expect(try await life.does("whoami").document?["user_name"] == .string(user))
            try await life.refused("login", code: ("login", user), ends: 77, as: "no_pending_sign_in")
        }
    }

    @Test("a super-administrator's second step is switched on, asked for, and off again")
    func secondStep() async throws {
        try await live(["--super-admin", SimulatedCloud.user]) { life in
            let user = SimulatedCloud.user
            let password = life.file("password")
            _ = try await life.does("login", user, "--password-file", password)
            _ = try await life.does("account", "update", "--phone", "+15550100")
            _ = try await life.does("account", "update", "--confirm-phone", code: ("phone", "+15550100"))
            _ = try await life.does("account", "update", "--second-step", "on")
            #expect(try await life.does("whoami").document?["second_step"] == true)
            _ = try await life.does("logout")
            try await life.refused("login", user, "--password-file", password, ends: 77, as: "second_step_required")
            _ = try await life.does("login", user, code: ("mfa", "+15550100"))
            _ = try await life.does("account", "update", "--second-step", "off")
            _ = try await life.does("login", user, "--password-file", password)
            try await life.refused("account", "delete", "--yes", ends: 1, as: "forbidden")
        }
    }

    @Test("a guest becomes an account and keeps its id; another guest is deleted at once")
    func guest() async throws {
        try await live { life in
            let first = try await life.does("login", "--guest")
            let id = try #require(first.document?["user_id"]?.string)
            #expect(try await life.does("whoami").document?["guest"] == true)
            try await life.refused(
                "account", "password", "change", "--password-file", life.file("first"), "--new-password-file",
                life.file("second"), ends: 1, as: "not_for_guests")
            try await life.refused("account", "convert", "+15550100", ends: 64, as: "invalid_user_name")
            _ = try await life.does("account", "convert", "grown@example.com")
            let converted = try await life.does(
                "account", "convert", "grown@example.com", "--password-file", life.file("first"),
                code: ("guest_conversion", "grown@example.com"))
            #expect(converted.document?["user_id"]?.string == id)
            #expect(try await life.does("account", "status").document?["user_name"] == "grown@example.com")
            _ = try await life.does("login", "grown@example.com", "--password-file", life.file("first"))

            let second = try await life.does("login", "--guest")
            let name = try #require(second.document?["user_name"]?.string)
            let deleted = try await life.does("account", "delete", "--yes")
            #expect(deleted.document?["deleted"] == true)
            #expect(try life.noted(name) == ["guest", "deleted"])
            // The other account of this machine is in use again.
            #expect(try await life.does("whoami").document?["user_name"] == "grown@example.com")
        }
    }

    @Test("signing out everywhere ends the session of another machine")
    func everywhere() async throws {
        try await live { life in
            let login = ["login", SimulatedCloud.user, "--password-file", life.file("password")]
            try await withTemporaryFolder { elsewhere in
                let other = try Maker(elsewhere)
                try await other.use(life.cloud)
                try await other.succeeds(login)
                _ = try await life.maker.succeeds(login)
                _ = try await life.does("logout")
                try await other.succeeds(["whoami"])
                _ = try await life.maker.succeeds(login)
                _ = try await life.does("logout", "--everywhere")
                let ended = try await other.rainctl("whoami", "--json")
                #expect(ended.status == 77)
                #expect(ended.failure?["reason"] == "expired")
            }
        }
    }

    @Test("the cloud says which versions it speaks")
    func versions() async throws {
        try await live { life in
            let document = try await life.does("account", "versions").document
            #expect(document?["versions"]?.array?.first?["version"] == "v1")
            #expect(document?["versions"]?.array?.first?["used"] == true)
        }
    }
}
