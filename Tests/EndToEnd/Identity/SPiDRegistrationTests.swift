// SPDX-License-Identifier: Apache-2.0
import RainHTTP
import RainHTTPCurl
import RainJSON
import RainKit
import TestSupport
import Testing

/// Document 001: "After the user logs in, or registers and verifies their account, the browser redirects the user back to the calling app".
@Suite("Registering at SPiD")
struct SPiDRegistrationTests {
    private func withDesk(
        _ body: (Maker, _ base: String, _ login: [String], TemporaryFolder) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let simulated = try await SimulatedIdentity.start("spid", in: folder)
            for (name, text) in [
                ("app", "app-1-secret"), ("new", "planted-password"), ("ada", SimulatedIdentity.password),
            ] {
                folder.writePrivately(Array(text.utf8), to: name)
            }
            let base = try simulated.url("spid")
            let login = [
                "--provider", "spid", "--base-url", base, "--client-id", "app-1", "--client-secret-file",
                folder.file("app"), "--json",
            ]
            try await body(try Maker(folder), base, login, folder)
        }
    }

    private var robot: PageRobot {
        PageRobot(
            http: CurlHTTPClient(), user: "new@example.com", password: "planted-password",
            redirect: "http://127.0.0.1:", registers: true)
    }

    @Test("a person without an account registers at the sign-in page, confirms the address, and is signed in")
    func signedIn() async throws {
        try await withDesk { maker, _, login, _ in
            let child = try await maker.start(
                ["login"] + login + ["--store", "file", "--no-browser", "--redirect", "loopback"])
            defer { child.kill() }
            let back = try await robot.walk(from: try await ProviderBrowserTests.page(of: child))
            _ = try await CurlHTTPClient().send(HTTPRequest(method: .get, url: back))
            #expect(try await child.wait() == .exited(0), "\(child.standardError)\(child.standardOutput)")
            let who = try await maker.rainctl("whoami", "--provider", "spid", "--json")
            #expect(who.document?["user_id"] == "1004", "\(who.standardOutput)")
            #expect(who.document?["email"] == "new@example.com" || who.document?["user_name"] == "new@example.com")
        }
    }

    @Test("an unknown user gets the page's address, registers there, and then signs in")
    func link() async throws {
        try await withDesk { maker, base, login, folder in
            let password = ["--password-file", folder.file("new")]
            let unknown = try await maker.rainctl(["login", "new@example.com"] + login + password)
            let page = base + "/flow/signup?client_id=app-1"
            #expect(unknown.status == 77 && unknown.failure?["reason"] == "unknown_user", "\(unknown.standardOutput)")
            #expect(unknown.failure?["message"]?.string?.contains(page) == true, "\(unknown.standardOutput)")
            // Once somebody has signed in, the list of providers has the same address.
            let ada = try await maker.rainctl(
                ["login", SimulatedIdentity.user] + login + ["--password-file", folder.file("ada"), "--store", "file"])
            #expect(ada.status == 0, "\(ada.standardOutput)")
            let listed = try await maker.rainctl("account", "providers", "spid")
            #expect(listed.standardOutput.contains("  register: \(page)\n"), "\(listed.standardOutput)")

            _ = try await robot.walk(from: page)
            let known = try await maker.rainctl(["login", "new@example.com"] + login + password + ["--no-save"])
            #expect(known.status == 0 && known.document?["user_id"] == "1004", "\(known.standardOutput)")
        }
    }
}
