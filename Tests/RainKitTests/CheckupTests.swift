// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainDBus
import RainMaker
import TestSupport
import Testing

@testable import RainKit

@Suite("Checkup")
struct CheckupTests {
    @Test("a disk is full below four megabytes, and never if its space exceeds what can be counted")
    func room() {
        #expect(!Checkup.hasRoom(1023, blocksOf: 4096) && Checkup.hasRoom(1024, blocksOf: 4096))
        #expect(!Checkup.hasRoom(0, blocksOf: 4096) && Checkup.hasRoom(1 << 60, blocksOf: 4096))
    }

    @Test("the fix for an absent bus depends on whether this is a container")
    func busCommand() {
        let absent = DBusError(.unavailable, message: "D-Bus cannot be reached.")
        #expect(Checkup.busCommand(after: absent, isContainer: false) == "sudo systemctl start dbus")
        #expect(Checkup.busCommand(after: absent, isContainer: true).contains("--volume /run/dbus/system_bus_socket:"))
        let library = DBusError(.unavailable, message: "libsystemd.so.0 is not there.")
        #expect(Checkup.busCommand(after: library, isContainer: true) == "sudo apt install libsystemd0")
    }

    @Test(
        "reads versions of BlueZ",
        arguments: [
            ("bluetoothctl: 5.66\n", "5.66"), ("5.9", "5.9"), ("", nil), ("bluetoothctl: x.y", nil), ("5.6.7", nil),
        ])
    func version(text: String, version: String?) {
        #expect(Checkup.version(in: text).map { "\($0.0).\($0.1)" } == version)
    }

    @Test(
        "the command for a private file is run only if nobody else may have written the file",
        arguments: [(0o644, true), (0o640, true), (0o666, false), (0o620, false)] as [(mode_t, Bool)])
    func exposedFiles(mode: mode_t, isRun: Bool) async throws {
        try await withTemporaryFolder { folder in
            let path = folder.file("deployments.json")
            try folder.write("{}", to: "deployments.json")
            chmod(folder.path, 0o700)
            chmod(path, mode)
            let finding = Finding.fail("profile", "unreadable_profiles", "x").mended(privateFile: path, else: nil)
            #expect(finding.fix == (isRun ? .program(["chmod", "600", path]) : .command("chmod 600 \(path)")))
        }
    }

    @Test("a client without transports and files has findings of its account, in the order of the checks")
    func order() async throws {
        var configuration = RainKitConfiguration.inMemory(
            deployment: try Deployment(name: "bare", base: "https://cloud.example"))
        configuration.transports = []
        configuration.environment = ["SSL_CERT_FILE": "/nonexistent/ca.pem"]
        var checkup = Checkup(RainKitClient(configuration))
        checkup.checks.subtract([.cloud, .qr])
        let findings = await checkup.run()
        #expect(findings.map(\.reason) == ["no_ca_file", "no_claim_service", "not_signed_in"])
        #expect(findings.map(\.check) == ["environment", "profile", "session"])
        #expect(
            findings.map(\.fix) == [.command("unset SSL_CERT_FILE"), .remedy(.claimService), .remedy(.signIn)])
        #expect(findings.allSatisfy { $0.remedies.isEmpty && $0.user == nil })
    }

    @Test("the fix for a named account that is not signed in names it, if its name is an e-mail address")
    func named() async {
        for (name, user) in [("ada@example.com", "ada@example.com"), ("work", nil)] {
            var configuration = RainKitConfiguration.inMemory()
            configuration.account = name
            var checkup = Checkup(RainKitClient(configuration))
            checkup.checks = [.session]
            let finding = await checkup.run().first
            #expect(finding?.reason == "not_signed_in" && finding?.fix == .remedy(.signIn) && finding?.user == user)
            #expect(finding?.message.contains("The account \(name) is not signed in") == true)
        }
    }

    @Test("a folder that others may write to is closed by a program that a caller may run")
    func openFolder() async throws {
        try await withTemporaryFolder { folder in
            try folder.makeFolder("state")
            chmod(folder.file("state"), 0o777)
            var checkup = Checkup(RainKitClient(RainKitConfiguration(state: folder.file("state"))))
            checkup.checks = [.files]
            let finding = await checkup.run().first
            #expect(finding?.reason == "open_folder" && finding?.state == .fail)
            #expect(finding?.fix == .program(["chmod", "700", folder.file("state")]))
            chmod(folder.file("state"), 0o700)
            #expect(await checkup.run().map(\.reason) == ["ok"])
        }
    }
}
