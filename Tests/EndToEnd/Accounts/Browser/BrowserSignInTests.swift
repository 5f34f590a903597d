// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import RainHTTPCurl
import RainJSON
import RainKit
import TestSupport
import Testing

/// Sign-in through a real browser, from the command to a session that works.
@Suite("rainctl login in a browser")
struct BrowserSignInTests {
    @Test(
        "headless Chromium signs in by loopback and by relay; denial, other requests and a second callback are distinguished",
        .browser)
    func chromium() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(in: folder)
            try await HeadlessBrowser.withFreshPage { browser in
                try await loopback(browser, folder, cloud)
                try await denied(browser, folder, cloud)
                try await relay(browser, folder, cloud, [])
                try await relay(browser, folder, cloud, ["--relay-extended-state"])
                try await chooser(browser, folder, cloud)
            }
            // PKCE was asked for and checked each time.
            #expect(try cloud.journal.entries().contains { $0["outcome"] == "denied" })
        }
    }

    /// With strays before, and the same answer once more afterwards.
    private func loopback(_ browser: HeadlessBrowser, _ folder: TemporaryFolder, _ cloud: SimulatedCloud) async throws {
        let maker = try await BrowserMaker(folder, cloud)
        let child = try await maker.login(["--idp", "github", "--no-browser", "--redirect", "loopback", "--json"])
        let address = try await BrowserMaker.address(in: child)
        let port = try #require(loopbackPort(in: address))
        try await browser.open("http://127.0.0.1:\(port)/favicon.ico")
        _ = try await browser.text(containing: "Nothing here")
        try await browser.open("http://127.0.0.1:\(port)/callback?code=stray&state=wrong")
        _ = try await browser.text(containing: "Not accepted")
        // The other family hears it too.
        try await browser.open("http://[::1]:\(port)/callback?code=stray&state=wrong")
        _ = try await browser.text(containing: "Not accepted")

        try await browser.open(address)
        _ = try await browser.text(containing: "GitHub (simulated)")
        try await browser.click("#allow")
        _ = try await browser.text(containing: "Almost done")
        let outcome = try await maker.end(of: child)
        #expect(outcome.document?["user_name"]?.string == "github@example.com")
        let callback = try await browser.address
        try await maker.expectSession(outcome, secrets: [try BrowserMaker.code(in: callback)])

        // The same callback again, as by a reload: nobody listens any more, and the session stays.
        await #expect(throws: HeadlessBrowser.Failure.self) { try await browser.open(callback) }
        #expect(try await maker.maker.rainctl("whoami").status == 0)
    }

    private func denied(_ browser: HeadlessBrowser, _ folder: TemporaryFolder, _ cloud: SimulatedCloud) async throws {
        let maker = try await BrowserMaker(folder, cloud)
        let child = try await maker.login(["--idp", "google", "--no-browser", "--redirect", "loopback", "--json"])
        try await browser.open(BrowserMaker.address(in: child))
        try await browser.click("#deny")
        _ = try await browser.text(containing: "Not signed in")
        let outcome = try await maker.end(of: child)
        #expect(outcome.status == 77)
        #expect(outcome.failure?["reason"]?.string == "access_denied")
        #expect(outcome.failure?["message"]?.string?.contains("The user denied access") == true)
    }

    private func relay(
        _ browser: HeadlessBrowser, _ folder: TemporaryFolder, _ cloud: SimulatedCloud, _ more: [String]
    ) async throws {
        let maker = try await BrowserMaker(
            folder, cloud, provider: "signinwithapple", profile: ["--relay-url", cloud.api + "/welcome.html"] + more)
        let child = try await maker.login(["--idp", "apple", "--browser"])
        let address = try await BrowserMaker.address(in: child)
        #expect(address.contains("&state=port%3A"))
        try await browser.open(address)
        _ = try await browser.text(containing: "SignInWithApple (simulated)")
        try await browser.click("#allow")
        _ = try await browser.text(containing: "Almost done")
        let callback = try await browser.address
        #expect(callback.hasPrefix("http://localhost:"))
        // The relay hands a state on only if it is more than the port.
        #expect(callback.contains("state=") == !more.isEmpty)
        let outcome = try await maker.end(of: child)
        #expect(outcome.standardOutput.contains("Signed in as signinwithapple@example.com"))
        try await maker.expectSession(outcome, secrets: [try BrowserMaker.code(in: callback)])
    }

    /// Without a provider the page itself asks: by a password, here.
    private func chooser(_ browser: HeadlessBrowser, _ folder: TemporaryFolder, _ cloud: SimulatedCloud) async throws {
        let maker = try await BrowserMaker(folder, cloud)
        let child = try await maker.login(["--browser", "--json"])
        try await browser.open(BrowserMaker.address(in: child))
        try await browser.type(SimulatedCloud.user, into: "#username")
        try await browser.type(SimulatedCloud.password, into: "#password")
        try await browser.click("#allow")
        _ = try await browser.text(containing: "Almost done")
        let outcome = try await maker.end(of: child)
        #expect(outcome.document?["user_name"]?.string == SimulatedCloud.user)
    }

    @Test("$BROWSER gets the address, which holds neither verifier nor code")
    func opened() async throws {
        try await withTemporaryFolder { folder in
            let page = try HostedPage()
            var maker = try await BrowserMaker(folder, page)
            try folder.write(
                "#!/bin/sh\nprintf '%s' \"$1\" > '\(folder.file("opened.part"))'\nmv '\(folder.file("opened.part"))' '\(folder.file("opened"))'\n",
                to: "browser.sh")
            #expect(chmod(folder.file("browser.sh"), 0o755) == 0)
            maker.environment["BROWSER"] = folder.file("browser.sh")
            let child = try await maker.login(["--idp", "github", "--browser"])
            let address = try await BrowserMaker.address(in: child)
            let redirect = try await maker.redirect(from: address)
            _ = try await CurlHTTPClient().send(HTTPRequest(method: .get, url: redirect))
            try await maker.expectSession(try await maker.end(of: child))
            #expect(try folder.read("opened") == address)
        }
    }

    @Test("a code that was used up ends with its own cause; --timeout bounds the wait")
    func faults() async throws {
        try await withTemporaryFolder { folder in
            let page = try HostedPage()
            let maker = try await BrowserMaker(folder, page)
            var child = try await maker.login(["--idp", "github", "--redirect", "loopback", "--no-browser", "--json"])
            var redirect = try await maker.redirect(from: BrowserMaker.address(in: child))
            let code = try #require(page.requests[0].code)
            redirect = redirect.split(separator: code, omittingEmptySubsequences: false).joined(
                separator: "somebody-elses-code")
            _ = try await CurlHTTPClient().send(HTTPRequest(method: .get, url: redirect))
            let outcome = try await maker.end(of: child)
            #expect(outcome.status == 77)
            #expect(outcome.failure?["reason"]?.string == "invalid_grant")
            #expect(try await maker.maker.rainctl("whoami").status == 77)
            try maker.expectNoSecrets(outcome)

            child = try await maker.login(
                ["--idp", "github", "--redirect", "loopback", "--no-browser", "--json", "--timeout", "5s"])
            let late = try await maker.end(of: child)
            #expect(late.status == 16)
            #expect(late.failure?["reason"]?.string == "no_answer")

            child = try await maker.login(["--idp", "github", "--redirect", "loopback", "--no-browser", "--json"])
            _ = try await BrowserMaker.address(in: child)
            #expect(try await child.terminate(SIGINT) == .exited(130))
        }
    }

    @Test("an unusable store, a missing page and a taken port are reported before anything is opened")
    func before() async throws {
        try await withTemporaryFolder { folder in
            let page = try HostedPage()
            var maker = try await BrowserMaker(folder, page)
            let login = ["login", "--idp", "github", "--redirect", "loopback", "--json"]
            let taken = try LoopbackServer { _ in }
            var outcome = try await maker.maker.rainctl(login + ["--callback-port", "\(taken.port)"])
            #expect(outcome.status == 69)
            #expect(outcome.failure?["reason"]?.string == "cannot_listen")

            for way in ["relay", "scheme"] {
                outcome = try await maker.maker.rainctl(["login", "--idp", "github", "--redirect", way, "--json"])
                #expect(outcome.status == 78, "\(way)")
            }
            _ = try await maker.maker.rainctl("profile", "add", "bare", "--base-url", page.url)
            outcome = try await maker.maker.rainctl(login + ["--profile", "bare"])
            #expect(outcome.status == 78)

            maker.environment["XDG_STATE_HOME"] = "/proc/nowhere"
            let child = try await maker.login(["--idp", "github", "--redirect", "loopback", "--json"])
            let unusable = try await maker.end(of: child)
            #expect(unusable.status == 73)
            #expect(!unusable.standardError.contains("http://"))
            #expect(page.requests.isEmpty)
        }
    }

    @Test("without a terminal nobody is asked: the error names the ways that there are")
    func noTerminal() async throws {
        try await withTemporaryFolder { folder in
            let page = try HostedPage()
            let maker = try await BrowserMaker(folder, page)
            for arguments in [
                ["--idp", "github"], ["--idp", "github", "--no-browser"], ["--browser", "--no-input", "--paste"],
            ] {
                let outcome = try await maker.maker.rainctl(["login", "--json"] + arguments)
                if arguments.contains("--paste") {
                    // An empty input has no address in it.
                    #expect(outcome.status == 16)
                } else {
                    #expect(outcome.status == 64)
                    #expect(outcome.failure?["reason"]?.string == "nobody_to_ask")
                }
            }
            for arguments in [
                ["--browser", "--no-browser"], ["--paste", "--callback-port", "1"], ["user", "--idp", "github"],
            ] {
                #expect(try await maker.maker.rainctl(["login"] + arguments).status == 64, "\(arguments)")
            }
        }
    }
}

/// The port in the redirect URI of a sign-in page's address.
private func loopbackPort(in address: String) -> Int? {
    guard let start = address.range(of: "redirect_uri=http%3A%2F%2F127.0.0.1%3A") else { return nil }
    return Int(address[start.upperBound...].prefix { $0.isNumber })
}
