// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// The hosted sign-in as `curl` sees it: a foreign browser, and a foreign application.
@Suite struct HostedPageTests {
    private static func curl(_ arguments: [String]) async throws -> String {
        let finished = try await run("curl", ["-s", "--max-time", "10"] + arguments)
        #expect(finished.status == .exited(0), "\(finished.standardError)")
        return finished.standardOutput
    }

    @Test("curl signs in on the page, follows the relay, and fetches tokens", arguments: ["", "/oauth2"])
    func journey(root: String) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(in: folder)
            let relay = "\(cloud.api)/welcome.html"
            let client = "1h7ujqjs8140n17v0ahb4n51m2"
            // As the official client writes it.
            let page = """
                \(cloud.api)\(root)/authorize?&redirect_uri=\(relay)&response_type=CODE&client_id=\(client)\
                &scope=aws.cognito.signin.user.admin%20email%20openid%20phone%20profile&state=port:49152
                """
            let form = try await Self.curl([page])
            #expect(form.contains("<form method=\"post\""))

            let signedIn = try await Self.curl([
                "-o", "/dev/null", "-w", "%{http_code} %{redirect_url}", "--data-urlencode",
                "username=\(SimulatedCloud.user)", "--data-urlencode", "password=\(SimulatedCloud.password)", page,
            ])
            #expect(signedIn.hasPrefix("302 \(relay)?code="))
            let welcome = try await Self.curl([String(signedIn.dropFirst(4))])
            let code = try #require(signedIn.split(separator: "code=").last?.split(separator: "&").first)
            #expect(welcome.contains("0;url=http://localhost:49152/?code=\(code)\""))

            let reply = try await Self.curl([
                "-d", "grant_type=authorization_code", "-d", "client_id=\(client)", "-d", "code=\(code)",
                "--data-urlencode", "redirect_uri=\(relay)", "\(cloud.api)\(root)/token",
            ])
            let tokens = try JSONValue(parsing: Array(reply.utf8))
            let access = try #require(tokens["access_token"]?.string)
            let profile = try await Self.curl(["-H", "Authorization: \(access)", "\(cloud.api)/v1/user2"])
            #expect(profile.contains(SimulatedCloud.user))

            let denied = try await Self.curl([
                "-o", "/dev/null", "-w", "%{redirect_url}", "-d", "action=deny", page + "&identity_provider=GitHub",
            ])
            #expect(denied.hasPrefix("\(relay)?error=access_denied&") && denied.hasSuffix("&state=port%3A49152"))
            try await cloud.process.terminate()
        }
    }

    @Test("clients and identity providers are what the command says")
    func options() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(
                arguments: [
                    "--oauth-client", "mine=http://127.0.0.1/cb,myapp://done", "--identity-provider", "Corp",
                    "--code-ttl", "1",
                ], in: folder)
            let page = "\(cloud.api)/authorize?response_type=code&client_id=mine&redirect_uri="
            #expect(try await Self.curl([page + "myapp://done"]).contains("provider-Corp"))
            #expect(try await !Self.curl([page + "myapp://done"]).contains("GitHub"))
            for wrong in ["http://127.0.0.1:1/", "\(cloud.api)/welcome.html"] {
                #expect(try await Self.curl([page + wrong]).contains("id=\"failure\""))
            }
            try await cloud.process.terminate()
        }
    }
}
