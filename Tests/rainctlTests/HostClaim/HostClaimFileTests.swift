// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import RainKit
import TestSupport
import Testing

@testable import rainctl

@Suite("rainctl device claim --host: files and services")
struct HostClaimFileTests {
    @Test("a file that is there keeps its bytes, also behind a link: it may be the only copy of a key")
    func existing() async throws {
        try await withTemporaryFolder { folder in
            try folder.write("an older image", to: "old.bin")
            #expect(symlink(folder.file("old.bin"), folder.file("link.bin")) == 0)
            for name in ["old.bin", "link.bin"] {
                let failure = #expect(throws: CommandFailure.self) { _ = try NewPrivateFile(folder.file(name)) }
                #expect(failure?.status == .cannotWrite)
                #expect(try folder.read("old.bin") == "an older image")
                #expect(try folder.read(name) == "an older image", "the link is there, too")
            }
        }
    }

    @Test("a file that nothing was written into is taken away again, and another is kept, for its owner alone")
    func new() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.file("new.bin")
            _ = try NewPrivateFile(path)
            #expect(access(path, F_OK) != 0)
            try folder.write("image", to: "source.bin")
            try NewPrivateFile(path).take(contentsOf: folder.file("source.bin"))
            #expect(try folder.read("new.bin") == "image")
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        }
    }

    @Test("a deployment without a claim service is told so before a board is looked for, with what to run")
    func noService() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let cloud = try await SimulatedCloud.start(in: folder)
            try await maker.signIn(to: cloud)
            let outcome = try await maker.rainctl(
                "device", "claim", "--host", "--port", folder.file("nowhere"), "--python", "/nonexistent/python",
                "--json")
            outcome.expectFailure(78, "config", says: "rainctl profile add sim --base-url http")
            #expect(outcome.failure?["reason"] == "unsupported")
            #expect(outcome.failure?["message"]?.string?.contains("--claim-url URL") == true)
        }
    }

    @Test("a Python that cannot be run is named with its option, in one sentence after the other")
    func noPython() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let cloud = try await SimulatedCloud.start(in: folder)
            try await maker.signIn(to: cloud, claims: true)
            let outcome = try await maker.rainctl(
                "device", "claim", "--host", "--port", "/dev/null", "--python", "/nonexistent/python", "--json")
            outcome.expectFailure(69, "unavailable", says: "--python")
            let words = outcome.failure?["message"]?.string ?? ""
            #expect(words.contains("/nonexistent/python cannot be run") && !words.contains(".."), "\(words)")
        }
    }
}
