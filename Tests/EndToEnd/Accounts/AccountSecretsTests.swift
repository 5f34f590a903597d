// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

/// Passwords, codes and the sessions of half-finished sign-ins stay where they belong while an account lives its life.
@Suite("Secrets of an account")
struct AccountSecretsTests {
    @Test("a code is found where it stands alone, and not inside a longer number")
    func theHuntFinds() {
        var hunt = SecretHunt()
        hunt.addCode("a code", "246813")
        for text in ["246813", "code=246813&x", "{\"c\":246813}", "MjQ2ODEz", "323436383133"] {
            #expect(!hunt.findings(in: text, of: "here").isEmpty, "\(text)")
        }
        for text in ["1246813", "2468135", "a246813b", "24681", "246 813"] {
            #expect(hunt.findings(in: text, of: "here").isEmpty, "\(text)")
        }
    }

    @Test("no password, code or token leaves its file at the highest log level, in whatever form")
    func nothingLeaks() async throws {
        try await withTemporaryFolder { folder in
            let watched = try WatchedMaker(folder)
            let mailbox = ReceivedCodes(path: folder.file("mailbox"))
            watched.mailbox = mailbox
            let cloud = try await SimulatedCloud.start(
                arguments: ["--mailbox", mailbox.path, "--super-admin", SimulatedCloud.user], in: folder)
            try await watched.maker.use(cloud)
            for (name, text) in [("first", "F1rst-planted-word"), ("second", "S3cond-planted-word")] {
                watched.add("the \(name) password", text)
                try folder.write(text + "\n", to: name)
            }
            for (index, form) in [WatchedMaker.Form.jsonInFile, .textOnStandardError].enumerated() {
                try await life(watched, mailbox, "ada\(index)@example.com", form, json: index == 0)
                try await halfway(watched, mailbox, form, json: index == 0)
                try await guest(watched, mailbox, "guest\(index)@example.com", form, json: index == 0)
            }
            watched.note(cloud.process)

            #expect(mailbox.codes.count >= 12)
            #expect(watched.challenges.count >= 2)
            #expect(watched.tokens.count >= 6)
            #expect(watched.argumentSamples > 20)
            // The hunt knows the codes: the mailbox is full of them.
            #expect(try watched.hunt.findings(below: folder.path) { $0 != "mailbox" }.count >= 10)
            #expect(watched.findings == [])
            #expect(watched.wideOpen == [])
            let inputs: Set = ["password", "wrong", "pop", "wifi", "first", "second", "code", "mailbox"]
            #expect(try watched.hunt.findings(below: folder.path, but: inputs.contains) == [])
        }
    }

