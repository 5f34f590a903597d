// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

/// Settings from a project's file, the user's and the machine's, and who goes before whom.
@Suite("rainctl: settings in files")
struct SettingsFilesTests {
    private struct Place {
        let maker: Maker
        let folder: TemporaryFolder

        /// The result of a command in a folder below the project's.
        struct Shown {
            let status: ChildExit
            let standardOutput: String
            let standardError: String
            var document: JSONValue? { try? JSONValue(parsing: Array(standardOutput.utf8)) }
        }

        /// The settings as `profile show --origin` has them.
        func show(_ arguments: [String] = [], environment: [String: String] = [:]) async throws -> Shown {
            let ended = try await run(
                Executables.path("rainctl"), ["profile", "show", "--origin", "--json"] + arguments,
                environment: maker.environment.merging(["XDG_CONFIG_DIRS": folder.file("etc")]) { $1 }
                    .merging(environment) { $1 },
                directory: folder.file("project/below"))
            return Shown(
                status: ended.status, standardOutput: ended.standardOutput, standardError: ended.standardError)
        }
    }

    private func with(_ body: (Place) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            for name in ["lab", "home", "shop"] {
                #expect(try await maker.rainctl("profile", "add", name, "--base-url", "http://127.0.0.1:9").status == 0)
            }
            for path in ["project/below", "etc/rainkit"] { try folder.makeFolder(path) }
            try await body(Place(maker: maker, folder: folder))
        }
    }

    @Test("option, environment, project, user, machine, built in: each overrides the next, and its origin is shown")
    func precedence() async throws {
        try await with { place in
            let folder = place.folder
            func expect(
                _ key: String, _ value: String, _ origin: String, _ arguments: [String] = [],
                environment: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation
            ) async throws {
                let outcome = try await place.show(arguments, environment: environment)
                let found = outcome.document
                #expect(found?[key]?.string == value, "\(outcome.standardOutput)", sourceLocation: sourceLocation)
                #expect(
                    found?["origins"]?[key]?.string?.hasSuffix(origin) == true, "\(outcome.standardOutput)",
                    sourceLocation: sourceLocation)
            }
            try folder.write(#"{"profile": "shop", "ca_file": "/etc/machine.pem"}"#, to: "etc/rainkit/config.json")
            try await expect("profile", "shop", "etc/rainkit/config.json")
            try await expect("ca_file", "/etc/machine.pem", "etc/rainkit/config.json")
            try folder.write(#"{"ca_file": "/home/user.pem"}"#, to: "config/rainkit/config.json")
            try await expect("ca_file", "/home/user.pem", "config/rainkit/config.json")
            #expect(try await place.maker.rainctl("profile", "use", "home").status == 0)
            try await expect("profile", "home", "deployments.json")
            try folder.write(#"{"profile": "lab", "account": "me@example.com"}"#, to: "project/.rainkit.json")
            try await expect("profile", "lab", "project/.rainkit.json")
            try await expect("account", "me@example.com", "project/.rainkit.json")
            try await expect("profile", "shop", "environment RAINKIT_PROFILE", environment: ["RAINKIT_PROFILE": "shop"])
            try await expect(
                "profile", "home", "option --profile", ["--profile", "home"], environment: ["RAINKIT_PROFILE": "shop"])
        }
    }

    @Test("a project file that others may write is not used, and no project file decides whom to trust")
    func projects() async throws {
        try await with { place in
            let path = place.folder.file("project/.rainkit.json")
            try place.folder.write(#"{"profile": "lab"}"#, to: "project/.rainkit.json")
            chmod(path, 0o666)
            let ignored = try await place.show()
            #expect(ignored.document?["profile"] == "global" && ignored.document?["warnings"] == nil)
            let warning = "warning: \(path) is not used: other users may write to it"
            #expect(
                ignored.standardError.split(separator: warning, omittingEmptySubsequences: false).count == 2,
                "\(ignored.standardError)")
            #expect(try await place.show(["--quiet"]).standardError.isEmpty)
            chmod(path, 0o644)
            let trusted = try await place.show()
            #expect(trusted.document?["profile"] == "lab" && trusted.standardError.isEmpty, "\(trusted.standardError)")
            let relative = try await place.show(environment: ["XDG_DATA_HOME": "data"])
            #expect(relative.standardError == "warning: XDG_DATA_HOME is not used: it is not an absolute path.\n")
            #expect(relative.document == trusted.document)
            try place.folder.write(#"{"profile": "nope"}"#, to: "project/.rainkit.json")
            let unknown = try await place.show()
            #expect(unknown.document?["error"]?["message"]?.string?.contains("\(path) names") == true)
            try place.folder.write(#"{"ca_file": "/tmp/evil.pem"}"#, to: "project/.rainkit.json")
            let refused = try await place.show()
            #expect(refused.status == .exited(78) && refused.document?["error"]?["reason"] == "unreadable_settings")
        }
    }

    @Test(
        "an invalid file is named, with its error",
        arguments: [
            "", "[]", "{\"store\": 1}", "{\"stroe\": \"file\"}", "{\"store\": \"\"}", "{\"store\"",
            "{\"store\": \"attic\"}",
        ])
    func unreadable(content: String) async throws {
        try await with { place in
            try place.folder.write(content, to: "config/rainkit/config.json")
            let outcome = try await place.maker.rainctl([
                "login", "me@example.com", "--password-file", place.folder.file("password"), "--json",
            ])
            #expect(outcome.status == 78, "\(outcome.standardOutput)")
            #expect(outcome.failure?["message"]?.string?.contains("config.json") == true, "\(outcome.standardOutput)")
        }
    }

    @Test("one that is too long is refused")
    func tooLong() async throws {
        try await with { place in
            try place.folder.write(
                #"{"store": ""# + String(repeating: "x", count: 70000) + #""}"#, to: "config/rainkit/config.json")
            #expect(
                try await place.maker.rainctl("profile", "show", "--json").failure?["reason"] == "unreadable_settings")
        }
    }
}
