// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// The simulators as others' tests use them: pytest starts them by its plugin, and Espressif's programs and bleak meet them there.
@Suite("pytest-rainkit")
struct PytestPluginTests {
    @Test("esp_prov, esp-rainmaker-cli and bleak pass on its fixtures, without a radio")
    func clients() async throws {
        try await withTemporaryFolder { folder in
            let programs = try Executables.path("cloud-sim").split(separator: "/").dropLast().joined(separator: "/")
            for client in [ForeignClient.officialClient, .pytest] { _ = try await client.path() }
            let outcome = try await run(
                Repository.path("scripts/pytest-plugin"), ["/\(programs)"], environment: ["TMPDIR": folder.path],
                within: .waitLimit * 4)
            #expect(outcome.status == .exited(0), "\(outcome.standardOutput)\(outcome.standardError)")
            let closing = outcome.standardOutput.split(separator: "\n").last ?? ""
            #expect(closing.contains("6 passed in "), "\(closing)")
        }
    }
}
