// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

/// Homes that are somebody else's, cannot be written, or are not there. It takes root to be two users.
@Suite("rainctl doctor about HOME", .enabled(if: canBeOthers))
struct DoctorHomeTests {
    /// Debian's nobody, whose home is not there.
    private static let nobody: uid_t = 65534

    private static func withHome(_ body: (TemporaryFolder, String) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            chmod(folder.path, 0o755)
            try folder.makeFolder("home")
            try await body(folder, folder.file("home"))
        }
    }

    /// Nothing in the environment but HOME, and no cloud.
    private func shell(_ script: String, home: String, asNobody: Bool) async throws -> FinishedProcess {
        let user = asNobody ? Self.nobody : 0
        return try await run(
            "setpriv", ["--reuid=\(user)", "--regid=\(user)", "--clear-groups", "/bin/sh", "-c", "cd /; \(script)"],
            environment: [
                "HOME": home, "PATH": "\(Executables.folder):/usr/bin:/bin", "https_proxy": "http://127.0.0.1:1",
                "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent/bus",
                "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus",
            ])
    }

    /// What is wrong with the machine's files, profiles and sessions.
    private func findings(home: String, asNobody: Bool) async throws -> [JSONValue] {
        let ended = try await shell("rainctl doctor --json", home: home, asNobody: asNobody)
        let all = try JSONValue(parsing: Array(ended.standardOutput.utf8))["findings"]?.array ?? []
        #expect(!all.isEmpty, "\(ended.standardOutput)\(ended.standardError)")
        return all.filter {
            $0["state"] != "ok" && ["files", "profile", "session"].contains($0["check"]?.string)
                && $0["reason"] != "not_signed_in"
        }
    }

    @Test("one that cannot be written, once, with the command that fixes it")
    func readOnly() async throws {
        try await Self.withHome { _, home in
            chown(home, Self.nobody, Self.nobody)
            chmod(home, 0o555)
            let found = try await findings(home: home, asNobody: true)
            #expect(found.count == 1 && found.first?["reason"] == "read_only", "\(found)")
            let fix = try #require(found.first?["fix"]?.string)
            #expect(try await shell(fix, home: home, asNobody: true).status == .exited(0))
            #expect(try await findings(home: home, asNobody: true).isEmpty)
        }
    }

    @Test("one that is not there, which other commands make, or cannot")
    func absent() async throws {
        try await Self.withHome { folder, _ in
            let home = folder.file("absent/home")
            #expect(try await findings(home: home, asNobody: false).isEmpty)
            let found = try await findings(home: home, asNobody: true)
            #expect(found.count == 1 && found.first?["reason"] == "read_only" && found.first?["fix"] == nil, "\(found)")
            #expect(found.first?["message"]?.string?.contains("HOME is \(home), which does not exist") == true)
        }
    }

    @Test("another user's, of which nothing is to be moved or taken over", arguments: [true, false])
    func foreign(asNobody: Bool) async throws {
        try await Self.withHome { folder, home in
            for name in ["home/.config/rainkit", "home/.local/state/rainkit"] { try folder.makeFolder(name) }
            let files = ["home/.config/rainkit/deployments.json", "home/.local/state/rainkit/accounts.json"]
            for file in files { folder.writePrivately(Array("{}".utf8), to: file) }
            if asNobody {
                chmod(home, 0o700)
            } else {
                let everything = ["home/.config/rainkit", "home/.local/state/rainkit", "home"] + files
                for path in everything { chown(folder.file(path), Self.nobody, Self.nobody) }
            }
            let found = try await findings(home: home, asNobody: asNobody)
            #expect(found.count == 1 && found.first?["reason"] == "foreign_folder", "\(found)")
            #expect(found.first?["message"]?.string?.contains("HOME is \(home), which belongs to another user") == true)
            if asNobody {
                #expect(found.first?["fix"] == nil)
            } else {
                let own = try #require(getpwuid(0)).pointee.pw_dir.map { String(cString: $0) }
                #expect(found.first?["fix"]?.string == own.map { "export HOME=\($0)" })
            }
        }
    }

    @Test("a file of another user in one's own folder, which is not moved either")
    func foreignFile() async throws {
        try await Self.withHome { folder, home in
            for (file, check) in [
                (".config/rainkit/deployments.json", "profile"), (".local/state/rainkit/accounts.json", "session"),
            ] {
                let path = "home/\(file)"
                try folder.makeFolder(path.split(separator: "/").dropLast().joined(separator: "/"))
                for place in [".config/rainkit", ".local/state/rainkit"] { chmod(folder.file("home/\(place)"), 0o700) }
                folder.writePrivately(Array("{}".utf8), to: path)
                chown(folder.file(path), Self.nobody, Self.nobody)
                let found = try await findings(home: home, asNobody: false).first { $0["check"]?.string == check }
                #expect(
                    found?["fix"]?.string == #"sudo chown "$USER" \#(home)/\#(file)"#, "\(String(describing: found))")
                unlink(folder.file(path))
            }
        }
    }
}

/// Whether others may run the program where it is.
private var canBeOthers: Bool {
    guard geteuid() == 0 else { return false }
    var path = Executables.folder
    while !path.isEmpty {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & 0o001 != 0 else { return false }
        path = path.split(separator: "/").dropLast().reduce("") { "\($0)/\($1)" }
    }
    return true
}
