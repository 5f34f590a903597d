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
                "prlimit", ["--nofile=\(count)", try Executables.path("rainctl"), "whoami", "--json"],
                environment: try Maker(folder).environment)
            #expect(outcome.status == .exited(75), "\(outcome.standardError)")
            let said = outcome.standardOutput + outcome.standardError
            #expect(said.contains("ulimit -n") && said.contains("\"reason\": \"no_descriptors\""), "\(said)")
            #expect(!said.contains("remove"))
        }
    }

    /// In MB: from where the system's loader gets the libraries in (it speaks for itself below) to where there is plenty.
    @Test(
        "too little memory is said, at once, and where there is enough for a start there is enough for the command",
        arguments: Array(stride(from: 100, through: 320, by: 20)))
    func memory(megabytes: Int) async throws {
        try await withTemporaryFolder { folder in
            let outcome = try await run(
                "prlimit", ["--as=\(megabytes * 1_000_000)", try Executables.path("rainctl"), "whoami", "--json"],
                environment: try Maker(folder).environment)
            guard outcome.status != .exited(75) else {
                let said = outcome.standardOutput
                return #expect(said.contains("ulimit -v") && said.contains("\"reason\": \"no_threads\""), "\(said)")
            }
            #expect(outcome.status == .exited(77), "\(outcome.standardError)")
            #expect(!outcome.standardError.contains("remove"))
        }
    }
}
