// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// Files are small and lie where a newcomer looks for them.
@Suite("File sizes")
struct FileSizeTests {
    @Test("half of the files have at most 70 lines, and nine in ten at most 150")
    func sizes() throws {
        let files = SourceTree.files("Sources") + SourceTree.files("firmware-sim")
        try #require(files.count > 500)
        // The newline that ends the last line begins no other.
        let lengths = try files.map { try SourceTree.lines($0).count - 1 }.sorted()
        #expect(lengths[lengths.count / 2] <= 70)
        #expect(lengths[lengths.count * 9 / 10] <= 150)
    }

    @Test("no folder holds more than 60 Swift files of which no folder name tells what they are")
    func folders() throws {
        let files = SourceTree.files("Sources") + SourceTree.files("firmware-sim") + SourceTree.files("Tests")
        // Folders whose names say nothing count for the one they lie in.
        let silent: Set<Substring> = ["Internal", "Support", "Other", "Misc", "Common", "Shared", "Extensions"]
        var counts: [String: Int] = [:]
        for file in files {
            var folder = file.split(separator: "/").dropLast()
            while let last = folder.last, silent.contains(last) { folder.removeLast() }
            counts[folder.joined(separator: "/"), default: 0] += 1
        }
        for (folder, count) in counts { #expect(count <= 60, "\(folder) holds \(count) files: give its parts names") }
    }
}
