// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// The Python package `rainkit`, which calls the C library, against the simulators.
@Suite("The Python package")
struct PythonPackageTests {
    @Test("its types pass mypy --strict, and its functions pass their tests with the library of this build")
    func tests() async throws {
        try await withTemporaryFolder { folder in
            let programs = try Executables.path("librainkit-c.so").split(separator: "/").dropLast()
            _ = try await ForeignClient.pythonTools.path()
            let outcome = try await run(
                Repository.path("scripts/python-package"), ["/\(programs.joined(separator: "/"))"],
                environment: ["TMPDIR": folder.path], within: .waitLimit * 4)
            #expect(outcome.status == .exited(0), "\(outcome.standardOutput)\(outcome.standardError)")
            let closing = outcome.standardOutput.split(separator: "\n").last ?? ""
            #expect(closing.contains(" passed in ") && !closing.contains("skipped"), "\(closing)")
        }
    }
}
