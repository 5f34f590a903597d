// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Espressif's own client against our simulated cloud and board: what it does with nodes that are in an account.
@Suite("The official client's nodes")
struct OfficialClientNodeTests {
    private static let node = "nodelight"
    private static let friend = "friend@example.com"

    private struct Run {
        let cloud: SimulatedCloud
        let board: SimulatedBoard
        let maker: Maker
        let client: OfficialClient

        /// Runs it, and expects this text: its exit status is always 0.
        @discardableResult
        func says(
            _ words: String, _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation
        ) async throws -> String {
            let output = try await client.run(arguments).standardOutput
            #expect(output.contains(words), "\(arguments): \(output)", sourceLocation: sourceLocation)
            return output
        }

        func rainctl(_ arguments: String...) async throws -> Maker.Outcome { try await maker.rainctl(arguments) }
    }

    private static func with(_ body: (Run) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(
                nodes: [node], arguments: ["--user", "\(friend):\(SimulatedCloud.password)"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0", "--security", "1", "--mapping", "user", "--join-delay", "0.2"]
                    + cloud.boardOptions(node: node), in: folder)
            let outcome = try await maker.provision(board, ["--json"])
            #expect(outcome.status == 0, "\(outcome.standardError)")
            _ = try await cloud.journal.entry(where: ["event": "node", "what": "params", "node": .string(node)])
            let client = try await OfficialClient(api: cloud.api, in: folder)
            try await client.logIn()
            try await body(Run(cloud: cloud, board: board, maker: maker, client: client))
            try await cloud.process.terminate()
        }
    }

    /// An id among what it prints: `"group_id": "…"`, or behind a label.
    private static func text(after label: String, in output: String) -> String? {
        output.firstRange(of: label).map { range in
            String(
                output[range.upperBound...].drop { " :\"".contains($0) }.prefix {
                    $0.isLetter || $0.isNumber || $0 == "-"
                })
        }
    }

    @Test("lists and shows the node, and reads what rainctl has set")
    func reads() async throws {
        try await Self.with { run in
            let set = try await run.rainctl("node", "params", "set", Self.node, "Light.Power=off", "--wait")
            #expect(set.status == 0)
            try await run.says(Self.node, "getnodes")
            try await run.says("Light", "getnodedetails", Self.node)
            try await run.says("led_light", "getnodeconfig", Self.node)
            try await run.says("\"connected\": true", "getnodestatus", Self.node)
            let values = try await run.says("Power", "getparams", Self.node)
            #expect(values.contains("\"Power\": false"), "\(values)")
        }
    }

