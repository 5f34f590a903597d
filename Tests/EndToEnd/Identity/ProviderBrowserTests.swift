// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit
import TestSupport
import Testing

/// The same browser, a real Chromium, at the sign-in pages of every simulated identity system.
@Suite("Signing in at each provider's page", .browser, .serialized)
struct ProviderBrowserTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var provider: String
        var system: String
        var options: @Sendable (_ url: String) -> [String]
        var userID: String
        var testDescription: String { provider }
    }

    static let cases: [Case] = [
        Case(
            provider: "spid", system: "spid",
            options: { ["--base-url", $0, "--client-id", "app-1", "--client-secret-file", "SECRET"] }, userID: "1001"),
        Case(
            provider: "liferay", system: "liferay",
            options: { ["--base-url", $0, "--client-id", "screens-1", "--mode", "oauth2Redirect"] }, userID: "1001"),
        Case(
            provider: "oclc", system: "oclc",
            options: {
                [
                    "--base-url", $0 + "/oauth2", "--client-id", "wskey-1", "--mode", "implicit", "--scope", "WMS_NCIP",
                    "--set",
                    "contextInstitutionId=128807", "--set", "authenticatingInstitutionId=128807",
                ]
            }, userID: "p-ada"),
        Case(
            provider: "oidc", system: "oidc", options: { ["--set", "issuer=\($0)", "--client-id", "native-1"] },
            userID: ""),
        Case(provider: "neo", system: "neo", options: { ["--base-url", $0, "--client-id", "native-1"] }, userID: ""),
    ]

    /// Those whose users a cloud of one's own may know by their tokens.
    static let ownClouds = cases.filter { $0.provider != "neo" }

    static func withScene(
        _ one: Case, _ body: (Maker, [String], HeadlessBrowser, SimulatedIdentity) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let simulated = try await SimulatedIdentity.start(one.system, in: folder)
            folder.writePrivately(Array("app-1-secret".utf8), to: "client-secret")
            let maker = try Maker(folder)
            var options =
                ["login", "--provider", one.provider, "--store", "file", "--json", "--timeout", "60"]
                + one.options(try simulated.url(one.system)).map { $0 == "SECRET" ? folder.file("client-secret") : $0 }
            // Liferay compares the port, too: one that is free now is registered.
            if one.provider == "liferay" {
                let redirect = "http://127.0.0.1:\(try LoopbackServer.assignablePort())/callback"
                try await simulated.control("liferay", "settings", ["redirect": .string(redirect)])
                options += ["--redirect-uri", redirect]
            }
            try await HeadlessBrowser.withFreshPage { [options] browser in
                try await body(maker, options, browser, simulated)
            }
        }
    }

    /// The address that rainctl wants to be opened.
    static func page(of child: ChildProcess) async throws -> String {
        while let line = try await child.errorLine() {
            let text = line.split(separator: " ").last.map(String.init) ?? ""
            if text.hasPrefix("http://") { return text }
        }
        throw ProcessError("no address: \(child.standardError) \(child.standardOutput)")
    }

    /// Signs in and consents, as a person does.
    static func signIn(_ browser: HeadlessBrowser, at url: String) async throws {
        try await browser.open(url)
        try await browser.type(SimulatedIdentity.user, into: "#username")
        try await browser.type(SimulatedIdentity.password, into: "#password")
        try await browser.click("#allow")
        _ = try await browser.text(containing: "id=\"application\"")
        try await browser.click("#allow")
    }

    private func expectSignedIn(_ maker: Maker, _ child: ChildProcess, _ one: Case) async throws {
        #expect(
            try await child.wait() == .exited(0), "\(child.standardOutput) \(child.standardError)")
        let who = try await maker.rainctl("whoami", "--provider", one.provider, "--json")
        #expect(who.status == 0, "\(who.standardOutput)")
        if !one.userID.isEmpty { #expect(who.document?["user_id"] == .string(one.userID), "\(who.standardOutput)") }
    }

    @Test("in Chromium, which comes back to the loopback listener; fragments too", arguments: cases)
    func loopback(one: Case) async throws {
        try await Self.withScene(one) { maker, options, browser, _ in
            let child = try await maker.start(options + ["--no-browser", "--redirect", "loopback"])
            defer { child.kill() }
            try await Self.signIn(browser, at: try await Self.page(of: child))
            _ = try await browser.text(containing: "Almost done")
            #expect(try await !browser.address.contains("access_token"))
            try await expectSignedIn(maker, child, one)
        }
    }

    @Test("without a browser here: the address that one ends at elsewhere is handed in", arguments: cases)
    func paste(one: Case) async throws {
        try await Self.withScene(one) { maker, options, browser, _ in
            let child = try await maker.start(options + ["--paste", "--redirect", "loopback"], input: .open)
            defer { child.kill() }
            try await Self.signIn(browser, at: try await Self.page(of: child))
            let address = try await browser.address { $0.contains("/callback") }
            child.write(address + "\n")
            child.closeInput()
            try await expectSignedIn(maker, child, one)
        }
    }

    @Test("a denial there is distinguished", arguments: cases)
    func denied(one: Case) async throws {
        try await Self.withScene(one) { maker, options, browser, _ in
            let child = try await maker.start(options + ["--no-browser", "--redirect", "loopback"])
            defer { child.kill() }
            try await browser.open(try await Self.page(of: child))
            try await browser.type(SimulatedIdentity.user, into: "#username")
            try await browser.type(SimulatedIdentity.password, into: "#password")
            try await browser.click("#allow")
            _ = try await browser.text(containing: "id=\"application\"")
            try await browser.click("#deny")
            #expect(try await child.wait() == .exited(77), "\(child.standardOutput)")
            let error = try JSONValue(parsing: Array(child.standardOutput.utf8))["error"]
            #expect(error?["reason"] == "access_denied", "\(child.standardOutput)")
        }
    }
}
