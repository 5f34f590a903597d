// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// Limits that leave a command nothing to work with.
@Suite("rainctl: what the system does not give")
struct ResourceTests {
    @Test("too few descriptors are said, at once, without advice to remove anything", arguments: 4...9)
    func descriptors(count: Int) async throws {
        try await withTemporaryFolder { folder in
            let outcome = try await run(
                "prlimit", ["--nofile=\(count)", try Executables.path("rainctl"), "whoami"],
                environment: try Maker(folder).environment, within: .seconds(20))
            #expect(outcome.status == .exited(75), "\(outcome.standardError)")
            #expect(outcome.standardError.contains("ulimit -n"))
            #expect(!outcome.standardError.contains("remove"))
        }
    }
}
