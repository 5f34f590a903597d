// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainKit
import TestSupport
import Testing

@testable import rainctl

@Suite("The file that an image is written to")
struct NewPrivateFileTests {
    @Test("one that is there already stays as it is, and so does what a link leads to")
    func existing() async throws {
        try await withTemporaryFolder { folder in
            try folder.write("the only copy of a key", to: "image.bin")
            symlink(folder.file("image.bin"), folder.file("link.bin"))
            for name in ["image.bin", "link.bin"] {
                let error = #expect(throws: CommandFailure.self) { try NewPrivateFile(folder.file(name)) }
                #expect(error?.status == .cannotWrite)
            }
            #expect(try folder.read("image.bin") == "the only copy of a key")
            #expect(try folder.read("link.bin") == "the only copy of a key")
        }
    }

    @Test("a new one is removed again where nothing came to stand in it")
    func unfinished() async throws {
        try await withTemporaryFolder { folder in
            _ = try NewPrivateFile(folder.file("new.bin"))
            #expect(access(folder.file("new.bin"), F_OK) != 0)
        }
    }
}
