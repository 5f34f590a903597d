// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@Suite("The pages beside a sign-in")
struct ProviderPagesTests {
    private func links(_ provider: String, _ maker: Maker) async throws -> (text: String, links: JSONValue?) {
        let text = try await maker.rainctl("account", "providers", provider)
        #expect(text.status == 0)
        let list = try await maker.rainctl("account", "providers", "--json")
        let entry = list.document?["providers"]?.array?.first { $0["name"]?.string == provider }
        return (text.standardOutput, entry?["links"])
    }

    @Test("RainMaker's terms, privacy and documentation have their addresses, and the program its version")
    func rainMaker() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let (text, links) = try await links("rainmaker", maker)
            let pages = [
                "terms": "https://rainmaker.espressif.com/docs/terms-of-use.html",
                "privacy": "https://rainmaker.espressif.com/docs/privacy-policy.html",
                "help": "https://rainmaker.espressif.com/docs/get-started.html",
            ]
            for (name, page) in pages {
                #expect(links?[name]?.string == page)
                #expect(text.contains("  \(name): \(page)"), "\(text)")
            }
            let version = try await maker.rainctl("--version")
            #expect(version.status == 0)
            #expect(version.standardOutput.split(separator: ".").count == 3, "\(version.standardOutput)")
            #expect(version.standardOutput.allSatisfy { $0.isNumber || $0 == "." || $0 == "\n" })
            // Where they are is said where somebody signs in.
            let help = try await maker.rainctl("login", "--help")
            let words = help.standardOutput.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(words.contains("rainctl account providers"))
        }
    }

    @Test("OCLC's keys are managed in its Service Configuration")
    func oclc() async throws {
        try await withTemporaryFolder { folder in
            let (text, links) = try await links("oclc", try Maker(folder))
            #expect(links?["help"]?.string == "https://www.worldcat.org/config/")
            #expect(text.contains("  help: https://www.worldcat.org/config/"), "\(text)")
        }
    }
}
