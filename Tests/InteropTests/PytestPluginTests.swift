// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// The simulators as others' tests use them: pytest starts them by its plugin, and Espressif's programs and bleak meet them there.
@Suite("pytest-rainkit")
struct PytestPluginTests {
    @Test("esp_prov, esp-rainmaker-cli and bleak pass on its fixtures in under a minute, without a radio")
    func clients() async throws {
        try await withTemporaryFolder { folder in
            let programs = try Executables.path("cloud-sim").split(separator: "/").dropLast().joined(separator: "/")
            // It installs into the tree's own .build, where others may wait for their turn; pytest itself takes half a minute.
            let outcome = try await run(
                Repository.path("scripts/pytest-plugin"), ["/\(programs)"], environment: ["TMPDIR": folder.path],
                within: .seconds(180))
            #expect(outcome.status == .exited(0), "\(outcome.standardOutput)\(outcome.standardError)")
            let closing = outcome.standardOutput.split(separator: "\n").last ?? ""
            #expect(closing.contains("6 passed in "), "\(closing)")
        }
    }
}
