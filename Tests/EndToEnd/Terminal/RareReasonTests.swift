// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import RainKit
import TestSupport
import Testing

@testable import rainctl

/// Reasons that take a machine, a board or a cloud which is hard to come by.
@Suite("rainctl: rare reasons")
struct RareReasonTests {
    /// A program of the test's own.
    private func write(_ script: String, to name: String, in folder: TemporaryFolder) throws -> String {
        try folder.write("#!/bin/sh\n\(script)\n", to: name)
        chmod(folder.file(name), 0o755)
        return folder.file(name)
    }

    private func expect(_ outcome: Maker.Outcome, _ status: Int, _ reason: String) {
        #expect(
            outcome.status == status && outcome.failure?["reason"]?.string == reason,
            "\(outcome.standardOutput)\(outcome.standardError)")
    }

    private func expectWarning(_ outcome: Maker.Outcome, _ reason: String) {
        let reasons = outcome.document?["warnings"]?.array?.compactMap { $0["reason"]?.string } ?? []
        #expect(reasons.contains(reason), "\(outcome.standardOutput)\(outcome.standardError)")
    }

    @Test("Espressif's tools that do not tell the address of the board, or make no image")
    func tools() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let cloud = try await SimulatedCloud.start(in: folder)
            try await maker.signIn(to: cloud, claims: true)
            let python = try write(
                """
                case "$*" in
                *nvs_partition_gen*generate*) echo "no such key" >&2; exit 1 ;;
                *read_flash*) for last; do :; done; head -c 3072 /dev/zero >"$last" ;;
                esac
                """, to: "python", in: folder)
            let claim = ["device", "claim", "--host", "--python", python, "--json"]
            expect(try await maker.rainctl(claim + ["--port", "/dev/null"]), 65, "no_mac")
            let image = ["--mac", "7CDFA1000042", "--image", folder.file("image.bin")]
            expect(try await maker.rainctl(claim + image), 1, "no_image")
        }
    }

    @Test("a cable whose lines cannot be moved restarts no board")
    func noRestart() async throws {
        try await withTemporaryFolder { folder in
            let port = try PseudoTerminal()
            defer { withExtendedLifetime(port) {} }
            let outcome = try await Maker(folder).rainctl(
                "device", "monitor", "--port", port.path, "--restart", "--timeout", "120", "--json")
            expect(outcome, 1, "no_restart")
        }
    }

    @Test("a session that others may read is taken over with a warning")
    func readableByOthers() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let cloud = try await SimulatedCloud.start(in: folder)
            try await maker.signIn(to: cloud)
            #expect(try await maker.rainctl("account", "export", "--to", folder.file("official")).status == 0)
            for file in try filesBelow(folder.file("official")) { chmod(folder.file("official/\(file)"), 0o755) }
            expectWarning(
                try await maker.rainctl("account", "import", "--from", folder.file("official"), "--json"),
                "readable_by_others")
        }
    }

    @Test("a repair that does not succeed is a warning, and the check still fails")
    func repairFailed() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let radio = try await SimulatedBluetooth.start(["--ble-fault", "adapter=off"], in: folder)
            try folder.makeFolder("programs")
            _ = try write("echo no >&2; exit 1", to: "programs/bluetoothctl", in: folder)
            let environment = ["PATH": folder.file("programs") + ":/usr/bin:/bin"].merging(radio.environment) { $1 }
            let outcome = try await maker.rainctl(["doctor", "--fix", "--json"], environment: environment)
            expectWarning(outcome, "repair_failed")
            try await radio.process.terminate()
            try await radio.bus.end()
        }
    }

    @Test("without zbar no picture is read, and the message names its package")
    func noLibrary() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            try folder.write("P2\n1 1\n255\n0\n", to: "point.pgm")
            try await run("cjpeg", ["-outfile", folder.file("point.jpg"), folder.file("point.pgm")])
            let hide = """
                for library in /usr/lib/*/libzbar.so.0; do mount --bind /dev/null "$library" || exit 99; done; exec "$@"
                """
            let ended = try await run(
                "unshare",
                namespacePrivileges + [
                    "--mount", "sh", "-c", hide, "sh", Executables.path("rainctl"), "qr", "read",
                    folder.file("point.jpg"),
                    "--json",
                ], environment: maker.environment)
            #expect(ended.status == .exited(69), "\(ended.standardOutput)\(ended.standardError)")
            #expect(
                ended.standardOutput.contains("\"reason\": \"no_library\"") && ended.standardOutput.contains("libzbar0")
            )
        }
    }

    @Test("boards of an account that have told nothing of themselves, or have no name to give")
    func bareNodes() async throws {
        let nodes = #"""
            {"node_details":[
            {"id":"bare-1","role":"primary","config":{"node_id":"bare-1","info":{"name":"Bare"}}},
            {"id":"plain-1","role":"primary","config":{"node_id":"plain-1","info":{"name":"Plain"},"devices":[{"name":"Switch","params":[
            {"name":"Power","data_type":"bool","properties":["read","write"]}]}]}}],"total":2}
            """#
        try await AccountScene.run(["GET /v1/user/nodes?node_details=true": [(200, nodes)]], signedIn: true) {
            maker, _ in
            expect(try await maker.rainctl("node", "rename", "Bare", "Lamp", "--json"), 65, "no_configuration")
            expect(try await maker.rainctl("node", "rename", "Plain", "Lamp", "--json"), 65, "no_name_parameter")
        }
    }
}
