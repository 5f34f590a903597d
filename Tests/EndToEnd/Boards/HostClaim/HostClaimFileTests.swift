// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import RainKit
import TestSupport
import Testing

@testable import rainctl

@Suite("rainctl device claim --host: files and services")
struct HostClaimFileTests {
    @Test(
        "a deployment without a claim service is reported before the search for a board, with commands to run as printed"
    )
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
            let end = try #require(message.firstRange(of: ". Then run this command again")?.lowerBound, "\(message)")
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
