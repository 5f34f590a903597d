// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import RainKit
import TestSupport
import Testing

@testable import rainctl

@Suite("rainctl device claim --host: files and services")
struct HostClaimFileTests {
    @Test("a file that is there keeps its bytes, also behind a link: it may be the only copy of a key")
    func existing() async throws {
        try await withTemporaryFolder { folder in
            try folder.write("an older image", to: "old.bin")
            #expect(symlink(folder.file("old.bin"), folder.file("link.bin")) == 0)
            for name in ["old.bin", "link.bin"] {
                let failure = #expect(throws: CommandFailure.self) { _ = try NewPrivateFile(folder.file(name)) }
                #expect(failure?.status == .cannotWrite)
                #expect(try folder.read("old.bin") == "an older image")
                #expect(try folder.read(name) == "an older image", "the link is there, too")
            }
        }
    }

    @Test("a file that nothing was written into is taken away again, and another is kept, for its owner alone")
    func new() async throws {
        try await withTemporaryFolder { folder in
            let path = folder.file("new.bin")
            _ = try NewPrivateFile(path)
            #expect(access(path, F_OK) != 0)
            try folder.write("image", to: "source.bin")
            try NewPrivateFile(path).take(contentsOf: folder.file("source.bin"))
            #expect(try folder.read("new.bin") == "image")
            var status = stat()
            #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        }
    }

    @Test("the command that adds a profile once more has all of its settings")
    func addition() throws {
        let web = try WebSignIn(
            authorizePath: "/a", tokenPath: "/t", scope: ["openid", "email"], relay: "https://relay.example/in",
            relayTakesExtendedState: true, loopbackPath: "/back", schemeRedirect: "com.example.app:/callback")
        let deployment = try Deployment(
            name: "lab", base: "https://cloud.example", authorization: "https://auth.example", clientID: "it's me",
            certificateAuthorities: "/etc/my ca.pem", webSignIn: web)
        let words = [
            "rainctl profile add lab-claims --base-url https://cloud.example --auth-url https://auth.example",
            #"--client-id 'it'\''s me' --ca-file '/etc/my ca.pem' --authorize-path /a --token-path /t"#,
            "--scope 'openid email' --relay-url https://relay.example/in --relay-extended-state --loopback-path /back",
            "--scheme-redirect com.example.app:/callback",
        ]
        #expect(deployment.addition(as: "lab-claims") == words.joined(separator: " "))
        #expect(deployment.nameWithClaims(besides: ["lab"]) == "lab-claims")
        #expect(deployment.nameWithClaims(besides: ["lab-claims", "lab-claims-2"]) == "lab-claims-3")
        let plain = try Deployment(name: String(repeating: "n", count: 64), base: "https://cloud.example")
        #expect(throws: Never.self) {
            try Deployment(name: plain.nameWithClaims(besides: []), base: "https://cloud.example")
        }
        #expect(plain.addition(as: "n") == "rainctl profile add n --base-url https://cloud.example")
    }
}
