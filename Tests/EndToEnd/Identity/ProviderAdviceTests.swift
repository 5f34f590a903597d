// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import RainKit
import TestSupport
import Testing

@testable import rainctl

@Suite("What is said at an identity provider names its own commands")
struct ProviderAdviceTests {
    @Test(
        "who is not signed in there is sent there",
        arguments: [
            ("spid", "login --provider spid\n"), ("spid-stage", "login --provider spid --environment stage\n"),
            ("liferay", "login --provider liferay\n"), ("oidc-company", "login --provider oidc-company\n"),
        ])
    func notSignedIn(name: String, advice: String) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            try folder.makeFolder("config/rainkit/providers")
            folder.writePrivately(
                Array(#"{"schemaVersion":1,"extends":"oidc","id":"oidc-company"}"#.utf8),
                to: "config/rainkit/providers/oidc-company.json")
            try folder.makeFolder("state/rainkit")
            #expect(chmod(folder.file("state/rainkit"), 0o700) == 0)
            folder.writePrivately(
                Array(
                    #"{"schemaVersion":1,"providers":{"spid-stage":{"provider":"spid","environment":"stage","clientID":"x"}}}"#
                        .utf8),
                to: "state/rainkit/providers.json")
            for words in [["whoami"], ["account", "token"], ["account", "refresh"]] {
                let outcome = try await maker.rainctl(words + ["--provider", name])
                #expect(outcome.status == 77, "\(outcome.standardError)")
                #expect(outcome.standardError.contains("Run: rainctl \(advice)"), "\(outcome.standardError)")
                #expect(!outcome.standardError.contains("login USER"))
            }
            let rainMaker = try await maker.rainctl("whoami")
            #expect(rainMaker.standardError.contains("Run: rainctl login USER"), "\(rainMaker.standardError)")
        }
    }
}
