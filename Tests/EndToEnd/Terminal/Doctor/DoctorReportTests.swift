// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainDBus
import RainJSON
import TestSupport
import Testing

@testable import rainctl

/// What `doctor` says of what other commands end at, and of what it shares with other programs.
@Suite("rainctl doctor reports")
struct DoctorReportTests {
    private func finding(_ check: String, _ outcome: Maker.Outcome) -> JSONValue? { finding(check, outcome.document) }

    private func finding(_ check: String, _ document: JSONValue?) -> JSONValue? {
        document?["findings"]?.array?.first { $0["check"]?.string == check && $0["state"] != "ok" }
    }

    @Test("an invalid project file, or one that names a missing profile, by its path")
    func project() async throws {
        try await DoctorTests.withMachine { machine in
            try machine.folder.makeFolder("project")
            for (content, check, reason) in [
                ("{\"prof", "files", "unreadable_settings"), (#"{"profile": "nope"}"#, "profile", "unknown_profile"),
            ] {
                machine.folder.writePrivately(Array(content.utf8), to: "project/.rainkit.json")
                let ended = try await run(
                    Executables.path("rainctl"), ["doctor", "--json"], environment: machine.maker.environment,
                    directory: machine.folder.file("project"))
                let found = finding(check, try? JSONValue(parsing: Array(ended.standardOutput.utf8)))
                #expect(ended.status == .exited(1) && found?["reason"]?.string == reason, "\(ended.standardOutput)")
                #expect(found?["message"]?.string?.contains(machine.folder.file("project/.rainkit.json")) == true)
            }
        }
    }

    @Test("an account that nobody is signed in with, by who names it, and who is signed in")
    func account() async throws {
        try await DoctorTests.withMachine { machine in
            let named = finding("session", try await machine.doctor(["RAINKIT_ACCOUNT": "other@example.com"]))
            let message = named?["message"]?.string ?? ""
            for part in ["other@example.com", "environment RAINKIT_ACCOUNT", SimulatedCloud.user] {
                #expect(message.contains(part), "\(message)")
            }
            try machine.folder.makeFolder("project")
            let file = "project/.rainkit.json"
            for (account, fix) in [
                ("other@example.com", "rainctl login other@example.com"), ("work", "rainctl login USER"),
            ] {
                machine.folder.writePrivately(Array(#"{"account": "\#(account)"}"#.utf8), to: file)
                let found = finding("session", try await doctor(machine))
                #expect(found?["reason"] == "not_signed_in", "\(String(describing: found))")
                #expect(found?["fix"]?.string == fix)
                #expect(found?["message"]?.string?.contains("file \(machine.folder.file(file))") == true)
            }
            // Where nobody is signed in at all, the one who is named may be.
            _ = try await machine.maker.rainctl("logout")
            let alone = finding("session", try await machine.doctor(["RAINKIT_ACCOUNT": "other@example.com"]))
            #expect(alone?["fix"] == "rainctl login other@example.com", "\(String(describing: alone))")
        }
    }

    @Test("a project's file that counts as none, as others may write it")
    func ignored() async throws {
        try await DoctorTests.withMachine { machine in
            try machine.folder.makeFolder("project")
            let path = machine.folder.file("project/.rainkit.json")
            machine.folder.writePrivately(Array(#"{"profile": "sim"}"#.utf8), to: "project/.rainkit.json")
            chmod(path, 0o666)
            let found = finding("files", try await doctor(machine))
            #expect(found?["state"] == "warn" && found?["reason"] == "ignored_settings", "\(String(describing: found))")
            #expect(found?["fix"]?.string == "chmod go-w \(path)" && found?["message"]?.string?.contains(path) == true)
            // What others may have written does not count because somebody runs --fix.
            #expect(finding("files", try await doctor(machine, ["--fix"])) == found)
            unlink(path)
            symlink("elsewhere.json", path)
            try machine.folder.write("{}", to: "project/elsewhere.json")
            let link = finding("files", try await doctor(machine))
            #expect(link?["reason"] == "ignored_settings" && link?["fix"] == nil, "\(String(describing: link))")
        }
    }

    /// What it prints in the folder of a project.
    private func doctor(_ machine: DoctorTests.Machine, _ more: [String] = []) async throws -> JSONValue? {
        let ended = try await run(
            Executables.path("rainctl"), ["doctor", "--json"] + more,
            environment: machine.maker.environment.merging(machine.tree.environment) { $1 },
            directory: machine.folder.file("project"))
        return try? JSONValue(parsing: Array(ended.standardOutput.utf8))
    }

    @Test("too few descriptors, as a finding")
    func descriptors() async throws {
        try await withTemporaryFolder { folder in
            let ended = try await run(
                "prlimit", ["--nofile=12", try Executables.path("rainctl"), "doctor", "--json"],
                environment: try Maker(folder).environment)
            let document = try JSONValue(parsing: Array(ended.standardOutput.utf8))
            #expect(
                ended.status == .exited(1) && document["error"]?["reason"] == "checks_failed", "\(ended.standardOutput)"
            )
            let found = finding("environment", document)
            #expect(found?["reason"] == "no_descriptors" && found?["fix"] == "ulimit -n 1024")
        }
    }

    @Test("a proxy that is not there, and nothing of its password")
    func proxy() async throws {
        try await DoctorTests.withMachine { machine in
            try DoctorTests.profile(machine, base: "https://cloud.example.com")
            var outcome = try await machine.doctor(["https_proxy": "http://user:planted@127.0.0.1:1"])
            let found = finding("cloud", outcome)
            #expect(found?["reason"] == "proxy" && found?["fix"] == "unset https_proxy", "\(outcome.standardOutput)")
            #expect(found?["message"]?.string?.contains("127.0.0.1:1") == true)
            #expect(!outcome.standardOutput.contains("planted") && !outcome.standardError.contains("planted"))
            outcome = try await machine.doctor([
                "https_proxy": "http://127.0.0.1:1", "no_proxy": "other.example,.example.com",
            ])
            #expect(finding("cloud", outcome)?["reason"] != "proxy", "\(outcome.standardOutput)")
        }
    }

    @Test("a claim service that is not there")
    func claimService() async throws {
        try await DoctorTests.withMachine { machine in
            let file = "config/rainkit/deployments.json"
            let text = try machine.folder.read(file).replacing("\\/", with: "/")
            let changed = text.replacing(
                #""claim_url":"\#(machine.cloud.claim)""#, with: #""claim_url":"http://127.0.0.1:1""#)
            #expect(changed != text)
            machine.folder.writePrivately(Array(changed.utf8), to: file)
            let outcome = try await machine.doctor()
            let found = finding("claim", outcome)
            #expect(found?["reason"] == "unreachable" && found?["state"] == "warn", "\(outcome.standardOutput)")
            #expect(finding("cloud", outcome) == nil)
        }
    }

    @Test("a bus that is silent, as the cause of all that needs it")
    func silentBus() async throws {
        try await DoctorTests.withMachine { machine in
            let listener = try SilentListener()
            let outcome = try await machine.doctor(
                ["DBUS_SYSTEM_BUS_ADDRESS": "tcp:host=127.0.0.1,port=\(listener.port)"], ["--timeout", "12"])
            for check in ["bluetooth", "wifi", "network"] {
                let found = finding(check, outcome)
                #expect(found?["reason"] == "no_bus", "\(outcome.standardOutput)")
                #expect(found?["fix"] == "unset DBUS_SYSTEM_BUS_ADDRESS")
                #expect(found?["message"]?.string?.contains("DBUS_SYSTEM_BUS_ADDRESS is set to") == true)
            }
            withExtendedLifetime(listener) {}
        }
    }

    @Test("another program that scans, by its name")
    func scanner() async throws {
        try await DoctorTests.withMachine { machine in
            let radio = try await SimulatedBluetooth.start([], in: machine.folder)
            let person = try await ChildProcess.start(
                "bluetoothctl", environment: radio.environment.merging(["TERM": "dumb"]) { $1 }, input: .open)
            defer { person.kill() }
            try await person.output(containing: "Agent registered")
            person.write("scan on\n")
            try await person.output(containing: "Discovery started")
            let unknown = finding("bluetooth", try await machine.doctor(radio.environment))
            #expect(
                unknown?["reason"] == "busy" && unknown?["fix"] == "busctl --system list",
                "\(String(describing: unknown))")
            try machine.tree.addProcess(Int(person.pid), "bluetoothctl")
            let known = finding("bluetooth", try await machine.doctor(radio.environment))
            #expect(known?["fix"]?.string == "kill \(person.pid)", "\(String(describing: known))")
            #expect(known?["message"]?.string?.contains("bluetoothctl (process \(person.pid))") == true)
            try await radio.process.terminate()
            try await radio.bus.end()
        }
    }

    @Test("a BlueZ that is too old")
    func oldBlueZ() async throws {
        try await DoctorTests.withMachine { machine in
            let radio = try await SimulatedBluetooth.start([], in: machine.folder)
            try machine.folder.makeFolder("programs")
            for (version, reason) in [("5.48", "old_bluez"), ("5.50", nil)] {
                try machine.folder.write("#!/bin/sh\necho bluetoothctl: \(version)\n", to: "programs/bluetoothctl")
                chmod(machine.folder.file("programs/bluetoothctl"), 0o755)
                let path = ["PATH": machine.folder.file("programs") + ":/usr/bin:/bin"]
                let outcome = try await machine.doctor(path.merging(radio.environment) { $1 })
                #expect(finding("bluetooth", outcome)?["reason"]?.string == reason, "\(outcome.standardOutput)")
            }
            try await radio.process.terminate()
            try await radio.bus.end()
        }
    }
}
