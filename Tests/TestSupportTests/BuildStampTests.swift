// SPDX-License-Identifier: Apache-2.0
import Glibc
import Testing

@testable import TestSupport

@Suite("The stamp of a build")
struct BuildStampTests {
    private static let files: [(path: String, modified: BuildStamp.Time)] = [
        ("Package.swift", 10), ("Sources/RainKit/RainKit.swift", 30), ("firmware-sim/DeviceCore/Board.swift", 20),
    ]

    @Test("programs that were built after the last change may be tested", arguments: [30, 31])
    func current(began: BuildStamp.Time) {
        #expect(BuildStamp(began: began).problem(files: Self.files) == nil)
    }

    @Test("a file that has changed since then is named, with what helps", arguments: [0, 29])
    func changed(began: BuildStamp.Time) {
        #expect(
            BuildStamp(began: began).problem(files: Self.files)
                == "Sources/RainKit/RainKit.swift has changed since the programs under test were built: run scripts/test, which builds first."
        )
    }

    @Test("without a stamp nothing may be tested")
    func missing() throws {
        #expect(BuildStamp(began: nil).problem(files: [])?.contains("run scripts/test") == true)
        #expect(BuildStamp(in: try TemporaryFolder().path).began == nil)
    }

    @Test("the files are those that the programs are built from, hidden ones excepted")
    func files() throws {
        let folder = try TemporaryFolder()
        try folder.makeFolder("Sources/RainKit/.hidden")
        try folder.makeFolder("firmware-sim/Host")
        try folder.makeFolder("Tests")
        for name in [
            "Package.swift", "README.md", "Sources/RainKit/A.swift", "Sources/RainKit/.hidden/B.swift",
            "firmware-sim/Host/C.swift", "Tests/D.swift", "built-for-tests",
        ] { try folder.write("", to: name) }
        let found = try BuildStamp.files(of: folder.path)
        #expect(
            found.map(\.path).sorted() == ["Package.swift", "Sources/RainKit/A.swift", "firmware-sim/Host/C.swift"])
        // 2001, 1 ns after a full second.
        var times = [timespec(tv_sec: 1_000_000_000, tv_nsec: 1), timespec(tv_sec: 1_000_000_000, tv_nsec: 1)]
        #expect(utimensat(AT_FDCWD, folder.file("built-for-tests"), &times, 0) == 0)
        #expect(BuildStamp(in: folder.path).began == 1_000_000_000_000_000_001)
        #expect(BuildStamp(in: folder.path).problem(files: found) != nil)
    }
}
