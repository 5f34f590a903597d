// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainAccount
import TestSupport
import Testing

@testable import RainKit

@Suite("What systemd gives a service")
struct SystemdServiceTests {
    /// A folder with files, as systemd makes it for `LoadCredential=`.
    private func folder(_ files: [String: String]) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for (name, text) in files { try folder.write(text, to: name) }
        return folder
    }

    @Test("a credential is the file's text, without one line end", arguments: ["secret word", "secret word\n"])
    func credential(text: String) throws {
        let folder = try folder(["password": text])
        let service = SystemdService(environment: ["CREDENTIALS_DIRECTORY": folder.path])
        #expect(try service.credential("password").revealString() == "secret word")
    }

    @Test("a credential that does not exist or is empty is a missing setting; one that is too long is bad data")
    func noCredential() throws {
        let folder = try folder(["empty": "\n", "long": String(repeating: "x", count: 4097)])
        let service = SystemdService(environment: ["CREDENTIALS_DIRECTORY": folder.path])
        let absent = #expect(throws: RainKitError.self) { try service.credential("password") }
        #expect(absent?.code == .usage && absent?.message.contains("LoadCredential=password:") == true)
        for (name, code) in [("empty", RainKitError.Code.usage), ("long", .badData)] {
            let error = #expect(throws: RainKitError.self) { try service.credential(name) }
            #expect(error?.code == code, "\(name)")
        }
        let outside = #expect(throws: RainKitError.self) { try SystemdService(environment: [:]).credential("password") }
        #expect(outside?.code == .usage)
    }

    @Test("the folder is the first of several, and not a link, as DynamicUser= makes it")
    func stateDirectory() throws {
        let folder = try TemporaryFolder()
        try folder.makeFolder("private/lamp")
        let real = try #require(realpath("\(folder.path)/private/lamp", nil))
        defer { free(real) }
        #expect(symlink("private/lamp", "\(folder.path)/lamp") == 0)
        let service = SystemdService(environment: ["STATE_DIRECTORY": "\(folder.path)/lamp:/elsewhere"])
        #expect(try service.stateDirectory == String(cString: real))
        let error = #expect(throws: RainKitError.self) { try SystemdService(environment: [:]).stateDirectory }
        #expect(error?.message.contains("STATE_DIRECTORY") == true)
    }

    @Test("messages arrive at the socket, each as one datagram", arguments: [false, true])
    func notify(isAbstract: Bool) throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/notify"
        let socket = try DatagramSocket(isAbstract ? "@\(path)" : path)
        let service = SystemdService(environment: ["NOTIFY_SOCKET": isAbstract ? "@\(path)" : path])
        service.notify(.ready)
        service.notify(.alive)
        service.notify(.status("two\nlines"))
        service.notify(.stopping)
        #expect(socket.received() == "READY=1")
        #expect(socket.received() == "WATCHDOG=1")
        let status = socket.received()
        #expect(status.hasPrefix("STATUS=two") && !status.contains("\n"))
        #expect(socket.received() == "STOPPING=1")
        // Nobody listens: that is not an error.
        SystemdService(environment: [:]).notify(.ready)
        SystemdService(environment: ["NOTIFY_SOCKET": "\(folder.path)/nobody"]).notify(.ready)
        SystemdService(environment: ["NOTIFY_SOCKET": "/" + String(repeating: "x", count: 200)]).notify(.ready)
    }

    @Test("of a batch, systemd hears that it works and how far it is")
    func batch() throws {
        let folder = try TemporaryFolder()
        let socket = try DatagramSocket("\(folder.path)/notify")
        let service = SystemdService(environment: ["NOTIFY_SOCKET": "\(folder.path)/notify"])
        service.report(.alive)
        service.report(.counts(BatchCounts(waiting: 2, running: 3, done: 4, failed: 1)))
        service.report(.ledgerUnreachable(LedgerError(.temporary, "no")))
        #expect(socket.received() == "WATCHDOG=1")
        #expect(socket.received() == "STATUS=4 of 10 boards done, 3 running, 1 failed")
        #expect(socket.received() == "")
    }

    @Test("a service that ends by itself passes its error on, and one that is cancelled is cancelled")
    func end() async throws {
        let service = SystemdService(environment: [:])
        try await service.run {}
        let error = await kitError {
            try await service.run { throw RainKitError(AccountError(.expired, message: "over")) }
        }
        #expect(error?.needsSignIn == true)
        let task = Task { try await service.run { try await Task.sleep(for: .seconds(3600)) } }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
