import JSON
import TestSupport
import Testing

/// The simulated systems as foreign OAuth clients and a real browser meet them.
@Suite("Foreign clients of the identity systems")
struct IdentityClientTests {
    @Test(
        "requests-oauthlib and Authlib sign in, renew, and understand each refusal",
        arguments: [("spid", 7), ("liferay", 6), ("oclc", 6), ("oidc", 8), ("neo", 1)])
    func libraries(provider: String, flows: Int) async throws {
        let python = try await Self.python()
        try await withTemporaryFolder { folder in
            let identity = try await SimulatedIdentity.start(provider, in: folder)
            let finished = try await run(
                python, [Repository.path("scripts/interop/oauth-clients.py"), provider, try identity.url(provider)])
            #expect(finished.status == .exited(0), "\(finished.standardError.suffix(2000))")
            #expect(finished.standardOutput.split(separator: "\n").count == flows, "\(finished.standardOutput)")
            try await identity.process.terminate()
        }
    }

    @Test(
        "Chromium shows the pages, signs in, and is sent back with what was asked for",
        arguments: [
            ("spid", "/login?client_id=app-1&state=x&redirect_uri="),
            (
                "oidc",
                """
                /authorize?client_id=native-1&response_type=code&scope=openid&state=x&code_challenge_method=S256\
                &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&redirect_uri=
                """
            ),
            (
                "neo",
                """
                /oauth2/authorize?client_id=native-1&response_type=code&scope=openid&state=x&code_challenge_method=S256\
                &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&redirect_uri=
                """
            ),
            (
                "oclc",
                """
                /oauth2/authorizeCode?client_id=wskey-1&authenticatingInstitutionId=128807&contextInstitutionId=128807\
                &response_type=token&scope=WMS_NCIP&state=x&redirect_uri=
                """
            ),
            (
                "liferay",
                """
                /o/oauth2/authorize?client_id=screens-1&response_type=code&state=x&code_challenge_method=S256\
                &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&redirect_uri=
                """
            ),
        ])
    func browser(provider: String, page: String) async throws {
        try await withTemporaryFolder { folder in
            let identity = try await SimulatedIdentity.start(provider, in: folder)
            let back = "http://127.0.0.1:9/callback"
            for (answer, expected) in [("allow", "code="), ("deny", "error=access_denied")] {
                let address = try identity.url(provider) + page + back
                let finished = try await run(
                    "python3",
                    [
                        Repository.path("scripts/interop/browser.py"), address, answer, SimulatedIdentity.user,
                        SimulatedIdentity.password,
                    ], environment: ["TMPDIR": folder.path])
                let end = finished.standardOutput
                #expect(
                    end.hasPrefix(back) && (end.contains(expected) || end.contains("#access_token=tk_"))
                        && end.contains("state=x"), "\(end)")
                #expect(finished.standardError == "[]\n", "what Chromium complains about")
                // SPiD asks once only.
                if provider == "spid" { break }
            }
            try await identity.process.terminate()
        }
    }

    /// A Python that has the clients.
    static func python() async throws -> String {
        let finished = try await run(Repository.path("scripts/identity-clients"), within: .seconds(600))
        guard finished.status == .exited(0), let path = finished.standardOutput.split(separator: "\n").last else {
            throw ProcessError("the clients could not be installed: \(finished.standardError.suffix(2000))")
        }
        return String(path)
    }
}
