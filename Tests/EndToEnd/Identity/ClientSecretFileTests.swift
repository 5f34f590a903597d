// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import RainKit
import TestSupport
import Testing

@Suite("A client's secret in a file")
struct ClientSecretFileTests {
    private static let secret = "app-1-secret"

    private func login(_ simulated: SimulatedIdentity, _ folder: TemporaryFolder) throws -> [String] {
        [
            "login", SimulatedIdentity.user, "--provider", "spid", "--base-url", try simulated.url("spid"),
            "--client-id",
            "app-1", "--client-secret-file", folder.file("client"), "--mode", "password", "--password-file",
            folder.file("ada"), "--store", "file", "--json", "-vv", "--log-file", folder.file("log"),
        ]
    }

    @Test("is its owner's alone, and is shown nowhere")
    func modes() async throws {
        try await withTemporaryFolder { folder in
            let simulated = try await SimulatedIdentity.start("spid", in: folder)
            folder.writePrivately(Array((Self.secret + "\n").utf8), to: "client")
            folder.writePrivately(Array(SimulatedIdentity.password.utf8), to: "ada")
            let maker = try Maker(folder)
            let login = try login(simulated, folder)
            for mode: mode_t in [0o644, 0o604, 0o640, 0o602] {
                #expect(chmod(folder.file("client"), mode) == 0)
                let refused = try await maker.rainctl(login)
                #expect(refused.status == 65, "\(String(mode, radix: 8)): \(refused.standardOutput)")
                #expect(refused.failure?["reason"] == "store_unreadable")
                #expect(refused.failure?["message"]?.string?.contains("chmod 600") == true, "\(refused.standardOutput)")
            }
            // Nothing was sent for those.
            #expect(try simulated.journal.entries(where: [:]).isEmpty)
            for mode: mode_t in [0o600, 0o400] {
                #expect(chmod(folder.file("client"), mode) == 0)
                let outcome = try await maker.rainctl(login)
                #expect(outcome.status == 0, "\(outcome.standardOutput)")
                #expect(!(outcome.standardOutput + outcome.standardError).contains(Self.secret))
            }
            // Later commands need it, too, and look again.
            #expect(chmod(folder.file("client"), 0o644) == 0)
            let later = try await maker.rainctl("account", "refresh", "--provider", "spid", "--json")
            #expect(later.status == 65, "\(later.standardOutput)")
            let kept = try await run("grep", ["-rl", "--exclude=client", Self.secret, folder.path])
            #expect(kept.standardOutput.isEmpty, "\(kept.standardOutput)")
        }
    }
}
