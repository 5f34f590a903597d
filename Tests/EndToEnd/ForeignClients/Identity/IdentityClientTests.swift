// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// The simulated systems as foreign OAuth clients meet them.
@Suite("Foreign clients of the identity systems")
struct IdentityClientTests {
    @Test(
        "requests-oauthlib and Authlib sign in, renew, and understand each refusal",
        arguments: [("spid", 7), ("liferay", 6), ("oclc", 6), ("oidc", 8), ("neo", 1)])
    func libraries(provider: String, flows: Int) async throws {
        let python = try await ForeignClient.identityClients.path()
        try await withTemporaryFolder { folder in
            let identity = try await SimulatedIdentity.start(provider, in: folder)
            let finished = try await run(
                python, [Repository.path("scripts/interop/oauth-clients.py"), provider, try identity.url(provider)])
            #expect(finished.status == .exited(0), "\(finished.standardError.suffix(2000))")
            #expect(finished.standardOutput.split(separator: "\n").count == flows, "\(finished.standardOutput)")
            try await identity.process.terminate()
        }
    }
}
