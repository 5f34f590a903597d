// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

/// rainctl and a real keyring on a session bus of the test's own.
@Suite("rainctl and the Secret Service")
struct KeyringTests {
    private func withBus(_ body: (StoreBench, SessionBusDaemon, [String: String]) async throws -> Void) async throws {
        try await StoreBench.with { bench in
            let bus = try await SessionBusDaemon(in: TemporaryFolder())
            try await body(bench, bus, ["DBUS_SESSION_BUS_ADDRESS": bus.address])
        }
    }

    private func lookup(_ bus: SessionBusDaemon) async throws -> String {
        try await bus.run(
            "secret-tool",
            [
                "lookup", "xdg:schema", "org.rainkit.Session", "deployment", "sim", "account", SimulatedCloud.user,
            ]
        ).standardOutput
    }

    @Test("an unlocked keyring is used without being asked for, and no token lies in any file")
    func unlocked() async throws {
        try await withBus { bench, bus, environment in
            let keyring = try await Keyring(on: bus, unlocked: true)
            let outcome = try await bench.logIn(environment: environment)
            #expect(outcome.status == 0, "\(outcome.standardOutput)")
            #expect(outcome.document?["store"] == "secret-service")
            #expect(outcome.standardError.isEmpty)
            let session = try JSONValue(parsing: Array(try await lookup(bus).utf8))
            let refresh = try #require(session["refreshToken"]?.string)
            var hunt = SecretHunt()
            hunt.add("the refresh token", refresh)
            #expect(try hunt.findings(below: bench.folder.path) { _ in false } == [])
            #expect(try bench.wideOpen() == [])

            let who = try await bench.maker.rainctl(["whoami", "--json"], environment: environment)
            #expect(who.document?["user_name"] == .string(SimulatedCloud.user))
            let renewed = try await bench.maker.rainctl(["account", "refresh", "--json"], environment: environment)
            #expect(renewed.status == 0)
            let after = try JSONValue(parsing: Array(try await lookup(bus).utf8))
            #expect(after["accessToken"] != session["accessToken"])
            #expect(try await bench.maker.rainctl(["logout"], environment: environment).status == 0)
            #expect(try await lookup(bus).isEmpty)
            try await keyring.end()
        }
    }

    @Test("the remembered keyring gone or locked is an error, for sign-ins too, and never a file instead")
    func neverDowngraded() async throws {
        try await withBus { bench, bus, environment in
            let keyring = try await Keyring(on: bus, unlocked: true)
            #expect(try await bench.logIn(environment: environment).status == 0)
            let signIns = try bench.signIns()
            try await keyring.end()
            func expectRefusal(_ reason: String) async throws {
                for arguments in [["whoami"], ["account", "token"], ["node", "list"], bench.logInArguments] {
                    let outcome = try await bench.maker.rainctl(arguments + ["--json"], environment: environment)
                    #expect(outcome.status == 69, "\(arguments)")
                    #expect(outcome.failure?["reason"] == .string(reason), "\(arguments)")
                }
                #expect(try bench.signIns() == signIns)
                #expect(
                    try !SecretHunt.entries(below: bench.folder.file("state")).contains {
                        $0.hasSuffix("+\(SimulatedCloud.user).json")
                    })
            }
            try await expectRefusal("store_absent")
            let locked = try await Keyring(on: bus, unlocked: false)
            try await expectRefusal("store_locked")
            try await locked.end()

            // A user who chooses a file gets one.
            let file = try await bench.logIn(["--store", "file"], environment: environment)
            #expect(file.document?["store"] == "file")
            #expect(try await bench.maker.rainctl(["whoami"], environment: environment).status == 0)
        }
    }

    @Test("a locked keyring or none at all is said, and a file is used, once it is known to work")
    func automatic() async throws {
        try await withBus { bench, bus, environment in
            let locked = try await Keyring(on: bus, unlocked: false)
            let asked = try await bench.logIn(["--store", "secret-service"], environment: environment)
            #expect(asked.status == 69)
            #expect(asked.failure?["reason"] == "store_locked")
            #expect(try bench.signIns() == 0)
            let outcome = try await bench.logIn(environment: environment)
            #expect(outcome.status == 0)
            #expect(outcome.document?["store"] == "file")
            #expect(outcome.standardError.contains("note: "))
            #expect(outcome.standardError.contains("keyring"))
            // Told once: from now on it is this account's place.
            let again = try await bench.logIn(environment: environment)
            #expect(again.document?["store"] == "file")
            #expect(again.standardError.isEmpty)
            try await locked.end()
        }
    }

    @Test("a service that never answers costs two seconds, and then a file is used or the command fails")
    func silent() async throws {
        try await withBus { bench, bus, environment in
            let service = try await SilentSecretService(on: bus)
            let start = ContinuousClock.now
            let asked = try await bench.logIn(["--store", "secret-service"], environment: environment)
            #expect(asked.status == 69)
            #expect(asked.failure?["reason"] == "store_not_answering")
            #expect(asked.failure?["message"]?.string?.contains("2.0 seconds") == true)
            #expect(ContinuousClock.now - start < Timings.limit(.seconds(20)))
            #expect(try bench.signIns() == 0)
            let outcome = try await bench.logIn(environment: environment)
            #expect(outcome.document?["store"] == "file")
            try await service.end()
        }
    }

    @Test("no D-Bus daemon is started, even where the environment asks for one")
    func nothingStarted() async throws {
        try await StoreBench.with { bench in
            let marker = bench.folder.file("started")
            for name in ["dbus-launch", "dbus-daemon"] {
                try bench.folder.write("#!/bin/sh\ntouch \(marker)\n", to: name)
                chmod(bench.folder.file(name), 0o700)
            }
            let path = currentEnvironment()["PATH"] ?? ""
            for address in ["", "autolaunch:"] {
                let outcome = try await bench.logIn(environment: [
                    "DBUS_SESSION_BUS_ADDRESS": address, "DISPLAY": ":99", "PATH": "\(bench.folder.path):\(path)",
                ])
                #expect(outcome.document?["store"] == "file")
                #expect(access(marker, F_OK) != 0)
            }
        }
    }

    @Test("without libsecret everything else works, and a request for it is an error")
    func noLibrary() async throws {
        try await withBus { bench, _, environment in
            let libraries = try await run("ldconfig", ["-p"]).standardOutput
            let paths = libraries.split(separator: "\n").filter { $0.contains("libsecret-1.so.0 ") }
                .compactMap { $0.split(separator: " ").last }.joined(separator: " ")
            try #require(!paths.isEmpty)
            func hidden(_ arguments: [String]) async throws -> FinishedProcess {
                // In its own mount namespace, where something else is in the library's place.
                try await run(
                    "unshare",
                    namespacePrivileges + [
                        "--mount", "sh", "-c",
                        "for path in \(paths); do mount --bind /dev/null $path || exit 1; done; exec \"$@\"", "sh",
                        try Executables.path("rainctl"),
                    ] + arguments, environment: bench.maker.environment.merging(environment) { $1 })
            }
            #expect(try await hidden(["--version"]).status == .exited(0))
            let asked = try await hidden(bench.logInArguments + ["--store", "secret-service"])
            #expect(asked.status == .exited(69))
            #expect(asked.standardError.contains("libsecret"))
            let outcome = try await hidden(bench.logInArguments)
            #expect(outcome.status == .exited(0))
            #expect(outcome.standardError.contains("libsecret"))
        }
    }
}
