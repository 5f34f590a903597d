// SPDX-License-Identifier: Apache-2.0
import Glibc
import TestSupport
import Testing

@testable import rainctl

/// Settings and variables that are there and do not count. A command that went on without a word would act for another account.
@Suite("Settings that are ignored")
struct IgnoredSettingsTests {
    private func settings(in folder: TemporaryFolder) throws(CommandFailure) -> SettingsFiles {
        try SettingsFiles(
            ["XDG_CONFIG_DIRS": folder.file("etc")], user: folder.file("user"), working: folder.path
        ) { (_, failure) throws(CommandFailure) in throw failure }
    }

    @Test("a project's file that others may write to is named once, with the reason", arguments: [0o666, 0o620, 0o602])
    func writable(mode: Int) async throws {
        try await withTemporaryFolder { folder in
            let path = folder.file(".rainkit.json")
            try folder.write(#"{"account":"ada"}"#, to: ".rainkit.json")
            chmod(path, mode_t(mode))
            let found = try settings(in: folder)
            #expect(found[.account] == nil)
            let own = found.warnings.filter { $0.hasPrefix(path) }
            #expect(own.count == 1 && own[0].contains("other users may write to it"), "\(found.warnings)")
            chmod(path, 0o644)
            let trusted = try settings(in: folder)
            #expect(trusted[.account]?.text == "ada" && !trusted.warnings.contains { $0.hasPrefix(path) })
        }
    }

    @Test(
        "a HOME that names no folder is an error that tells why",
        arguments: [
            ([:], "HOME is not set,"), (["HOME": ""], "HOME is not set,"),
            (["HOME": "h0"], "HOME is \"h0\", which is not an absolute path,"),
        ])
    func home(environment: [String: String], words: String) {
        let error = #expect(throws: CommandFailure.self) { try Folders(environment) }
        #expect(error?.message.hasPrefix(words) == true)
    }

    @Test("a symbolic link is named as one, also if it leads nowhere")
    func link() async throws {
        try await withTemporaryFolder { folder in
            symlink("elsewhere.json", folder.file(".rainkit.json"))
            let warnings = try settings(in: folder).warnings
            #expect(warnings.contains { $0.contains("symbolic link") && $0.hasPrefix(folder.path) }, "\(warnings)")
        }
    }

    @Test("another user's file is named with its owner", .enabled(if: getuid() == 0, "only root can give files away"))
    func foreign() async throws {
        try await withTemporaryFolder { folder in
            try folder.write(#"{"account":"ada"}"#, to: ".rainkit.json")
            #expect(chown(folder.file(".rainkit.json"), 12345, 12345) == 0)
            let warnings = try settings(in: folder).warnings
            #expect(warnings.contains { $0.contains("belongs to another user (uid 12345)") }, "\(warnings)")
        }
    }

    @Test("a folder in the place of a file is an error", arguments: [".rainkit.json", "user/config.json"])
    func folder(name: String) async throws {
        try await withTemporaryFolder { folder in
            try folder.makeFolder(name)
            let error = #expect(throws: CommandFailure.self) { try settings(in: folder) }
            #expect(error?.reason == "unreadable_settings" && error?.message.contains("it is a folder") == true)
            #expect(error?.message.contains(folder.file(name)) == true)
        }
    }

    @Test(
        "a file that may not be read is an error, and a closed folder hides none",
        .enabled(if: getuid() != 0, "root may read every file"))
    func unreadable() async throws {
        try await withTemporaryFolder { folder in
            try folder.write(#"{"account":"ada"}"#, to: ".rainkit.json")
            chmod(folder.file(".rainkit.json"), 0)
            let error = #expect(throws: CommandFailure.self) { try settings(in: folder) }
            #expect(error?.reason == "unreadable_settings" && error?.message.contains("Permission denied") == true)
            unlink(folder.file(".rainkit.json"))
            try folder.makeFolder("user")
            chmod(folder.file("user"), 0)
            #expect(try settings(in: folder)[.account] == nil)
            chmod(folder.file("user"), 0o700)
        }
    }

    @Test(
        "a variable with a relative path is named; an empty one counts as none",
        arguments: ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"])
    func relative(variable: String) throws {
        let folders = try Folders(["HOME": "/home/ada", variable: "state"])
        #expect(
            folders.ignored == [variable]
                && folders.warnings == ["\(variable) is not used: it is not an absolute path."])
        #expect(folders.configuration == "/home/ada/.config/rainkit" && folders.runtime == nil)
        #expect(try Folders(["HOME": "/home/ada", variable: ""]).warnings.isEmpty)
        #expect(try Folders(["HOME": "/home/ada", variable: "/x"]).warnings.isEmpty)
    }
}
