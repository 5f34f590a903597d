// SPDX-License-Identifier: Apache-2.0
import RainKit
import RainMaker
import TestSupport
import Testing

/// The files of earlier runs, as a full disk or another program may have left them.
@Suite("What earlier runs left in files, fuzzed")
struct RecordFuzzTests {
    private static let pending = [
        #"[{"node":"n1","user":"u1","stage":"applied","peer":"p","label":"l","secret":"s","request":"r","tags":["a:b"],"metadata":"{\"a\":1}"}]"#,
        #"[{"node":"n2","user":"u1","stage":"online","peer":"p","signature":"30450221","request":"r"},{"node":"n3","user":"u2","stage":"associated","peer":"p","signature":[1,2,255],"request":"r"}]"#,
        #"[{"node":"n4","user":"u1","stage":"a later one","peer":"p"}]"#, "[]",
    ].map { Array($0.utf8) }

    private static let claimed = [#"[{"node":"n1"},{"node":"n2","peer":"p"}]"#, "[]"].map { Array($0.utf8) }

    @Test("pending mappings are read or refused, and the file is not changed")
    func pendingMappings() async throws {
        try await withOwnProcessInSoak {
            let folder = try TemporaryFolder()
            let store = FilePendingMappings(path: folder.file("pending"))
            var read = 0
            let report = await fuzz("pending mappings", from: Self.pending, seed: 61) { input in
                folder.writePrivately(input, to: "pending")
                guard let mappings = try? await store.all() else { return }
                read += mappings.count
                let again = try? await store.all()
                #expect(again == mappings)
            }
            #expect(read > fuzzRounds / 50)
            #expect(report.failures == [], "\(report.complaint)")
        }
    }

    @Test("an unreadable file of claimed boards counts as empty")
    func claimedBoards() async throws {
        try await withOwnProcessInSoak {
            let folder = try TemporaryFolder()
            let store = FileClaimedBoards(path: folder.file("claimed"))
            var refused = 0
            let report = await fuzz("claimed boards", from: Self.claimed, seed: 62) { input in
                folder.writePrivately(input, to: "claimed")
                if (try? await store.all()) == nil { refused += 1 }
            }
            #expect(refused == 0)
            #expect(report.failures == [], "\(report.complaint)")
        }
    }
}