    @Test("tags, metadata and schedules are what rainctl shows, and the other way round")
    func notes() async throws {
        try await Self.with { run in
            try await run.says("successfully", "node", "add-tags", Self.node, "--tags", "room:kitchen,floor:0")
            try await run.says("successfully", "node", "remove-tags", Self.node, "--tags", "floor:0")
            try await run.says("successfully", "node", "set-metadata", Self.node, "--data", #"{"shelf":3,"x":1}"#)
            try await run.says("successfully", "node", "set-metadata", Self.node, "--data", #"{"x":null}"#)
            let shown = try await run.rainctl("node", "show", Self.node, "--json").document
            #expect(shown?["tags"] == ["room:kitchen"] && shown?["metadata"] == ["shelf": 3])
            let words = try await run.says(
                "successfully", "setschedule", Self.node, "--operation", "add", "--name", "Evening", "--trigger",
                #"{"m":1170,"d":31}"#, "--action", #"{"Light":{"Power":true}}"#)
            let id = try #require(Self.text(after: "with ID", in: words))
            let listed = try await run.rainctl("node", "schedule", "list", Self.node)
            #expect(listed.standardOutput == "\(id)  on   Evening  at 19:30 mon-fri  Light.Power=true\n")
            let edited = try await run.rainctl("node", "schedule", "edit", Self.node, id, "--name", "Late", "--wait")
            #expect(edited.status == 0)
            try await run.says("Late", "getschedules", Self.node)
            try await run.says("successfully", "setschedule", Self.node, "--operation", "disable", "--id", id)
            try await run.says("successfully", "setschedule", Self.node, "--operation", "remove", "--id", id)
        }
    }

    @Test("metadata is deleted by its keys, and all of it")
    func metadataDeleted() async throws {
        try await Self.with { run in
            func kept() async throws -> JSONValue? {
                try await run.rainctl("node", "metadata", "get", Self.node, "--json").document?["metadata"]
            }
            let data = #"{"shelf":3,"x":1,"y":2,"z":4}"#
            try await run.says("successfully", "node", "set-metadata", Self.node, "--data", data)
            try await run.says(
                "'x, y' deleted from node \(Self.node) successfully", "node", "delete-metadata", Self.node, "--key",
                "x,y")
            #expect(try await kept() == ["shelf": 3, "z": 4])
            try await run.says(
                "All metadata deleted from node \(Self.node) successfully", "node", "delete-metadata", Self.node)
            #expect(try await kept() == .object([]))
        }
    }

    @Test("shares a node, as the one who offers and as the one who accepts")
    func sharing() async throws {
        try await Self.with { run in
            let friend = try await OfficialClient(api: run.cloud.api, in: run.maker.folder)
            try await friend.logIn(Self.friend)
            func offer() async throws -> String {
                let said = try await run.says(
                    "uccess", "sharing", "add_user", "--user", Self.friend, "--nodes", Self.node)
                return try #require(Self.text(after: "Request Id", in: said))
            }
            let first = try await offer()
            try await run.says(first, "sharing", "list_requests", "--primary_user")
            try await run.says("uccess", "sharing", "cancel", "--id", first)
            let second = try await offer()
            let requests = try await friend.run(["sharing", "list_requests"])
            #expect(
                requests.standardOutput.contains(second) && requests.standardOutput.contains("will expire in 7 day"))
            let declined = try await friend.run(["sharing", "decline", "--id", second])
            #expect(declined.standardOutput.contains("uccess"), "\(declined.standardOutput)")
            let third = try await offer()
            let accepted = try await friend.run(["sharing", "accept", "--id", third])
            #expect(accepted.standardOutput.contains("uccess"), "\(accepted.standardOutput)")
            #expect(try await friend.run(["getnodes"]).standardOutput.contains(Self.node))
            try await run.says(Self.friend, "sharing", "list_nodes")
            try await run.says("uccess", "sharing", "remove_user", "--user", Self.friend, "--nodes", Self.node)
            #expect(try await friend.run(["getnodes"]).standardOutput.contains(Self.node) == false)
        }
    }

    @Test("shares a group: declined, accepted with its nodes, and ended")
    func groupSharing() async throws {
        try await Self.with { run in
            let friend = try await OfficialClient(api: run.cloud.api, in: run.maker.folder)
            try await friend.logIn(Self.friend)
            let made = try await run.says("successfully", "group", "add", "--name", "Home", "--nodes", Self.node)
            let home = try #require(Self.text(after: "\"group_id\"", in: made))
            func offer() async throws -> String {
                let said = try await run.says(
                    "uccess", "group", "sharing", "add", "--groups", home, "--user", Self.friend)
                return try #require(Self.text(after: "Request Id", in: said))
            }
            func answers(_ words: String, _ answer: String, _ request: String) async throws {
                let output = try await friend.run(["group", "sharing", answer, "--id", request]).standardOutput
                #expect(output.contains(words), "\(answer): \(output)")
            }
            func states() async throws -> [String: String] {
                let sent = try await run.rainctl("group", "share", "requests", "--sent", "--json").document
                return Dictionary(
                    (sent?["requests"]?.array ?? []).map {
                        ($0["request_id"]?.string ?? "", $0["status"]?.string ?? "")
                    }, uniquingKeysWith: { $1 })
            }
            func others() async throws -> JSONValue? {
                try await run.rainctl("group", "share", "list", "--json").document?["shared"]?.array?.first {
                    $0["id"]?.string == home
                }?["secondary_users"]
            }

            let first = try await offer()
            #expect(try await states() == [first: "pending"])
            try await answers("declined", "decline", first)
            #expect(try await states() == [first: "declined"])
            #expect(try await others() == [])
            #expect(try await friend.run(["getnodes"]).standardOutput.contains(Self.node) == false)

            let second = try await offer()
            try await answers("accepted", "accept", second)
            #expect(try await states()[second] == nil, "nothing waits for an answer any more")
            #expect(try await others() == [.string(Self.friend)])
            #expect(try await friend.run(["getnodes"]).standardOutput.contains(Self.node))
            #expect(try await friend.run(["group", "list"]).standardOutput.contains(home))

            try await run.says(
                "Success", "group", "sharing", "remove", "--groups", home, "--user", Self.friend)
            #expect(try await others() == [])
            #expect(try await friend.run(["getnodes"]).standardOutput.contains(Self.node) == false)
            #expect(try await friend.run(["group", "list"]).standardOutput.contains(home) == false)
        }
    }

    @Test("groups and automations")
    func groups() async throws {
        try await Self.with { run in
            let made = try await run.says("successfully", "group", "add", "--name", "Home", "--type", "home")
            let home = try #require(Self.text(after: "\"group_id\"", in: made))
            let within = try await run.says(
                "successfully", "group", "add", "--name", "Kitchen", "--parent-group-id", home, "--nodes", Self.node)
            let kitchen = try #require(Self.text(after: "\"group_id\"", in: within))
            try await run.says("Kitchen", "group", "list", "--sub-groups")
            try await run.says("Home", "group", "show", "--group-id", home, "--sub-groups")
            try await run.says("Total nodes: 1", "group", "list-nodes", "--group-id", kitchen)
            try await run.says("led_light", "group", "list-nodes", "--group-id", kitchen, "--node-details", "--raw")
            try await run.says("successfully", "group", "remove-nodes", "--group-id", kitchen, "--nodes", Self.node)
            try await run.says("successfully", "group", "add-nodes", "--group-id", kitchen, "--nodes", Self.node)
            try await run.says("successfully", "group", "edit", "--group-id", kitchen, "--name", "Big kitchen")
            let ours = try await run.rainctl("group", "show", "Big kitchen", "--json").document
            #expect(ours?["nodes"] == [.string(Self.node)])
            let offered = try await run.says(
                "uccess", "group", "sharing", "add", "--groups", kitchen, "--user", Self.friend)
            let request = try #require(Self.text(after: "Request Id", in: offered))
            try await run.says(request, "group", "sharing", "list-requests", "--primary-user")
            try await run.says("uccess", "group", "sharing", "cancel", "--id", request)
            try await run.says(SimulatedCloud.user, "group", "sharing", "list")
            try await run.says("successfully", "group", "remove", "--group-id", home)

            let automation = try await run.says(
                "successfully", "automations", "add", "--name", "Off", "--event-type", "params", "--node-id", Self.node,
                "--event", #"{"params":{"Light":{"Power":true}},"check":"=="}"#, "--action",
                #"{"node_id":"nodelight","params":{"Light":{"Power":false}}}"#)
            let id = try #require(Self.text(after: "\"automation_id\"", in: automation))
            try await run.says("node_params", "automations", "get", "--node-id", Self.node)
            try await run.says("successfully", "automations", "edit", "--id", id, "--disabled")
            let listed = try await run.rainctl("automation", "list")
            #expect(listed.standardOutput.hasPrefix("\(id)  off  Off"), "\(listed.standardOutput)")
            try await run.says("successfully", "automations", "remove", "--id", id)
        }
    }

    @Test("commands, any call, and the node's removal")
    func rest() async throws {
        try await Self.with { run in
            let sent = try await run.says("Request Id", "create_cmd_request", Self.node, "4096", #"{"level":3}"#)
            let request = try #require(Self.text(after: "Request Id", in: sent))
            _ = try await run.cloud.journal.entry(where: ["event": "node", "what": "answered"])
            try await run.says("success", "get_cmd_requests", request)
            let result = try await run.rainctl("node", "command", "result", request)
            #expect(result.standardOutput == "\(Self.node)  {\"level\":3}\n")
            try await run.says("supported_versions", "raw-api", "--method", "GET", "--api", "../apiversions")
            try await run.says("", "removenode", Self.node)
            #expect(try await run.rainctl("node", "list").standardOutput.isEmpty)
        }
    }

    @Test(
        "local control: values are read and set at the board itself", .serialized,
        arguments: [
            (0, []), (1, ["--pop", SimulatedBoard.proofOfPossession]),
            (2, ["--pop", SimulatedBoard.proofOfPossession]),
        ])
    func local(security: Int, more: [String]) async throws {
        try await pastShortPublicKeys {
            try await withTemporaryFolder { folder in
                let cloud = try await SimulatedCloud.start(in: folder)
                let board = try await SimulatedBoard.start(
                    ["--local-control", "127.0.0.1:0", "--security", "\(security)"], in: folder)
                // A node id with a colon is an address to it.
                let host = try #require(board.localControl)
                let client = try await OfficialClient(api: cloud.api, in: folder)
                try await client.logIn()
                let way = ["--local", "--sec_ver", "\(security)"] + more
                let read = try await client.run(["getparams", host] + way)
                let set = try await client.run(["setparams", host, "--data", #"{"Light":{"Power":false}}"#] + way)
                let again = try await client.run(["getparams", host] + way)
                guard try !board.journal.hasShortPublicKey() else { return false }
                #expect(read.standardOutput.contains("\"Power\": true"), "\(read.standardOutput)\(read.standardError)")
                #expect(
                    again.standardOutput.contains("\"Power\": false"),
                    "\(set.standardOutput)\(set.standardError)\(again.standardOutput)")
                return true
            }
        }
    }
}
