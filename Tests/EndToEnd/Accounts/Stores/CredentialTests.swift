// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

/// A service without a terminal, whose session systemd hands over.
@Suite("rainctl with a systemd credential")
struct CredentialTests {
    @Test("an exported session is all that a service needs; it is renewed in memory and stays as it is")
    func service() async throws {
        try await StoreBench.with { bench in
            #expect(try await bench.logIn().status == 0)
            let file = bench.folder.file("credentials/rainkit-sim")
            let exported = try await bench.maker.rainctl("account", "export", "--credential", file, "--json")
            #expect(exported.status == 0)
            #expect(SecretHunt.mode(of: file) == 0o600)
            #expect(!exported.standardOutput.contains("ey"), "no token on the way")
            chmod(file, 0o400)
            let before = try readFile(file)

            let environment = [
                "CREDENTIALS_DIRECTORY": bench.folder.file("credentials"),
                "XDG_STATE_HOME": bench.folder.file("service"),
            ]
            let who = try await bench.maker.rainctl(["whoami", "--json"], environment: environment)
            #expect(who.document?["user_name"] == .string(SimulatedCloud.user))
            let renewed = try await bench.maker.rainctl(["account", "refresh", "--json"], environment: environment)
            #expect(renewed.status == 0, "\(renewed.standardOutput)")
            #expect(renewed.document?["store"] == "systemd")
            #expect(try readFile(file) == before)
            #expect(access(bench.folder.file("service"), F_OK) != 0, "nothing else was written")
            let other = try await bench.maker.rainctl(
                ["whoami", "--json", "--account", "other@example.com"], environment: environment)
            #expect(other.status == 77)
        }
    }
}
