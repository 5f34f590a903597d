// SPDX-License-Identifier: Apache-2.0
import Glibc
import IdentityProviders
import RainAccount
import RainCore
import RainHTTP
import RainKitTesting
import RainMaker
import TestSupport
import Testing

@Suite("Sessions that systemd passes to a service")
struct SystemdCredentialStoreTests {
    private let folder: TemporaryFolder
    private let store: SystemdCredentialStore

    init() throws {
        folder = try TemporaryFolder()
        store = SystemdCredentialStore(directory: folder.path)
    }

    private func provide(_ session: SavedSession, as name: String, mode: mode_t = 0o400) throws {
        try folder.write(session.serialized.revealString(), to: name)
        chmod(folder.file(name), mode)
    }

    @Test("one is found by deployment and account, and the only one of a deployment by its user name")
    func found() throws {
        #expect(try store.load(CredentialKey("lab")) == nil)
        try provide(savedSession("a"), as: "rainkit-lab")
        #expect(try store.load(CredentialKey("lab")) == savedSession("a"))
        #expect(try store.load(CredentialKey("lab", account: "dev@example.com")) == savedSession("a"))
        #expect(try store.load(CredentialKey("lab", account: "other@example.com")) == nil)
        #expect(try store.load(CredentialKey("global")) == nil)
        // With the access control list that systemd sets for the service's user, the group's bits do not describe the group.
        try provide(savedSession("b"), as: "rainkit-lab+other@example.com", mode: 0o440)
        #expect(try store.load(CredentialKey("lab", account: "other@example.com")) == savedSession("b"))
        #expect(SystemdCredentialStore(environment: [:]) == nil)
        #expect(SystemdCredentialStore(environment: ["CREDENTIALS_DIRECTORY": "relative"]) == nil)
    }

    @Test("saving and probing are refused with their own code, and nothing changes")
    func readOnly() async throws {
        try provide(savedSession("a"), as: "rainkit-lab")
        let key = try CredentialKey("lab")
        let (store, other) = (store, savedSession("b"))
        let saved = await accountError { () throws(AccountError) in
            try await store.exclusively(key, within: .seconds(120)) { access async throws(AccountError) in
                try await access.save(other)
            }
        }
        #expect(saved?.code == .storeReadOnly)
        #expect(
            await accountError { () throws(AccountError) in try await store.probe(key, within: .seconds(120)) }?.code
                == .storeReadOnly)
        #expect(try store.load(key) == savedSession("a"))
    }

    @Test("one that all may read, a link, a folder and text that is not a session are refused")
    func unreadable() async throws {
        let key = try CredentialKey("lab")
        func code() async -> AccountError.Code? {
            await accountError { () throws(AccountError) in try store.load(key) }?.code
        }
        try provide(savedSession("a"), as: "rainkit-lab", mode: 0o444)
        #expect(await code() == .storeUnreadable)
        unlink(folder.file("rainkit-lab"))
        try provide(savedSession("a"), as: "target")
        symlink(folder.file("target"), folder.file("rainkit-lab"))
        #expect(await code() == .storeUnreadable)
        unlink(folder.file("rainkit-lab"))
        mkdir(folder.file("rainkit-lab"), 0o700)
        #expect(await code() == .storeUnreadable)
        rmdir(folder.file("rainkit-lab"))
        try folder.write("{}", to: "rainkit-lab")
        chmod(folder.file("rainkit-lab"), 0o400)
        #expect(await code() == .storeUnreadable)
        // A sign-in does not change a credential.
        let error = await accountError { () throws(AccountError) in try store.load(key) }
        #expect(error?.message.contains("sign in again") == false && error?.remedies == [.exportedSession])
    }

    @Test("renewed tokens are kept in the process, and the credential does not change")
    func renewal() async throws {
        let clock = ManualWallClock()
        let http = ScriptedHTTPClient()
        let start = clock.now.seconds
        try provide(savedSession("old", received: start - 4000), as: "rainkit-sim")
        let before = try folder.read("rainkit-sim")
        let session = try AccountSession.rainMaker(
            Deployment(name: "sim", base: "http://127.0.0.1:1"), http: http, store: store, clock: clock,
            timer: ManualClock())
        let new = accessToken("new", issued: start)
        http.expect(.post, "/v1/login2", #"{"status":"success","accesstoken":"\#(new)"}"#)
        #expect(try await session.accessToken() == Secret(new))
        #expect(try await session.accessToken() == Secret(new), "without asking again")
        try http.finish()
        #expect(try folder.read("rainkit-sim") == before)
    }
}
