// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

@testable import RainPrivateFiles

@Suite("Private files")
struct PrivateFileTests {
    private func mode(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test("a limit of the process is named as the cause")
    func limit() {
        #expect(systemWords(EFBIG).contains("ulimit -f") && systemWords(EFBIG).contains("File too large"))
        #expect(systemWords(ENOSPC) == "No space left on device")
    }

    @Test("a change that could not be read again is refused, and loses nothing")
    func tooLargeChange() async throws {
        try await withTemporaryFolder { folder in
            let file = PrivateFile(path: folder.file("records.json"))
            try file.write(Array("one".utf8))
            let error = #expect(throws: PrivateFileError.self) {
                try file.update(maximumBytes: 8) { _ in ([UInt8](repeating: 1, count: 9), ()) }
            }
            #expect(error?.code == .tooLarge)
            #expect(try file.read() == Array("one".utf8))
        }
    }

    @Test("a file is written with mode 0600 in a folder with mode 0700, and read back")
    func roundTrip() async throws {
        try await withTemporaryFolder { folder in
            let file = PrivateFile(path: folder.file("a/b/session.json"))
            #expect(try file.read() == nil)
            try file.write(Array("one".utf8))
            try file.write(Array("two".utf8))
            #expect(try file.read() == Array("two".utf8))
            #expect(try mode(file.path) == 0o600)
            #expect(try mode(folder.file("a")) == 0o700)
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.file("a/b"))
            #expect(left.sorted() == [".session.json.lock", "session.json"])
            #expect(try mode(folder.file("a/b/.session.json.lock")) == 0o600)
            try file.remove()
            try file.remove()
            #expect(try file.read() == nil)
        }
    }

    @Test("a file that others may read is refused", arguments: [0o644, 0o640, 0o606])
    func notPrivate(permissions: Int) async throws {
        try await withTemporaryFolder { folder in
            let file = PrivateFile(path: folder.file("session.json"))
            try file.write([1])
            try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: file.path)
            let error = #expect(throws: PrivateFileError.self) { try file.read() }
            #expect(error?.code == .notPrivate)
        }
    }

    @Test("a symbolic link is refused in both directions, and what it points to stays as it is")
    func symbolicLink() async throws {
        try await withTemporaryFolder { folder in
            try folder.write("target", to: "target")
            try FileManager.default.createSymbolicLink(
                atPath: folder.file("link"), withDestinationPath: folder.file("target"))
            let file = PrivateFile(path: folder.file("link"))
            #expect(#expect(throws: PrivateFileError.self) { try file.read() }?.code == .symbolicLink)
            #expect(#expect(throws: PrivateFileError.self) { try file.write([1]) }?.code == .symbolicLink)
            #expect(try folder.read("target") == "target")
        }
    }

    @Test("a file beyond the bound is refused")
    func tooLarge() async throws {
        try await withTemporaryFolder { folder in
            let file = PrivateFile(path: folder.file("large"))
            try file.write([UInt8](repeating: 1, count: 101))
            #expect(#expect(throws: PrivateFileError.self) { try file.read(maximumBytes: 100) }?.code == .tooLarge)
            #expect(try file.read(maximumBytes: 101)?.count == 101)
        }
    }

    @Test("a folder in the file's place is an error that names it")
    func folderInPlace() async throws {
        try await withTemporaryFolder { folder in
            let file = PrivateFile(path: folder.path)
            #expect(throws: PrivateFileError.self) { try file.read() }
            #expect(throws: PrivateFileError.self) { try file.write([1]) }
        }
    }

    @Test(
        "what is in the place of a file is named, and is neither read nor replaced",
        arguments: ["folder", "FIFO", "socket"])
    func otherKind(kind: String) async throws {
        try await withTemporaryFolder { folder in
            let file = PrivateFile(path: folder.file("session.json"))
            switch kind {
            case "folder": mkdir(file.path, 0o700)
            case "FIFO": mkfifo(file.path, 0o600)
            default: mknod(file.path, S_IFSOCK | 0o600, 0)
            }
            for error in [
                #expect(throws: PrivateFileError.self) { try file.read() },
                #expect(throws: PrivateFileError.self) { try file.write([1]) },
                #expect(throws: PrivateFileError.self) { try OwnedFile.contents(of: file.path, maximumBytes: 10) },
            ] {
                #expect(error?.description.contains("is a \(kind)") == true, "\(error?.description ?? "")")
            }
        }
    }

    @Test("a file in the place of a folder is named as one", arguments: ["a", "a/session.json", "a/b/session.json"])
    func placeOfFolder(path: String) async throws {
        try await withTemporaryFolder { folder in
            try folder.write("x", to: "a")
            let error = PrivateFileError(.unwritable, path: folder.file(path), errno: ENOTDIR)
            #expect(
                error.path == folder.file("a") && error.description.contains("/a is a file, but must be a folder"),
                "\(error)")
        }
    }

    @Test(
        "a file of another user is reported with its owner, without advice to make it private",
        .enabled(if: geteuid() == 0, "only root can give a file away"))
    func otherOwner() async throws {
        try await withTemporaryFolder { folder in
            let file = PrivateFile(path: folder.file("a/session.json"))
            try file.write([1])
            chown(file.path, 4711, 4711)
            let ofFile = #expect(throws: PrivateFileError.self) { try file.read() }
            #expect(ofFile?.code == .notPrivate)
            #expect(ofFile?.description.contains("session.json belongs to user 4711") == true)
            chown(folder.file("a"), 4711, 4711)
            let ofFolder = #expect(throws: PrivateFileError.self) { try file.read() }
            #expect(ofFolder?.code == .openFolder)
            #expect(ofFolder?.description.contains("/a belongs to user 4711") == true)
        }
    }

    /// The message about a folder or a file that this owner has, for this user.
    private func words(
        _ code: PrivateFileError.Code, _ path: String, owner: uid_t, mode: mode_t = S_IFDIR | 0o755, for user: FileUser
    ) -> String {
        var status = stat()
        (status.st_uid, status.st_mode) = (owner, mode)
        return PrivateFileError(code, path: path, status: status, user: user).description
    }

    @Test("only what sudo left in the user's home folder is to be given back with chown")
    func leftBySudo() async throws {
        try await withTemporaryFolder { folder in
            try folder.makeFolder("home")
            try folder.makeFolder("home/state")
            try folder.makeFolder("home2")
            let (home, state, other) = (folder.file("home"), folder.file("home/state"), folder.file("home2"))
            let maker = FileUser(id: 1000, home: home)
            #expect(
                words(.openFolder, state, owner: 0, for: maker)
                    == "\(state) belongs to root, not to you, perhaps because of sudo: make yourself its owner with chown"
            )
            for (path, owner, user) in [
                ("/tmp", 0, maker), ("/", 0, maker), (home, 0, maker), (other, 0, maker),
                ("\(state)/../../home2", 0, maker),
                (state, 1001, maker), (state, 1000, FileUser(id: 0, home: home)),
                (state, 0, FileUser(id: 1000, home: "/")),
                (state, 0, FileUser(id: 1000, home: nil)),
            ] as [(String, uid_t, FileUser)] {
                let name = owner == 0 ? "root" : "user \(owner)"
                #expect(
                    words(.openFolder, path, owner: owner, for: user)
                        == "\(path) belongs to \(name), not to you: ask its owner to give it to you, or use another folder"
                )
            }
            try FileManager.default.createSymbolicLink(
                atPath: folder.file("home/link"), withDestinationPath: other)
            #expect(
                words(.openFolder, folder.file("home/link"), owner: 0, for: maker).contains(
                    "ask its owner to give it to you, or use another folder"))
        }
    }

    @Test("a file of another user is to be removed, given away or left alone")
    func foreignFile() {
        let maker = FileUser(id: 1000, home: "/nonexistent")
        #expect(
            words(.notPrivate, "/srv/a", owner: 0, mode: S_IFREG | 0o644, for: maker)
                == "/srv/a belongs to root, not to you: ask its owner to remove it or give it to you, or use another file"
        )
    }

    @Test("where permission is denied, the folder's owner decides what is advised")
    func denied() {
        // No user has this number.
        let user = FileUser(id: uid_t.max - 1, home: "/nonexistent")
        let error = PrivateFileError(.unwritable, path: "/nonexistent-a/b.bin", errno: EACCES, user: user)
        #expect(!error.description.contains("chown"), "\(error)")
        let inRoot = PrivateFileError(.unwritable, path: "/etc/passwd", errno: EACCES, user: user)
        #expect(inRoot.path == "/etc/passwd" && inRoot.description.hasSuffix("or use another file"), "\(inRoot)")
        let inFolder = PrivateFileError(.unwritable, path: "/etc/nonexistent/b", errno: EACCES, user: user)
        #expect(inFolder.path == "/etc" && inFolder.description.hasSuffix("or use another folder"), "\(inFolder)")
    }

    @Test("a folder that does not exist and cannot be made is named, and HOME if it is there")
    func uncreated() {
        // No user has this number.
        let user = FileUser(id: uid_t.max - 1, home: "/etc/nonexistent/home")
        let ofHome = PrivateFileError(uncreated: "/etc/nonexistent", errno: EACCES, user: user)
        #expect(
            ofHome.description
                == "the folder of HOME, /etc/nonexistent, does not exist: set HOME or XDG_STATE_HOME")
        let other = PrivateFileError(uncreated: "/etc/4711", errno: EACCES, user: user)
        #expect(
            other.description == "the folder /etc/4711 does not exist, and cannot be created: /etc belongs to root")
        let full = PrivateFileError(uncreated: "/etc/4711", errno: ENOSPC, user: user)
        #expect(full.description.hasSuffix("does not exist, and cannot be created: No space left on device"))
        // It exists, so something above it keeps the user out.
        let hidden = PrivateFileError(uncreated: "/etc", errno: EACCES, user: user)
        #expect(!hidden.description.contains("does not exist"), "\(hidden)")
        let made = #expect(throws: PrivateFileError.self) { try PrivateFolder.open("/proc/none/a", create: true) }
        #expect(made?.description.contains("the folder /proc/none does not exist") == true, "\(made as Any)")
    }

    @Test("what a user names for reading is not to be removed")
    func onlyRead() async throws {
        try await withTemporaryFolder { folder in
            let error = #expect(throws: PrivateFileError.self) {
                try OwnedFile.contents(of: folder.path, maximumBytes: 10)
            }
            #expect(error?.code == .notPrivate && error?.kind == "a folder")
            #expect(error?.description == "\(folder.path) is a folder, not a file: use a file instead")
        }
    }

    @Test("a folder that others may write to is refused")
    func openFolder() async throws {
        try await withTemporaryFolder { folder in
            let file = PrivateFile(path: folder.file("a/file"))
            try file.write([1])
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.file("a"))
            #expect(#expect(throws: PrivateFileError.self) { try file.read() }?.code == .openFolder)
            #expect(#expect(throws: PrivateFileError.self) { try file.write([2]) }?.code == .openFolder)
        }
    }

    @Test("changes that meet are made one after the other, and none is lost")
    func updates() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.file("counter")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<25 {
                            try PrivateFile(path: path).update { old in ((old ?? []) + [7], ()) }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try PrivateFile(path: path).read()?.count == 100)
            struct Refusal: Error {}
            #expect(throws: Refusal.self) {
                try PrivateFile(path: path).update { _ -> ([UInt8]?, Void) in throw Refusal() }
            }
            #expect(try PrivateFile(path: path).read()?.count == 100)
            try PrivateFile(path: path).update { _ in (nil, ()) }
            #expect(try PrivateFile(path: path).read() == nil)
        }
    }

    @Test("a probe finds what is in the way and leaves nothing behind")
    func probe() async throws {
        try await withTemporaryFolder { folder in
            let opened = try #require(try PrivateFolder.open(folder.file("a"), create: true))
            try opened.replace("file", with: [1])
            try opened.probe("file", count: 5000)
            #expect(try opened.read("file", maximumBytes: 10) == [1])
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("a")) == ["file"])
            try FileManager.default.createSymbolicLink(
                atPath: folder.file("a/link"), withDestinationPath: folder.file("target"))
            let error = #expect(throws: PrivateFileError.self) { try opened.probe("link", count: 1) }
            #expect(error?.code == .symbolicLink)
        }
    }

    @Test("readers see whole contents while a writer replaces them")
    func atomic() async throws {
        try await withTemporaryFolder { folder in
            let file = PrivateFile(path: folder.file("contended"))
            try file.write([UInt8](repeating: 0, count: 5000))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for value in 1...60 { try file.write([UInt8](repeating: UInt8(value), count: 5000)) }
                }
                group.addTask {
                    for _ in 0..<300 {
                        let bytes = try #require(try file.read())
                        #expect(bytes.count == 5000 && bytes.allSatisfy { $0 == bytes[0] })
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
