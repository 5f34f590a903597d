// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainKit
import TestSupport
import Testing

@testable import rainctl

@Suite("rainctl device claim --host: what fails costs no key")
struct HostClaimFailureTests {
    @Test("folders of runs that are gone are removed; one in use, one that is kept and those of others stay")
    func folders() async throws {
        try await withTemporaryFolder { folder in
            let state = folder.file("state")
            let used = try ClaimFolder(below: state, run: "a")
            try used.write("rows.csv", Secret("key of a"))
            var kept = try ClaimFolder(below: state, run: "b")
            try kept.write("image.bin", Secret("key of b"))
            kept.keep()
            #expect(kept.path("image.bin") == "\(state)/claims/kept-b/image.bin" && kept.has("image.bin"))
            for name in ["run-c", "0123456789ab"] {
                try folder.makeFolder("state/claims/\(name)")
                chmod(folder.file("state/claims/\(name)"), 0o700)
                for file in ["rows.csv", ".rows.csv.new", "image.bin"] {
                    folder.writePrivately(Array("key".utf8), to: "state/claims/\(name)/\(file)")
                }
            }
            let next = try ClaimFolder(below: state, run: "d")
            next.remove()
            let left = try filesBelow(folder.file("state/claims")).sorted()
            let others = ["", "/.rows.csv.new", "/image.bin", "/rows.csv"].map { "0123456789ab" + $0 }
            #expect(left == others + ["kept-b", "kept-b/image.bin", "run-a", "run-a/rows.csv"])
            withExtendedLifetime(used) {}
        }
    }
}
