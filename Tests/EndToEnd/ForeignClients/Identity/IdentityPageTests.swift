// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// The simulated systems' pages as a real browser meets them.
@Suite("Pages of the identity systems", .browser, .serialized)
struct IdentityPageTests {
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
    func pages(provider: String, page: String) async throws {
        try await withTemporaryFolder { folder in
            let identity = try await SimulatedIdentity.start(provider, in: folder)
            let back = "http://127.0.0.1:9/callback"
            for (answer, expected) in [("allow", "code="), ("deny", "error=access_denied")] {
                try await HeadlessBrowser.withFreshPage { browser in
                    try await browser.open(try identity.url(provider) + page + back)
                    try await browser.type(SimulatedIdentity.user, into: "#username")
                    try await browser.type(SimulatedIdentity.password, into: "#password")
                    try await browser.click("#allow")
                    _ = try await browser.text(containing: "id=\"application\"")
                    try await browser.click("#\(answer)")
                    let end = try await browser.address { $0.hasPrefix(back) }
                    #expect(end.contains(expected) || end.contains("#access_token=tk_"), "\(end)")
                    #expect(end.contains("state=x"), "\(end)")
                    #expect(try await browser.complaints() == [])
                }
                // SPiD asks a person once only.
                if provider == "spid" { break }
            }
            try await identity.process.terminate()
        }
    }
}
