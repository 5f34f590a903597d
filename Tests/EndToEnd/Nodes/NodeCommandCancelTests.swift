// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@Suite("rainctl node command list and cancel")
struct NodeCommandCancelTests {
    @Test("waiting commands of all boards are listed, replaced and cancelled, and an answered one is not")
    func cancelled() async throws {
        try await OnlineBoards.with(["nodelight", "nodefan"]) { scene in
            try await scene.done("node", "command", "send", "nodelight", "4096")
            try await scene.boards[0].process.terminate()
            let send = { (number: String, more: [String]) async throws -> String in
                let outcome = try await scene.maker.rainctl(
                    ["node", "command", "send", "nodelight", number, "--no-wait", "--keep", "1h", "--json"] + more)
                return try #require(outcome.document?["request_id"]?.string, "\(outcome.standardError)")
            }
            let waiting = { () async throws -> [String] in
                let list = try await scene.done("node", "command", "list", "--status", "requested", "--json")
                return (list.document?["commands"]?.array ?? []).compactMap { $0["request_id"]?.string }
            }
            let first = try await send("7", [])
            let second = try await send("8", [])
            #expect(try await waiting() == [second, first])
            let third = try await send("7", ["--override"])
            #expect(try await waiting() == [third, second])
            let old = try await scene.rainctl("node", "command", "result", first, "--json")
            #expect(old.document?["nodes"]?.array?.first?["status"] == "overridden")

            let cancelled = try await scene.done("node", "command", "cancel", third, "--json")
            #expect(cancelled.document?["count"] == 1 && cancelled.document?["cancelled"] == true)
            let twice = try await scene.done("node", "command", "cancel", third, "--json")
            #expect(twice.document?["count"] == 0 && twice.document?["cancelled"] == false)
            let other = try await scene.done(
                "node", "command", "cancel", "--of", "nodelight", "--number", "0x7", "--json")
            #expect(other.document?["count"] == 0)
            #expect(
                try await scene.done("node", "command", "cancel", "--of", "nodefan", "--json").document?["count"] == 0)
            #expect(try await waiting() == [second])
            let text = try await scene.done("node", "command", "cancel", "--of", "nodelight")
            #expect(text.standardOutput.contains("Cancelled 1 command"), "\(text.standardOutput)")
            #expect(try await waiting().isEmpty)
            let all = try await scene.done("node", "command", "list", "--status", "cancelled")
            #expect(all.standardOutput.contains("nodelight  command 8  cancelled"), "\(all.standardOutput)")
            let done = try await scene.done("node", "command", "list", "--status", "success", "--json")
            #expect(done.document?["commands"]?.array?.map { $0["node_id"] } == ["nodelight"])

            let unknown = try await scene.rainctl("node", "command", "cancel", "nosuchrequest", "--json")
            unknown.expectFailure(1, "other", says: "nosuchrequest")
            for wrong in [
                ["list"], ["list", "--status", "lost"], ["cancel"], ["cancel", first, "--number", "7"],
                ["cancel", "--of", "nodelight", "--number", "0"],
            ] {
                #expect(try await scene.maker.rainctl(["node", "command"] + wrong).status == 64, "\(wrong)")
            }
        }
    }

    @Test("firmware gets the sub-role of a secondary user with each command")
    func subRole() async throws {
        try await OnlineBoards.with { scene in
            let own = try await scene.done("node", "command", "send", "nodelight", "0x1001", "--json")
            #expect(own.document?["nodes"]?.array?.first?["response"] == ["role": "primary", "sub_roles": []])
            let offered = try await scene.done(
                "node", "share", "add", "nodelight", "--with", OnlineBoards.friend, "--sub-role", "3", "--json")
            let request = try #require(offered.document?["request_id"]?.string)
            let seen = try await scene.asFriend("node", "share", "requests")
            #expect(seen.standardOutput.contains("nodelight  (Light)"), "\(seen.standardOutput)")
            #expect(try await scene.asFriend("node", "share", "accept", request).status == 0)
            let theirs = try await scene.asFriend("node", "command", "send", "nodelight", "0x1001", "--json")
            #expect(theirs.document?["nodes"]?.array?.first?["response"] == ["role": "secondary", "sub_roles": [3]])
            for wrong in [["--sub-role", "0"], ["--sub-role", "5"], ["--sub-role", "1", "--as", "primary"]] {
                let outcome = try await scene.maker.rainctl(
                    ["node", "share", "add", "nodelight", "--with", OnlineBoards.friend] + wrong)
                #expect(outcome.status == 64, "\(wrong)")
            }
        }
    }

    @Test("a board goes into the groups around its room first, and groups keep metadata")
    func rooms() async throws {
        try await OnlineBoards.with { scene in
            try await scene.done("group", "add", "Home", "--type", "home")
            try await scene.done(
                "group", "add", "Kitchen", "--parent", "Home", "--metadata", #"{"icon":3}"#, "--custom-data",
                #"{"a":1}"#)
            let added = try await scene.done("group", "add-nodes", "Kitchen", "nodelight", "--json")
            #expect(added.document?["added"] == ["nodelight"])
            for group in ["Kitchen", "Home"] {
                let shown = try await scene.done("group", "show", group, "--json")
                #expect(shown.document?["nodes"] == ["nodelight"], "\(group)")
            }
            let kitchen = try await scene.done("group", "show", "Kitchen", "--json")
            #expect(kitchen.document?["group_metadata"] == ["icon": 3] && kitchen.document?["custom_data"] == ["a": 1])
            #expect(try await scene.rainctl("group", "edit", "Kitchen", "--metadata", "[1]").status == 64)
        }
    }

    @Test("boards are listed by tags")
    func tags() async throws {
        try await OnlineBoards.with(["nodelight", "nodefan"]) { scene in
            try await scene.done("node", "tags", "add", "nodelight", "room:kitchen")
            let list = { (tags: [String]) async throws -> [JSONValue?] in
                let options = tags.flatMap { ["--tag", $0] }
                let outcome = try await scene.maker.rainctl(["node", "list", "--json"] + options)
                return (outcome.document?["nodes"]?.array ?? []).map { $0["node_id"] }
            }
            #expect(try await list(["room:kitchen"]) == ["nodelight"])
            #expect(try await list(["room:hall", "room:kitchen"]) == ["nodelight"])
            #expect(try await list(["room:hall"]).isEmpty)
            #expect(try await list([]).count == 2)
            let none = try await scene.done("node", "list", "--tag", "room:hall")
            #expect(none.standardError.contains("No board has the tag room:hall."))
            for wrong in ["kitchen", "room:", ":x", "a:b OR c:d"] {
                #expect(try await scene.rainctl("node", "list", "--tag", wrong).status == 64, "\(wrong)")
            }
            // A part of the boards does not replace the names that are known of all.
            #expect(try await scene.done("node", "show", "nodefan").status == 0)
        }
    }

    @Test("a public profile is shown to others, and the account's data is requested")
    func account() async throws {
        try await OnlineBoards.with { scene in
            try await scene.done("account", "public-profile", "--set", #"{"name":"Ada"}"#)
            let seen = try await scene.asFriend("account", "public-profile", SimulatedCloud.user, "--json")
            #expect(seen.document?["profile"] == ["name": "Ada"])
            try await scene.done("account", "public-profile", "--remove")
            let own = try await scene.done("account", "public-profile")
            #expect(own.standardOutput == "This user has no public profile.\n")
            let nobody = try await scene.rainctl("account", "public-profile", "nobody@example.com", "--json")
            nobody.expectFailure(1, "other", says: "no such user")
            #expect(try await scene.rainctl("account", "public-profile", "--set", "[1]").status == 64)

            let asked = try await scene.done("account", "data-request", "--json")
            let id = try #require(asked.document?["request_id"]?.string)
            #expect(asked.document?["ready"] == false)
            let ready = try await scene.done("account", "data-request", id, "--json")
            #expect(ready.document?["ready"] == true && ready.document?["url"]?.string?.hasPrefix("https://") == true)
            #expect(try await scene.rainctl("account", "data-request", "other").status == 1)
        }
    }
}
