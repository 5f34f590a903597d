// SPDX-License-Identifier: Apache-2.0
import RainKit
import TestSupport
import Testing

@Suite("Files of boards, fuzzed")
struct BatchFileFuzzTests {
    @Test("broken files are read or refused, always the same way")
    func fuzzed() async throws {
        try await withOwnProcessInSoak {
            var read = 0
            let rounds = max(fuzzRounds, 10_000)
            let report = fuzz(
                "files of boards", from: BatchFileTests.samples, rounds: rounds, seed: 71
            ) { input in
                func outcome() -> String {
                    do throws(BatchFileError) {
                        return try BatchFile(input).entries.map(\.description).joined(separator: "\n")
                    } catch {
                        return error.description
                    }
                }
                guard let file = try? BatchFile(input) else { return }
                read += 1
                #expect(file.entries.count <= input.count)
                #expect(outcome() == file.entries.map(\.description).joined(separator: "\n"))
            }
            #expect(read > rounds / 50)
            #expect(report.failures == [], "\(report.complaint)")
        }
    }

    @Test("random bytes are read or refused")
    func random() async throws {
        try await withOwnProcessInSoak("random") {
            var generator = SeededGenerator(seed: 72)
            for round in 0..<max(fuzzRounds, 10_000) {
                let bytes = (0..<Int.random(in: 0...200, using: &generator)).map { _ in
                    UInt8.random(in: 0...255, using: &generator)
                }
                let heads = [[], Array("name,transport,pop\n".utf8), [0xFF, 0xFE], Array("{\"name\":".utf8)]
                if let file = try? BatchFile(heads[round % heads.count] + bytes) { #expect(!file.entries.isEmpty) }
            }
        }
    }
}
