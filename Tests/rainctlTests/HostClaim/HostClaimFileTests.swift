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

    @Test("a deployment without a claim service is told before a board is looked for, with commands to run as printed")
    func noService() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let cloud = try await SimulatedCloud.start(in: folder)
            try await maker.signIn(to: cloud)
            let claim = [
                "device", "claim", "--host", "--port", folder.file("nowhere"), "--python", "/nonexistent/python",
                "--json",
            ]
            let outcome = try await maker.rainctl(claim)
            outcome.expectFailure(78, "config", says: "The profile sim has no claim service")
            #expect(outcome.failure?["reason"] == "unsupported")

            let message = outcome.failure?["message"]?.string ?? ""
            let begin = try #require(message.firstRange(of: "rainctl profile add")?.lowerBound, "\(message)")
            let end = try #require(message.firstRange(of: ". Then run this again")?.lowerBound, "\(message)")
            let line = message[begin..<end].replacing("--claim-url URL", with: "--claim-url \(cloud.claim)")
            #expect(line.contains("rainctl login \(SimulatedCloud.user) --profile sim-claims"), "\(line)")
            let programs = try Executables.path("rainctl").split(separator: "/").dropLast().joined(separator: "/")
            // Nobody is there to type the password.
            let done = try await run(
                "/bin/sh", ["-c", line + " --password-file \(folder.file("password"))"],
                environment: maker.environment.merging(["PATH": "/\(programs):/usr/bin:/bin"]) { $1 })
            #expect(done.status == .exited(0), "\(line): \(done.standardOutput)\(done.standardError)")
            // What is missing next is the Python, which comes behind the service.
            let next = try await maker.rainctl(claim + ["--profile", "sim-claims"])
            next.expectFailure(69, "unavailable", says: "/nonexistent/python")
            #expect(try await maker.rainctl("whoami").status == 0, "the first profile and its session stay")
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

    @Test("a Python that cannot be run is named with its option, in one sentence after the other")
    func noPython() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let cloud = try await SimulatedCloud.start(in: folder)
            try await maker.signIn(to: cloud, claims: true)
            let outcome = try await maker.rainctl(
                "device", "claim", "--host", "--port", "/dev/null", "--python", "/nonexistent/python", "--json")
            outcome.expectFailure(69, "unavailable", says: "--python")
            let words = outcome.failure?["message"]?.string ?? ""
            #expect(words.contains("/nonexistent/python cannot be run") && !words.contains(".."), "\(words)")
        }
    }
}
