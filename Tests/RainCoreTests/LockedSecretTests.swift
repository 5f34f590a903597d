// SPDX-License-Identifier: Apache-2.0
import RainCore
import TestSupport
import Testing

@Suite("Secrets and swap")
struct LockedSecretTests {
    @Test("the pages of a secret are locked in memory, where the limit allows any")
    func locked() throws {
        let secrets = (0..<64).map { _ in Secret(Array(repeating: UInt8(0x5A), count: 4096)) }
        let kilobytes = try number(behind: "VmLck:", in: "/proc/self/status")
        let limit = try? number(behind: "Max locked memory", in: "/proc/self/limits")
        // Nil where it is unlimited.
        #expect(kilobytes > 0 || (limit ?? .max) < 4096, "\(kilobytes) kB locked, \(limit ?? -1) bytes allowed")
        #expect(secrets.allSatisfy { $0.count == 4096 })
    }

    /// The first number behind a word, in one of the kernel's lists.
    private func number(behind word: String, in path: String) throws -> Int {
        let line = try #require(try readFile(path).split(separator: "\n").first { $0.hasPrefix(word) })
        return try #require(line.dropFirst(word.count).split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) })
    }

    @Test("a secret without bytes works, and so do more secrets than may be locked")
    func beyond() {
        #expect(Secret([UInt8]()).isEmpty)
        let many = (0..<4096).map { Secret(Array(repeating: UInt8(truncatingIfNeeded: $0), count: 4096)) }
        #expect(many.allSatisfy { secret in secret.reveal { $0.count } == 4096 })
    }
}
