// SPDX-License-Identifier: Apache-2.0
import Testing

@Suite("Messages with remedies")
struct RemedyTextTests {
    /// Words that a message must not have if its error has the remedy, whose text says the same.
    private static let said = [
        (".anyOtherTransport", "another transport"), (".networkName", "name of the network"),
        (".networkName", "network's name"), (".boardName", "name the board"), (".signIn", "sign in again"),
        (".parameter", "; set "),
    ]

    @Test("do not give the advice of the remedy as well, which follows them")
    func saidOnce() throws {
        var count = 0
        for file in SourceTree.files("Sources") {
            let lines = try SourceTree.lines(file)
            for (index, line) in lines.enumerated() where line.contains("remedies") {
                guard let start = lines[...index].lastIndex(where: { $0.contains("message") }), index - start < 8
                else { continue }
                let text = lines[start...index].joined(separator: " ").replacing(/"\s*\+\s*"/, with: "").lowercased()
                for (remedy, words) in Self.said where line.contains(remedy) {
                    count += 1
                    #expect(!text.contains(words), "\(file): \(text)")
                }
            }
        }
        #expect(count > 15)
    }
}
