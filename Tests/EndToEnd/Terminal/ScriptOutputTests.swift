// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// The forms of the output that docs/output.md describes.
@Suite("Output for scripts")
struct ScriptOutputTests {
    /// Commands that talk to a server.
    private static let asking = [
        ["whoami"], ["node", "list"], ["node", "params", "get", "nodelight"], ["group", "list"],
        ["automation", "list"],
        ["node", "params", "set", "nodelight", "Light.Power=on", "--wait"], ["account", "versions"],
        ["account", "refresh"],
        ["account", "data", "get"], ["doctor"],
    ]

    @Test("-q prints only the result, --compact one line, --format tsv the columns, and -v each request")
    func forms() async throws {
        try await OnlineBoards.with(["nodelight", "nodetwo"]) { scene in
            for command in Self.asking where command != ["doctor"] {
                let quiet = try await scene.maker.rainctl(command + ["-q"])
                #expect(quiet.status == 0 && quiet.standardError.isEmpty, "\(command): \(quiet.standardError)")
                #expect(!quiet.standardOutput.isEmpty, "\(command)")
            }
            for command in Self.asking {
                let logged = try await scene.maker.rainctl(command + ["-v"])
                #expect(
                    logged.standardError.contains(
                        /debug rainctl: HTTP response bytes=\d+ method=[A-Z]+ ms=\d+ .*url=http/))
                #expect(!logged.standardError.contains(" trace "), "\(command)")
            }
            let all = try await scene.rainctl("node", "list", "-vv", "-q").standardError
            #expect(all.contains("trace rainctl: HTTP request headers=") && all.contains("Authorization: …"), "\(all)")

            let compact = try await scene.done("node", "list", "--compact")
            #expect(compact.standardOutput.split(separator: "\n").count == 1)
            #expect(compact.document == (try await scene.done("node", "list", "--json")).document)
            let refused = try await scene.rainctl("node", "show", "nobody", "--compact")
            #expect(refused.standardOutput.split(separator: "\n").count == 1 && refused.standardError.isEmpty)
            #expect(refused.failure?["reason"] == "no_such_node")

            let list = try await scene.done("node", "list", "--format", "tsv").standardOutput
            let lines = list.split(separator: "\n").map(String.init)
            #expect(lines.first == "node_id\tname\tmodel\trole\tconnected" && lines.count == 3)
            #expect(lines.contains { $0.hasPrefix("nodelight\tLight\t") && $0.hasSuffix("\ttrue") }, "\(list)")
            let params = try await scene.done("node", "params", "get", "nodelight", "--format", "tsv").standardOutput
            #expect(
                params.hasPrefix("device\tparameter\tvalue\n") && params.contains("\nLight\tPower\ttrue\n"), "\(params)"
            )
        }
    }

    @Test("a run with a board is silent with -q, and logs each exchange with -v")
    func board() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["node-q"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--security", "1", "--mapping", "user", "--join-delay", "0.2"]
                    + cloud.boardOptions(node: "node-q"), in: folder)
            let log = folder.file("run.log")
            let outcome = try await maker.provision(board, ["-q", "-v", "--log-file", log])
            #expect(outcome.status == 0 && outcome.standardError.isEmpty, "\(outcome.standardError)")
            #expect(outcome.standardOutput.contains("mapping: confirmed"))
            let lines = try folder.read("run.log")
            #expect(
                lines.contains(/exchange bytes=\d+ endpoint=prov-session ms=\d+ peer=127.0.0.1:\d+ sent=\d+/),
                "\(lines)")
            #expect(lines.contains(/HTTP response .*status=200 url=http.*user\/nodes\/mapping/), "\(lines)")
            try await board.process.terminate()
        }
    }

    @Test("device discover --first ends at the first board, and fails if there is none")
    func first() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let root = folder.file("system")
            try folder.makeFolder("system/dev")
            let environment = ["RAINKIT_SYSTEM_ROOT": root]
            let search = ["device", "discover", "--transport", "serial", "--first"]
            let none = try await maker.rainctl(search + ["--timeout", "100ms", "--json"], environment: environment)
            none.expectFailure(69, "unavailable", says: "No board was found")
            let waiting = try await maker.start(search + ["--timeout", "10m", "-q"], environment: environment)
            let board = try await SimulatedBoard.start(["--usb", "native", "--system-root", root], in: folder)
            #expect(try await waiting.wait(within: .waitLimit) == .exited(0))
            try await waiting.drained()
            #expect(waiting.standardOutput == "\(root)/dev/ttyACM0\n" && waiting.standardError.isEmpty)
            try await board.process.terminate()
        }
    }
}
