// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import TestSupport
import Testing

@testable import RainKit

@Suite("Claiming over the cable: files")
struct ClaimFolderTests {
    @Test("folders of ended runs are removed; used ones, kept ones and those of others stay")
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

    @Test("an existing file keeps its bytes, also behind a link: it may be the only copy of a key")
    func existing() async throws {
        try await withTemporaryFolder { folder in
            try folder.write("an older image", to: "old.bin")
            #expect(symlink(folder.file("old.bin"), folder.file("link.bin")) == 0)
            for name in ["old.bin", "link.bin"] {
                let error = #expect(throws: RainKitError.self) { _ = try NewPrivateFile(folder.file(name)) }
                #expect(error?.code == .cannotWrite)
                #expect(try folder.read("old.bin") == "an older image")
                #expect(try folder.read(name) == "an older image", "the link is there, too")
            }
        }
    }

    @Test("a file that stayed empty is removed, and another is kept, readable only by its owner")
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
}
