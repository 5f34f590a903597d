// SPDX-License-Identifier: Apache-2.0
import Glibc
import IdentityProviders
import RainAccount
import RainCore
import Synchronization
import TestSupport
import Testing

private final class Flag: Sendable {
    let isSet = Mutex(false)
}

@Suite("Sessions in files")
struct FileCredentialStoreTests {
    private let folder: TemporaryFolder
    private let path: String
    private let store: FileCredentialStore
    private let key: CredentialKey

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("state/rainkit/accounts")
        store = FileCredentialStore(folder: path)
        key = try CredentialKey("global")
    }

    private func save(_ session: SavedSession) async throws(AccountError) {
        try await store.exclusively(key, within: .seconds(120)) { access async throws(AccountError) in
            try await access.save(session)
        }
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
    }

    private var file: String { path + "/global.json" }

    @Test("a session is loaded as it was saved, from a 0600 file in 0700 folders, whatever the umask")
    func roundTrip() async throws {
        #expect(try store.load(key) == nil)
        #expect(access(path, F_OK) != 0, "looking makes no folder")
        try await save(savedSession("a"))
        try await save(savedSession("b"))
        #expect(try store.load(key) == savedSession("b"))
        #expect(mode(file) == 0o600)
        #expect(mode(path) == 0o700)
        #expect(mode(folder.file("state")) == 0o700)
        try await store.exclusively(key, within: .seconds(120)) { access async throws(AccountError) in
            try await access.remove()
        }
        #expect(try store.load(key) == nil)
    }

    @Test("a file that a crash left half-written is never read, and is removed by the next save")
    func leftOver() async throws {
        try await save(savedSession("a"))
        let temporary = path + "/.global.json.new"
        try folder.write("{\"half", to: "state/rainkit/accounts/.global.json.new")
        #expect(try store.load(key) == savedSession("a"))
        try await save(savedSession("b"))
        #expect(try store.load(key) == savedSession("b"))
        #expect(access(temporary, F_OK) != 0)
    }

    @Test("symbolic links are refused: as the file, as the lock, as the folder")
    func symbolicLinks() async throws {
        try await save(savedSession("a"))
        rename(file, folder.file("elsewhere"))
        symlink(folder.file("elsewhere"), file)
        #expect(await accountError { () throws(AccountError) in try store.load(key) }?.code == .storeUnreadable)
        let refused = await accountError { () throws(AccountError) in try await save(savedSession("b")) }
        #expect(refused?.code == .cannotStore)
        #expect(refused?.message.contains("symbolic link") == true)
        let probed = await accountError { () throws(AccountError) in try await store.probe(key, within: .seconds(120)) }
        #expect(probed?.code == .cannotStore)
        #expect(try folder.read("elsewhere") == savedSession("a").serialized.revealString())
        unlink(file)

        unlink(path + "/global.lock")
        symlink(folder.file("elsewhere"), path + "/global.lock")
        #expect(
            await accountError { () throws(AccountError) in try await save(savedSession("c")) }?.code == .cannotStore)

        symlink(path, folder.file("link"))
        let linked = FileCredentialStore(folder: folder.file("link"))
        #expect(await accountError { () throws(AccountError) in try linked.load(key) }?.code == .cannotStore)
    }

    @Test("a file that others may read, and a folder that others may write to, is refused with a remedy")
    func permissions() async throws {
        try await save(savedSession("a"))
        chmod(file, 0o640)
        let readable = await accountError { () throws(AccountError) in try store.load(key) }
        #expect(readable?.code == .storeUnreadable)
        #expect(readable?.message.contains("chmod 600") == true)
        chmod(file, 0o600)
        chmod(path, 0o770)
        let writable = await accountError { () throws(AccountError) in try store.load(key) }
        #expect(writable?.code == .cannotStore)
        #expect(writable?.message.contains("chmod 700") == true)
    }

    @Test(
        "any other content of the file is an error, not a crash",
        arguments: ["", "{}", "\u{0}", "<html>", "[[[["])
    func corrupted(text: String) async throws {
        try await save(savedSession("a"))
        try folder.write(text, to: "state/rainkit/accounts/global.json")
        let error = await accountError { () throws(AccountError) in try store.load(key) }
        #expect(error?.code == .storeUnreadable)
        #expect(error?.message.contains(file) == true)
        try await save(savedSession("b"))
        #expect(try store.load(key) == savedSession("b"))
    }

    @Test("a folder or a pipe instead of the file is refused without waiting for it")
    func notAFile() async throws {
        try await save(savedSession("a"))
        unlink(file)
        mkfifo(file, 0o600)
        #expect(await accountError { () throws(AccountError) in try store.load(key) }?.code == .storeUnreadable)
        unlink(file)
        mkdir(file, 0o700)
        #expect(await accountError { () throws(AccountError) in try store.load(key) }?.code == .storeUnreadable)
    }

    @Test(
        "a place that cannot be written to is an error that names it",
        arguments: ["/proc/rainkit", "/dev/null/x", "relative/x"])
    func unwritable(path: String) async {
        let store = FileCredentialStore(folder: path)
        let error = await accountError { () throws(AccountError) in
            try await store.exclusively(key, within: .seconds(120)) { access async throws(AccountError) in
                try await access.save(savedSession("a"))
            }
        }
        #expect(error?.code == .cannotStore || error?.code == .invalidConfiguration)
        #expect(error?.message.contains(path.prefix(5)) == true)
    }

    @Test("a caller that does not get the lock in time learns who holds it")
    func turn() async throws {
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let (store, key) = (store, key)
        let holder = Task {
            await accountError { () throws(AccountError) in
                try await store.exclusively(key, within: .seconds(120)) { _ throws(AccountError) in
                    start.finish()
                    for await _ in gate {}
                }
            }
        }
        for await _ in started {}
        let other = FileCredentialStore(folder: path)
        let error = await accountError { () throws(AccountError) in
            try await other.exclusively(key, within: .milliseconds(20)) { _ throws(AccountError) in }
        }
        #expect(error?.code == .timeout)
        #expect(error?.message.contains("global.lock") == true)
        let elsewhere = try CredentialKey("china")
        try await other.exclusively(elsewhere, within: .milliseconds(20)) { _ throws(AccountError) in }
        opener.finish()
        #expect(await holder.value == nil)
        try await other.exclusively(key, within: .seconds(120)) { _ throws(AccountError) in }
    }

    @Test("readers never get half of a session while writers are active")
    func atomicity() async throws {
        try await save(savedSession("0"))
        let (store, key) = (store, key)
        let done = Flag()
        await withTaskGroup(of: Int.self) { group in
            group.addTask {
                for number in 1...60 {
                    try? await store.exclusively(key, within: .seconds(120)) { access async throws(AccountError) in
                        try await access.save(
                            savedSession("\(number % 2)" + String(repeating: "x", count: number % 2 * 5000)))
                    }
                }
                done.isSet.withLock { $0 = true }
                return 0
            }
            group.addTask {
                var broken = 0
                while !done.isSet.withLock({ $0 }) {
                    if (try? store.load(key)) == nil { broken += 1 }
                    await Task.yield()
                }
                return broken
            }
            for await broken in group { #expect(broken == 0) }
        }
    }
}
