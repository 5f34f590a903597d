// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit
import TestSupport
import Testing

@Suite("A provider that compares the redirect's port")
struct LiferayPortTests {
    private static let login = [
        "login", "--provider", "liferay", "--client-id", "screens-1", "--mode", "oauth2Redirect", "--no-browser",
        "--redirect", "loopback",
    ]

    @Test("without a port nothing is opened: it has to be registered first")
    func missing() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            for more in [[], ["--paste"]] {
                let outcome = try await maker.rainctl(
                    Self.login + ["--base-url", "http://127.0.0.1:1", "--json"] + more)
                #expect(outcome.status == 64, "\(outcome.standardOutput)")
                #expect(outcome.failure?["reason"] == "missing_parameter")
                let message = outcome.failure?["message"]?.string ?? ""
                #expect(message.contains("register http://127.0.0.1:PORT/callback"), "\(message)")
                #expect(message.contains("--callback-port"), "\(message)")
            }
        }
    }

    @Test("the given port is in the redirect URI, by either option")
    func given() async throws {
        try await withTemporaryFolder { folder in
            let simulated = try await SimulatedIdentity.start("liferay", in: folder)
            let maker = try Maker(folder)
            let port = try LoopbackServer.assignablePort()
            for option in [
                ["--callback-port", "\(port)"], ["--redirect-uri", "http://127.0.0.1:\(port)/callback"],
            ] {
                let child = try await maker.start(
                    Self.login + ["--base-url", try simulated.url("liferay"), "--timeout", "60"] + option)
                defer { child.kill() }
                let page = try await ProviderBrowserTests.page(of: child)
                #expect(page.contains("redirect_uri=http%3A%2F%2F127.0.0.1%3A\(port)%2Fcallback&"), "\(page)")
                _ = try await child.terminate(2)
            }
        }
    }
}