    @Test("what scripts ask for is on standard output, and nowhere else; a crash tells nothing either")
    func scripts() async throws {
        try await withTemporaryFolder { folder in
            let watched = try WatchedMaker(folder)
            let cloud = try await SimulatedCloud.start(arguments: ["--access-ttl", "600"], in: folder)
            try await watched.maker.use(cloud)
            let user = SimulatedCloud.user
            #expect(try await watched.run(["login", user, "--password-file", folder.file("password")]) == 0)
            for form in [WatchedMaker.Form.jsonInFile, .textOnStandardError] {
                for command in [["account", "token"], ["account", "header"]] {
                    #expect(try await watched.run(command, form, outputIsSecret: true) == 0)
                }
                // curl gets the token neither in its arguments nor in its environment.
                let me = cloud.api + "/v1/user2"
                #expect(try await watched.run(["account", "curl", "--", "-sS", me], form) == 0)
                #expect(try await watched.run(["account", "curl", "--", "-sS", "--fail", me + "/no"], form) != 0)
                #expect(try await watched.run(["account", "refresh"], form) == 0)
                #expect(try await watched.run(["account", "status", "--json"], form) == 0)
                try await cloud.control("expire", ["user": .string(user)])
                #expect(try await watched.run(["account", "token"], form, outputIsSecret: true) == 0)
            }
            // In the middle of a call, with password and tokens in memory.
            for command in [["whoami"], ["login", user, "--password-file", folder.file("password")]] {
                try await cloud.control(
                    "faults",
                    ["rules": [["path": "/v1/*", "action": "hang", "count": 1]]])
                let before = try cloud.journal.entries().count
                // Without Swift's backtracer, as in an installation: it is only in the toolchain. A signal that was sent, and not raised by a
                // fault, can keep it waiting.
                let ended = try await watched.end(
                    of: command, .textOnStandardError, environment: ["SWIFT_BACKTRACE": "enable=no"]
                ) { child in
                    while try cloud.journal.entries().count == before { try await Task.sleep(for: .milliseconds(5)) }
                    child.signal(SIGSEGV)
                }
                #expect(ended == .signalled(Int(SIGSEGV)))
            }
            #expect(watched.tokens.count >= 6)
            #expect(watched.processes.arguments.contains { $0.hasPrefix("curl") || $0.contains("/curl") })
            #expect(watched.findings == [])
            #expect(watched.wideOpen == [])
            #expect(
                try watched.hunt.findings(
                    below: folder.path,
                    but: { ["password", "pop", "wifi", "wrong"].contains($0) || $0.contains("/sessions/") }) == [])
        }
    }

    private func life(
        _ watched: WatchedMaker, _ mailbox: ReceivedCodes, _ user: String, _ form: WatchedMaker.Form, json: Bool
    ) async throws {
        let folder = watched.maker.folder
        let file = folder.file
        func run(_ words: String..., ends status: Int = 0, sourceLocation: SourceLocation = #_sourceLocation)
            async throws
        {
            let ended = try await watched.run(words + (json ? ["--json"] : []), form)
            #expect(ended == status, "\(words)", sourceLocation: sourceLocation)
        }
        func codeFile(_ kind: String, _ receiver: String) throws -> String {
            try folder.write(mailbox.code(kind, to: receiver) + "\n", to: "code")
            return file("code")
        }
        try await run("account", "signup", user, "--password-file", file("first"))
        try await run("account", "resend", user, "--password-file", file("first"))
        try await run("login", user, "--password-file", file("first"), ends: 77)
        try await run("account", "confirm", user, "--code-file", codeFile("signup", user))
        try await run("account", "confirm", user, "--code-file", codeFile("signup", user), ends: 1)
        try await run("login", user, "--password-file", file("wrong"), ends: 77)
        try await run("login", user, "--password-file", file("first"))
        let phone = json ? "+15550100" : "+15550101"
        try await run("account", "update", "--name", "Ada", "--phone", phone)
        try await run("account", "update", "--confirm-phone", "--code-file", codeFile("phone", phone))
        try await run("account", "data", "set", "theme", "1")
        try await run("account", "data", "get")
        try await run("whoami")
        try await run("account", "status")
        try await run(
            "account", "password", "change", "--password-file", file("wrong"), "--new-password-file", file("second"),
            ends: 77)
        try await run(
            "account", "password", "change", "--password-file", file("first"), "--new-password-file", file("second"))
        try await run("login", user, "--password-file", file("second"))
        try await run("account", "password", "reset", user)
        try await run(
            "account", "password", "reset", user, "--code-file", codeFile("password_reset", user),
            "--new-password-file",
            file("first"))
        try await run("account", "delete", "--yes")
        // In the arguments a code is seen, and nowhere else.
        let code = try mailbox.code("delete", to: user)
        let deleted = try await watched.run(
            ["account", "delete", "--code", code] + (json ? ["--json"] : []), form, argumentsHoldSecrets: true)
        #expect(deleted == 0)
    }

    /// Sign-ins that wait for their codes.
    private func halfway(
        _ watched: WatchedMaker, _ mailbox: ReceivedCodes, _ form: WatchedMaker.Form, json: Bool
    ) async throws {
        let folder = watched.maker.folder
        let user = SimulatedCloud.user
        let more = json ? ["--json"] : []
        #expect(try await watched.run(["login", user, "--one-time-code"] + more, form) == 0)
        #expect(SecretHunt.mode(of: watched.pendingSignInFile) == 0o600)
        try folder.write("000000", to: "code")
        #expect(try await watched.run(["login", "--code-file", folder.file("code")] + more, form) == 77)
        let receiver = try Journal(path: mailbox.path).entries(where: ["kind": "login"]).last?["to"]?.string ?? user
        try folder.write(mailbox.code("login", to: receiver), to: "code")
        #expect(try await watched.run(["login", "--code-file", folder.file("code")] + more, form) == 0)
        #expect(SecretHunt.mode(of: watched.pendingSignInFile) == nil)
        #expect(try await watched.run(["logout"] + more, form) == 0)
    }

    private func guest(
        _ watched: WatchedMaker, _ mailbox: ReceivedCodes, _ user: String, _ form: WatchedMaker.Form, json: Bool
    ) async throws {
        let folder = watched.maker.folder
        let more = json ? ["--json"] : []
        #expect(try await watched.run(["login", "--guest"] + more, form) == 0)
        #expect(try await watched.run(["account", "convert", user] + more, form) == 0)
        try folder.write(mailbox.code("guest_conversion", to: user), to: "code")
        let convert = [
            "account", "convert", user, "--code-file", folder.file("code"), "--password-file", folder.file("first"),
        ]
        #expect(try await watched.run(convert + more, form) == 0)
        #expect(try await watched.run(["logout", "--everywhere"] + more, form) == 0)
    }
}
