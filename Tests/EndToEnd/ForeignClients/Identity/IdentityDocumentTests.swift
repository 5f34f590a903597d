// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// The simulated systems as curl meets them, by the requests that the systems' own documents print.
@Suite("The identity systems' documents")
struct IdentityDocumentTests {
    private static func follow(_ script: String, _ provider: String) async throws -> [String] {
        try await withTemporaryFolder { folder in
            let identity = try await SimulatedIdentity.start(provider, in: folder)
            let finished = try await run(Repository.path("scripts/interop/\(script)"), [try identity.url(provider)])
            #expect(finished.status == .exited(0), "\(finished.standardError)")
            try await identity.process.terminate()
            return finished.standardOutput.split(separator: "\n").map(String.init)
        }
    }

    @Test("SPiD: sign-in, exchange of a code and of a session, and logout, as the mobile documents print them")
    func spid() async throws {
        let steps = try await Self.follow("spid-documents.sh", "spid")
        #expect(steps.count == 9 && steps.last == "logged out", "\(steps)")
    }

    @Test("Liferay: basic, cookie and OAuth 2.0, as the Login Screenlet uses them")
    func liferay() async throws {
        let steps = try await Self.follow("liferay-documents.sh", "liferay")
        #expect(steps.count == 8 && steps.last == "OAuth 2.0 by redirect", "\(steps)")
    }

    @Test("OCLC: both examples of the sample application, and the signed renewal that it warns of")
    func oclc() async throws {
        let steps = try await Self.follow("oclc-documents.sh", "oclc")
        #expect(steps.count == 7 && steps.last == "client credentials at the current service", "\(steps)")
    }

    @Test("RainMaker Neo: sign-in, renewal, reuse and sign-out")
    func neo() async throws {
        let steps = try await Self.follow("neo-documents.sh", "neo")
        #expect(steps.count == 5 && steps.last == "a refusal has a message", "\(steps)")
    }
}
