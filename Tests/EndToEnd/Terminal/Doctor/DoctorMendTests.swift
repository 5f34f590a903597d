// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

/// The commands that `doctor` prints fix the problem: each is run as printed, and doctor checks again.
@Suite("rainctl doctor's commands fix problems")
struct DoctorMendTests {
    private typealias Fault = DoctorTests.Fault

    private static let accounts = "state/rainkit/accounts.json"
    private static let login = "rainctl login \(SimulatedCloud.user)"

    static let faults: [DoctorTests.Fault] = [
        Fault("session", "store_unreadable", fix: login) {
            $0.folder.writePrivately(Array("garbage".utf8), to: Maker.sessionFile)
            return [:]
        },
        Fault("session", "store_unreadable", fix: login) {
            $0.folder.writePrivately(Array(#"{"schemaVersion": 99}"#.utf8), to: Maker.sessionFile)
            return [:]
        },
        Fault("session", "store_unreadable", fix: "chmod 600 ") {
            chmod($0.folder.file(Maker.sessionFile), 0o644)
            return [:]
        },
        Fault("session", "store_unreadable", fix: "chmod 700 ") {
            chmod($0.state + "/sessions", 0o777)
            return [:]
        },
        Fault("session", "store_unreadable", fix: "mv ") {
            $0.folder.writePrivately(Array("{\"schema".utf8), to: accounts)
            return [:]
        },
        Fault("session", "store_unreadable", fix: "chmod 600 ") {
            chmod($0.folder.file(accounts), 0o644)
            return [:]
        },
        Fault("session", "wrong_context", fix: login) {
            try DoctorTests.profile($0, base: $0.cloud.api.replacing("127.0.0.1", with: "localhost"))
            return [:]
        },
        Fault("session", "expired", fix: login) {
            try await $0.cloud.control("revoke", ["user": .string(SimulatedCloud.user)])
            return [:]
        },
        Fault("session", "not_signed_in", fix: "unset RAINKIT_ACCOUNT") { _ in
            ["RAINKIT_ACCOUNT": "other@example.com"]
        },
        Fault("profile", "unreadable_profiles", fix: "mv ") {
            $0.folder.writePrivately(Array("{\"schema".utf8), to: "config/rainkit/deployments.json")
            return [:]
        },
        Fault("profile", "unreadable_profiles", fix: "chmod 600 ") {
            chmod($0.configuration + "/deployments.json", 0o666)
            return [:]
        },
        Fault("profile", "unknown_profile", fix: "unset RAINKIT_PROFILE") { _ in ["RAINKIT_PROFILE": "nope"] },
        Fault("profile", "no_claim_service", "warn", fix: "rainctl profile add bare-claims ") {
            _ = try await $0.maker.rainctl(["profile", "add", "bare", "--base-url", $0.cloud.api])
            _ = try await $0.maker.rainctl(["profile", "use", "bare"])
            _ = try await $0.maker.rainctl(
                ["login", SimulatedCloud.user, "--password-file", $0.folder.file("password")])
            return [:]
        },
        Fault("files", "unreadable_settings", fix: "mv ") {
            $0.folder.writePrivately(Array("{\"store".utf8), to: "config/rainkit/config.json")
            return [:]
        },
        Fault("files", "no_home", fix: "export HOME=") { _ in
            ["HOME": "", "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": ""]
        },
        Fault("environment", "unknown_store", "warn", fix: "unset RAINKIT_STORE") { _ in ["RAINKIT_STORE": "bogus"] },
        Fault("environment", "unknown_store", "warn", fix: "mv ") {
            $0.folder.writePrivately(Array(#"{"store": "nope"}"#.utf8), to: "config/rainkit/config.json")
            return [:]
        },
        Fault("environment", "empty_secret", "warn", fix: "unset RAINKIT_POP") { _ in ["RAINKIT_POP": ""] },
    ]

    /// Runs shell commands on the machine, in which `rainctl` is the one under test.
    private func shell(
        _ script: String, _ machine: DoctorTests.Machine, _ more: [String: String]
    ) async throws -> FinishedProcess {
        let path = Executables.folder + ":/usr/sbin:/usr/bin:/sbin:/bin"
        let environment = machine.maker.environment.merging(machine.tree.environment) { $1 }.merging(["PATH": path]) {
            $1
        }
        return try await run("/bin/sh", ["-c", script], environment: environment.merging(more) { $1 })
    }

    private func finding(
        _ fault: DoctorTests.Fault, in output: String
    ) throws -> (all: [JSONValue], first: JSONValue?) {
        let all = try JSONValue(parsing: Array(output.utf8))["findings"]?.array ?? []
        return (all, all.first { $0["check"]?.string == fault.check && $0["reason"]?.string == fault.reason })
    }

    @Test("with the command that it prints, run in a shell", arguments: faults)
    func mends(fault: DoctorTests.Fault) async throws {
        try await DoctorTests.withMachine { machine in
            let environment = try await fault.inject(machine)
            let broken = try await shell("rainctl doctor --json", machine, environment)
            let found = try #require(
                try finding(fault, in: broken.standardOutput).first, "\(broken.standardOutput)\(broken.standardError)")
            #expect(found["state"]?.string == fault.state)
            var fix = try #require(found["fix"]?.string)
            #expect(fix.hasPrefix(fault.fix ?? ""), "\(fix)")
            // Nobody is there to type the password, nor to know the address.
            fix = fix.replacing("--claim-url URL", with: "--claim-url \(machine.cloud.claim)")
            if let login = fix.firstRange(of: "rainctl login \(SimulatedCloud.user)") {
                fix.insert(contentsOf: " --password-file \(machine.folder.file("password"))", at: login.upperBound)
            }
            let mended = try await shell("\(fix)\nrainctl doctor --json", machine, environment)
            // What the command itself says comes first.
            let document = mended.standardOutput.firstRange(of: "{\n").map { mended.standardOutput[$0.lowerBound...] }
            let after = try finding(fault, in: String(try #require(document, "\(mended.standardError)")))
            #expect(!after.all.isEmpty && after.first == nil, "\(fix): \(mended.standardOutput)\(mended.standardError)")
        }
    }

    @Test("and with --fix, where no rights are needed", arguments: [Maker.sessionFile, "state/rainkit/accounts.json"])
    func fixes(file: String) async throws {
        try await DoctorTests.withMachine { machine in
            chmod(machine.folder.file(file), 0o644)
            chmod(machine.state + "/sessions", 0o777)
            #expect(try await machine.doctor().status == 1)
            // Two files one below the other: the problem that the second check finds is fixed by a second run.
            var outcome = try await machine.doctor([:], ["--fix"])
            if outcome.status != 0 { outcome = try await machine.doctor([:], ["--fix"]) }
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            var status = stat()
            #expect(stat(machine.folder.file(file), &status) == 0 && status.st_mode & 0o777 == 0o600)
        }
    }

    @Test("a session whose tokens are to be renewed is one that is signed in")
    func renewed() async throws {
        try await DoctorTests.withMachine { machine in
            try await machine.cloud.control("expire", ["user": .string(SimulatedCloud.user)])
            let outcome = try await machine.doctor()
            let session = outcome.document?["findings"]?.array?.first { $0["check"] == "session" }
            #expect(session?["state"] == "ok", "\(outcome.standardOutput)")
        }
    }
}
