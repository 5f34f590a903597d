// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

/// Several accounts and deployments side by side, and where their sessions are kept.
@Suite("rainctl: several accounts")
struct AccountsTests {
    private static let second = "second@example.com"

    /// Two users of one cloud, which has two names.
    private func withCloud(_ body: (Maker, SimulatedCloud) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let cloud = try await SimulatedCloud.start(
                arguments: ["--user", "\(Self.second):\(SimulatedCloud.password)"], in: folder)
            try await maker.use(cloud)
            try await body(maker, cloud)
        }
    }

    private func logIn(_ maker: Maker, _ user: String, _ more: String...) async throws -> Maker.Outcome {
        try await maker.rainctl(["login", user, "--password-file", maker.folder.file("password")] + more)
    }

    private func whoami(_ maker: Maker, _ more: String...) async throws -> JSONValue? {
        try await maker.rainctl(["whoami", "--json"] + more).document?["user_name"]
    }

    @Test("a sign-in says which account commands use now, and does not take the place of an account that was chosen")
    func chosen() async throws {
        try await withCloud { maker, _ in
            let first = SimulatedCloud.user
            let alone = try await logIn(maker, first)
            #expect(!alone.standardError.contains("Commands"), "\(alone.standardError)")
            let second = try await logIn(maker, Self.second)
            #expect(
                second.standardError.contains("instead of \(first). To go back: rainctl account use \(first)"),
                "\(second.standardError)")
            #expect(try await maker.rainctl("account", "use", first).status == 0)
            let again = try await logIn(maker, Self.second, "--json")
            #expect(again.status == 0 && again.document?["account"] == .string(Self.second))
            #expect(
                again.standardError.contains("still use the account \(first)")
                    && again.standardError.contains("rainctl account use \(Self.second)"), "\(again.standardError)")
            #expect(try await whoami(maker) == .string(first))
        }
    }

    @Test("the last to sign in is in use, others are named or chosen, and each signs out alone")
    func sideBySide() async throws {
        try await withCloud { maker, _ in
            let first = SimulatedCloud.user
            #expect(try await logIn(maker, first).status == 0)
            let outcome = try await logIn(maker, Self.second, "--json")
            #expect(outcome.document?["account"] == .string(Self.second))
            #expect(outcome.document?["store"] == "file")
            #expect(outcome.standardError.contains("note: "), "it says why the Secret Service is not used")
            #expect(try await whoami(maker) == .string(Self.second))
            #expect(try await whoami(maker, "--account", first) == .string(first))
            #expect(try await maker.rainctl("account", "use", first).status == 0)
            #expect(try await whoami(maker) == .string(first))
            let list = try await maker.rainctl("account", "list", "--json").document?["accounts"]?.array
            #expect(list?.map { $0["account"] } == [.string(first), .string(Self.second)])
            #expect(list?.map { $0["current"] } == [true, false])

            let logout = try await maker.rainctl("logout")
            #expect(logout.status == 0)
            #expect(
                logout.standardError.contains("Commands now use the account \(Self.second)."),
                "\(logout.standardError)")
            #expect(try await whoami(maker) == .string(Self.second))
            #expect(access(maker.folder.file(Maker.sessionFile), F_OK) != 0)
            let gone = try await maker.rainctl("whoami", "--json", "--account", first)
            #expect(gone.status == 77)
            #expect(gone.failure?["reason"] == "not_signed_in")
            #expect(try await maker.rainctl("account", "use", first).status == 77)

            #expect(try await logIn(maker, first).status == 0)
            let document = try await maker.rainctl("logout", "--json").document
            #expect(document?["account_in_use"] == .string(Self.second))
            let last = try await maker.rainctl("logout")
            #expect(last.status == 0 && !last.standardError.contains("Commands"), "\(last.standardError)")
        }
    }

    @Test("an account has the name that it was given, and the same user at two deployments has two sessions")
    func names() async throws {
        try await withCloud { maker, cloud in
            #expect(try await logIn(maker, SimulatedCloud.user, "--account", "work").status == 0)
            #expect(try await maker.rainctl("profile", "add", "other", "--base-url", cloud.api).status == 0)
            #expect(try await maker.rainctl("whoami", "--profile", "other", "--json").status == 77)
            #expect(try await logIn(maker, Self.second, "--profile", "other").status == 0)
            #expect(try await whoami(maker) == .string(SimulatedCloud.user))
            #expect(try await whoami(maker, "--account", "work") == .string(SimulatedCloud.user))
            #expect(try await whoami(maker, "--profile", "other") == .string(Self.second))
            let list = try await maker.rainctl("account", "list", "--all", "--json").document?["accounts"]?.array
            #expect(list?.map { $0["profile"] } == ["sim", "other"])
            #expect(list?.map { $0["account"] } == ["work", .string(Self.second)])
            // The user name leads to the account that was named otherwise.
            #expect(try await logIn(maker, SimulatedCloud.user).status == 0)
            #expect(try await maker.rainctl("account", "list", "--json").document?["accounts"]?.array?.count == 1)
        }
    }

    @Test("the flag goes before the environment, and the environment before what is in use")
    func precedence() async throws {
        try await withCloud { maker, _ in
            for user in [SimulatedCloud.user, Self.second] {
                let outcome = try await logIn(maker, user)
                #expect(outcome.status == 0)
            }
            let environment = ["RAINKIT_ACCOUNT": SimulatedCloud.user]
            let byVariable = try await maker.rainctl(["whoami", "--json"], environment: environment)
            #expect(byVariable.document?["user_name"] == .string(SimulatedCloud.user))
            let byFlag = try await maker.rainctl(
                ["whoami", "--json", "--account", Self.second], environment: environment)
            #expect(byFlag.document?["user_name"] == .string(Self.second))
        }
    }

    @Test(
        "a name from the environment or a project's file does not name the session of a given user",
        arguments: [false, true])
    func givenUser(inFile: Bool) async throws {
        try await withCloud { maker, _ in
            if inFile { try maker.folder.write(#"{"account": "\#(Self.second)"}"#, to: ".rainkit.json") }
            let arguments = ["login", SimulatedCloud.user, "--password-file", maker.folder.file("password"), "--json"]
            let login = try await run(
                Executables.path("rainctl"), arguments,
                environment: maker.environment.merging(inFile ? [:] : ["RAINKIT_ACCOUNT": Self.second]) { $1 },
                directory: maker.folder.path)
            #expect(login.status == .exited(0), "\(login.standardError)")
            let list = try await maker.rainctl("account", "list", "--json").document?["accounts"]?.array
            #expect(list?.map { $0["account"] } == [.string(SimulatedCloud.user)])
        }
    }

    @Test("where no user is given, the account that is named says who signs in")
    func namedUser() async throws {
        try await withCloud { maker, _ in
            let login = ["login", "--password-file", maker.folder.file("password"), "--json"]
            let first = try await maker.rainctl(login, environment: ["RAINKIT_ACCOUNT": Self.second])
            #expect(first.document?["account"] == .string(Self.second), "\(first.standardOutput)")
            #expect(first.document?["user_name"] == .string(Self.second))
            // A name that is not a user name works only for the user who signed in with it before.
            let unknown = try await maker.rainctl(login, environment: ["RAINKIT_ACCOUNT": "work"])
            #expect(unknown.failure?["reason"] == "missing_user")
            #expect(try await logIn(maker, SimulatedCloud.user, "--account", "work").status == 0)
            let again = try await maker.rainctl(login, environment: ["RAINKIT_ACCOUNT": "work"])
            #expect(again.document?["account"] == "work", "\(again.standardOutput)")
            #expect(again.document?["user_name"] == .string(SimulatedCloud.user))
        }
    }

    @Test(
        "without a session, the message shows the command with the known name",
        arguments: [
            ("zz@example.com", "login zz@example.com\n"), ("+15550100", "login +15550100\n"),
            ("my lamp", "login USER --account 'my lamp'\n"),
        ])
    func nextCommand(account: String, command: String) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            for words in [["whoami"], ["account", "use", account]] {
                let outcome = try await maker.rainctl(words + (words == ["whoami"] ? ["--account", account] : []))
                #expect(outcome.status == 77)
                #expect(outcome.standardError.contains("Run: rainctl \(command)"), "\(outcome.standardError)")
            }
        }
    }

    @Test("with --no-save the sign-in is tried and nothing is kept")
    func noSave() async throws {
        try await withCloud { maker, cloud in
            let outcome = try await logIn(maker, SimulatedCloud.user, "--no-save", "--json")
            #expect(outcome.status == 0)
            #expect(outcome.document?["store"] == "memory")
            #expect(access(maker.folder.file("state"), F_OK) != 0)
            #expect(try await maker.rainctl("whoami").status == 77)
            #expect(try cloud.journal.entries(where: ["path": "/v1/login2", "status": 200]).count == 1)
            #expect(try await logIn(maker, SimulatedCloud.user, "--no-save", "--store", "file").status == 64)

            // Beside a session that is kept.
            #expect(try await logIn(maker, SimulatedCloud.user, "--store", "file").status == 0)
            let list = try await maker.rainctl("account", "list", "--json").standardOutput
            for options in [["--no-save"], ["--store", "memory"]] {
                let again = try await maker.rainctl(
                    ["login", SimulatedCloud.user, "--password-file", maker.folder.file("password")] + options)
                #expect(again.status == 0)
                #expect(try await whoami(maker) == .string(SimulatedCloud.user))
                #expect(try await maker.rainctl("account", "list", "--json").standardOutput == list)
            }
        }
    }

    @Test("a store that cannot work is noticed before anything is asked or sent")
    func probedFirst() async throws {
        try await withCloud { maker, cloud in
            // No password is given: it would be asked for, or missed, later.
            let outcome = try await maker.rainctl(
                "login", SimulatedCloud.user, "--store", "secret-service", "--no-input", "--json")
            #expect(outcome.status == 69)
            #expect(outcome.failure?["reason"] == "store_absent")
            #expect(outcome.failure?["message"]?.string?.contains("--store file") == true)
            #expect(try cloud.journal.entries(where: ["path": "/v1/login2"]).isEmpty)
            let wrong = try await maker.rainctl(
                ["login", SimulatedCloud.user, "--no-input"], environment: ["RAINKIT_STORE": "cloud"])
            #expect(wrong.status == 78)
        }
    }
}
