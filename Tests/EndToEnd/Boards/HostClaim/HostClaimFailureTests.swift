// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import RainKit
import TestSupport
import Testing

@testable import rainctl

/// With Espressif's tools as scripts, which fail where a test wants it.
@Suite("rainctl device claim --host: what fails costs no key")
struct HostClaimFailureTests {
    private struct Place {
        let maker: Maker
        let cloud: SimulatedCloud
        var folder: TemporaryFolder { maker.folder }
        var python: String { folder.file("python") }

        /// Tools whose generator works that many times, and does something else from then on.
        func tools(generating times: Int, then end: String) throws {
            try folder.write("", to: "calls")
            let script = """
                #!/bin/sh
                case "$*" in
                *" generate "*)
                    echo generate >>'\(folder.file("calls"))'
                    if [ $(wc -l <'\(folder.file("calls"))') -gt \(times) ]; then \(end); fi
                    head -c 24576 /dev/zero >"$5" ;;
                *read_flash*)
                    for last; do :; done
                    head -c 3072 /dev/zero >"$last"
                    echo 'MAC: 7c:df:a1:00:00:42' ;;
                *write_flash*) echo 'A fatal error occurred: the flash is worn'; exit 2 ;;
                esac
                """
            try folder.write(script + "\n", to: "python")
            chmod(python, 0o755)
        }

        func claim(_ more: [String], environment: [String: String] = [:]) async throws -> Maker.Outcome {
            try await maker.rainctl(words(more), environment: environment)
        }

        func words(_ more: [String]) -> [String] {
            ["device", "claim", "--host", "--python", python, "--json"] + more
        }

        /// For a file, and without a board.
        var toFile: [String] { ["--mac", "7CDFA1000042", "--image", folder.file("image.bin")] }

        func claims() throws -> [String] {
            try cloud.journal.entries(where: ["event": "claim"]).compactMap { $0["what"]?.string }
        }

        /// What there is in the folder of claims.
        func left(in state: String = "state") throws -> [String] {
            try filesBelow(folder.file("\(state)/rainkit/claims")).sorted()
        }
    }

    private func withPlace(_ body: (Place) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let cloud = try await SimulatedCloud.start(in: folder)
            try await maker.signIn(to: cloud, claims: true)
            try await body(Place(maker: maker, cloud: cloud))
        }
    }

    @Test("a generator that does not work is known before the claim is spent", arguments: ["exit 1", "exit 0"])
    func brokenGenerator(end: String) async throws {
        try await withPlace { place in
            try place.tools(generating: 0, then: "echo 'no module named cryptography'; \(end)")
            let outcome = try await place.claim(place.toFile)
            outcome.expectFailure(1, "other", says: "no module named cryptography. Nothing was claimed.")
            #expect(outcome.failure?["reason"] == "no_image")
            #expect(try place.claims() == [] && place.left() == [])
            #expect(access(place.folder.file("image.bin"), F_OK) != 0)
        }
    }

    @Test("credentials of which no image could be made are kept, named, and left alone by the next claim")
    func lateGenerator() async throws {
        try await withPlace { place in
            try place.tools(generating: 1, then: "echo 'no room'; exit 1")
            let outcome = try await place.claim(place.toFile)
            outcome.expectFailure(1, "other", says: "no room. The board is claimed as the node ")
            #expect(outcome.failure?["reason"] == "no_image")
            #expect(try place.claims() == ["initiated", "verified"])
            let left = try place.left()
            #expect(left.count == 2 && left[0].hasPrefix("kept-") && left[1] == left[0] + "/rows.csv", "\(left)")
            let kept = place.folder.file("state/rainkit/claims/" + (left.first ?? ""))
            let message = outcome.failure?["message"]?.string ?? ""
            for words in [
                "generate \(kept)/rows.csv \(kept)/image.bin 0x6000, flash the image to the partition fctry",
                "private key",
            ] {
                #expect(message.contains(words), "\(message)")
            }
            let rows = try place.folder.read("state/rainkit/claims/\(left.last ?? "")")
            #expect(rows.contains("client_key,data,hex2bin,") && !rows.contains("6b6b6b6b"), "not those of the trial")

            try place.tools(generating: 2, then: "exit 1")
            #expect(try await place.claim(place.toFile).status == 0)
            #expect(try place.left() == left)
        }
    }

    @Test("the command that writes what is kept is whole, and a shell's, wherever the folder of the state is")
    func longPath() async throws {
        try await withPlace { place in
            let long = "st ate/" + Array(repeating: String(repeating: "d", count: 100), count: 3).joined(separator: "/")
            try place.folder.makeFolder(long)
            try await run("cp", ["-a", place.folder.file("state/rainkit"), place.folder.file(long)])
            try place.tools(generating: 2, then: "exit 1")
            let outcome = try await place.claim(
                ["--port", "/dev/null", "--flash-address", "0x340000"],
                environment: ["XDG_STATE_HOME": place.folder.file(long)])
            outcome.expectFailure(69, "unavailable", says: "the flash is worn")
            #expect(outcome.failure?["reason"] == "esptool_failed")
            let image = try #require(place.left(in: long).first { $0.hasSuffix("/image.bin") })
            let path = place.folder.file("\(long)/rainkit/claims/\(image)")
            let message = outcome.failure?["message"]?.string ?? ""
            #expect(message.contains("--port /dev/null write_flash 0x340000 '\(path)'"), "\(message)")
        }
    }

    @Test("the next claim removes the key of one that was killed")
    func killed() async throws {
        try await withPlace { place in
            try place.folder.write("", to: "hold")
            try place.tools(
                generating: 1, then: "while [ -e '\(place.folder.file("hold"))' ]; do sleep 0.05; done; exit 1")
            let child = try await place.maker.start(place.words(place.toFile))
            defer { child.kill() }
            let end = ContinuousClock.now + .waitLimit
            while try place.folder.read("calls").split(separator: "\n").count < 2 {
                try #require(ContinuousClock.now < end, "\(child.standardOutput)\(child.standardError)")
                try await Task.sleep(for: .milliseconds(20))
            }
            child.signal(SIGKILL)
            _ = try await child.wait()
            unlink(place.folder.file("hold"))
            #expect(try place.left().contains { $0.hasSuffix("/rows.csv") })

            try place.tools(generating: 2, then: "exit 1")
            unlink(place.folder.file("image.bin"))
            #expect(try await place.claim(place.toFile).status == 0)
            #expect(try place.left() == [])
        }
    }
}
