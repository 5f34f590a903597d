// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainKit
import TestSupport
import Testing

/// Files that people edit, and those of Espressif's client.
@Suite("Settings and imported sessions, fuzzed")
struct StoredFileFuzzTests {
    @Test("deployments are read or refused; what is read can be used")
    func deployments() async throws {
        try await withOwnProcessInSoak {
            let folder = try TemporaryFolder()
            let file = DeploymentFile(path: folder.file("deployments.json"))
            let examples = [
                #"{"schemaVersion":1,"current":"sim","deployments":[{"name":"sim","base_url":"http://127.0.0.1:1","claim_url":"http://127.0.0.1:2","auth_url":"https://a.example","client_id":"c","ca_file":"/ca.pem"}]}"#,
                #"{"schemaVersion":1,"deployments":[{"name":"web","base_url":"https://b.example/x","web_sign_in":{"authorize_path":"/a","token_path":"/t","scope":["openid"],"relay_url":"https://c.example/","relay_extended_state":true,"loopback_path":"/cb","scheme_redirect":"com.example:/cb"}}]}"#,
                #"{"schemaVersion":1,"deployments":[]}"#,
            ].map { Array($0.utf8) }
            let report = fuzz("deployments", from: examples, seed: 71) { input in
                folder.writePrivately(input, to: "deployments.json")
                guard let content = try? file.load() else { return }
                for deployment in content.added {
                    #expect((try? content.deployment(named: deployment.name)) == deployment)
                }
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }

    @Test("a session of the official client's is taken over with an access token, or refused")
    func importedSessions() async throws {
        try await withOwnProcessInSoak {
            let folder = try TemporaryFolder()
            try folder.makeFolder("profiles")
            try folder.write("sim\n", to: "profiles/current_profile")
            let files = ["profiles/sim_config.json", "profiles/profiles.json"]
            let examples = [
                #"{"idtoken":"a.eyJjdXN0b206dXNlcl9pZCI6IngifQ.c","refreshtoken":"r","accesstoken":"a.eyJleHAiOjF9.c"}"#,
                #"{"profiles":{},"custom_profiles":{"sim":{"host":"http://127.0.0.1:1/v1/","claim_base_url":"http://127.0.0.1:2","token_url":"http://127.0.0.1:3/token","client_id":"c"}}}"#,
            ].map { Array($0.utf8) }
            var (round, taken) = (0, 0)
            let report = fuzz("official client", from: examples, seed: 72) { input in
                // One file is as it should be, the other is not.
                for (index, file) in files.enumerated() {
                    folder.writePrivately(index == round % 2 ? input : examples[index], to: file)
                }
                round += 1
                guard let found = try? OfficialClientFolder(path: folder.path).load() else { return }
                taken += 1
                #expect(!found.session.tokens.access.isEmpty)
            }
            #expect(taken > fuzzRounds / 50)
            #expect(report.failures == [], "\(report.complaint)")
        }
    }
}
