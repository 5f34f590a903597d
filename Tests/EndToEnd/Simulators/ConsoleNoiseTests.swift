// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@Suite("Other tasks' log on the board's console")
struct ConsoleNoiseTests {
    static let answer = "52050801aa0100"

    private func exchanges(_ options: [String], count: Int) async throws -> [String] {
        try await withTemporaryFolder { folder in
            let link = folder.file("tty")
            var said: [String] = []
            try await withBoard(["--console", link, "--security", "0", "--seed", "5"] + options) { _, _ in
                let peer = try SerialPeer(link)
                try await peer.read(until: "\r\n\n>> ")
                for _ in 0..<count { said.append(try await peer.exchange("prov-session 0 5203a20100")) }
            }
            return said
        }
    }

    @Test("comes between the bytes of an answer, too, where that is asked for")
    func inside() async throws {
        let said = try await exchanges(["--console-noise", "inside"], count: 10)
        #expect(said.contains { !$0.contains(Self.answer) })
        for text in said {
            let without = text.replacing(#/\u{1B}\[0;3.m[IWE] \([0-9]+\) .*?\u{1B}\[0m\r\n/#, with: "")
            #expect(without.contains("\r\r\n\(Self.answer)\r\r\n"), "\(text)")
        }
    }

    @Test("comes between lines only, otherwise, and not at all where none is wanted")
    func between() async throws {
        let usual = try await exchanges([], count: 10)
        #expect(usual.allSatisfy { $0.contains("\r\r\n\(Self.answer)\r\r\n") })
        #expect(usual.contains { $0.contains("\u{1B}[0m") })
        let quiet = try await exchanges(["--console-noise", "none"], count: 10)
        for text in quiet {
            // What the board says of itself stays.
            let without = text.replacing(#/\u{1B}\[0;32mI \([0-9]+\) app_network: Secured .*?\u{1B}\[0m\r\n/#, with: "")
            #expect(without == "prov-session 0 5203a20100\r\n\r\r\n\(Self.answer)\r\r\n\n>> ")
        }
    }
}
