// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@Suite("Commands for a provider that nobody has signed in to")
struct NotSignedInTests {
    private static let commands = [
        "whoami", "account token", "account header", "account curl -- /x", "account fetch /x", "account refresh",
        "account status", "logout",
    ]
    private static let spidCommands = [
        "account exchange --for-client other", "account exchange --type session --redirect-uri http://127.0.0.1/",
        "account web-session --redirect-uri http://127.0.0.1/",
    ]

    @Test(
        "say that nobody is signed in, and not that a setting is missing which they do not take",
        arguments: ["spid", "liferay", "oclc", "oidc", "neo"])
    func told(provider: String) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            for command in Self.commands + (provider == "spid" ? Self.spidCommands : []) {
                var words = command.split(separator: " ").map(String.init)
                words.insert(
                    contentsOf: ["--provider", provider, "--json"], at: words.firstIndex(of: "--") ?? words.count)
                let outcome = try await maker.rainctl(words)
                #expect(outcome.status == 77, "\(command): \(outcome.standardOutput)\(outcome.standardError)")
                #expect(outcome.failure?["reason"] == "not_signed_in", "\(command): \(outcome.standardOutput)")
            }
        }
    }
}
