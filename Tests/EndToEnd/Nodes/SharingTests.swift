// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@Suite("rainctl node share, group")
struct SharingTests {
    @Test("a board is offered, declined, offered again, accepted, used, left, and handed over")
    func nodes() async throws {
        try await OnlineBoards.with { scene in
            let offer = { () async throws -> String in
                let offered = try await scene.done(
                    "node", "share", "add", "nodelight", "--with", OnlineBoards.friend, "--json")
                return try #require(offered.document?["request_id"]?.string)
            }
            let first = try await offer()
            let sent = try await scene.done("node", "share", "requests", "--sent", "--json")
            let entry = try #require(sent.document?["requests"]?.array?.first)
            #expect(entry["request_id"]?.string == first && entry["status"] == "pending")
            #expect(entry["user_name"]?.string == OnlineBoards.friend && entry["ids"] == ["nodelight"])
            let got = try await scene.asFriend("node", "share", "requests")
            #expect(got.standardOutput.contains("from \(SimulatedCloud.user)  nodelight"), "\(got.standardOutput)")
            #expect(try await scene.asFriend("node", "share", "decline", first).status == 0)
            let none = try await scene.asFriend("node", "list")
            #expect(none.standardOutput.isEmpty && none.standardError.contains("rainctl provision"))

            let cancelled = try await offer()
            try await scene.done("node", "share", "cancel", cancelled)
            let gone = try await scene.asFriend("node", "share", "accept", cancelled, "--json")
            #expect(gone.status != 0 && gone.failure?["message"]?.string?.contains("request") == true)

            let second = try await offer()
            #expect(try await scene.asFriend("node", "share", "accept", second).status == 0)
            let set = try await scene.asFriend("node", "params", "set", "nodelight", "Light.Power=off", "--wait")
            #expect(set.status == 0, "\(set.standardError)")
            let list = try await scene.done("node", "share", "list", "nodelight", "--json")
            #expect(list.document?["shared"]?.array?.first?["secondary_users"] == [.string(OnlineBoards.friend)])
            let further = try await scene.asFriend(
                "node", "share", "add", "nodelight", "--with", SimulatedCloud.user, "--json")
            further.expectFailure(1, "other", says: "primary user")
            #expect(
                try await scene.asFriend("node", "share", "remove", "nodelight", "--with", OnlineBoards.friend).status
                    == 0)
            #expect(try await scene.asFriend("node", "list").standardOutput.isEmpty)

            let asked = try await scene.rainctl(
                "node", "share", "add", "nodelight", "--with", OnlineBoards.friend, "--as", "owner", "--json")
            asked.expectFailure(64, "usage", says: "--yes")
            let handed = try await scene.done(
                "node", "share", "add", "nodelight", "--with", OnlineBoards.friend, "--as", "owner", "--keep-access",
                "--yes", "--json")
            let third = try #require(handed.document?["request_id"]?.string)
            #expect(try await scene.asFriend("node", "share", "accept", third).status == 0)
            let owner = try await scene.done("node", "share", "list", "--json")
            #expect(owner.document?["shared"]?.array?.first?["primary_users"] == [.string(OnlineBoards.friend)])
        }
    }

    @Test("that nobody has that name says nothing of one's own sign-in")
    func unknown() async throws {
        try await OnlineBoards.with { scene in
            for verb in ["add", "remove"] {
                let outcome = try await scene.rainctl(
                    "node", "share", verb, "nodelight", "--with", "no@example.com", "--json")
                outcome.expectFailure(1, "other", says: "here is no user no@example.com")
                #expect(outcome.failure?["reason"] == "unknown_user")
            }
            let blank = try await scene.rainctl("node", "share", "add", "nodelight", "--with", " ", "--json")
            blank.expectFailure(64, "usage", says: "--with")
        }
    }

    @Test("an empty name names nothing, and not all entries")
    func blank() async throws {
        try await OnlineBoards.with { scene in
            try await scene.done("group", "add", "Home")
            for command in [
                ["group", "share", "list", ""], ["group", "share", "add", "", "--with", OnlineBoards.friend],
                ["group", "share", "add", ",", "--with", OnlineBoards.friend], ["group", "show", " "],
                ["group", "add", "  "], ["node", "share", "list", ""], ["node", "show", ""],
                ["group", "share", "accept", ""],
            ] {
                let outcome = try await scene.maker.rainctl(command + ["--json"])
                #expect(outcome.status == 64, "\(command): \(outcome.standardOutput)\(outcome.standardError)")
            }
            let sent = try scene.cloud.journal.entries(where: ["event": "request"]).filter {
                $0["path"]?.string?.contains("/sharing") == true
            }
            #expect(sent.isEmpty)
        }
    }

    @Test("a board is put into a group once, and taken out of one that has it")
    func membership() async throws {
        try await OnlineBoards.with(["nodelight", "nodefan"]) { scene in
            try await scene.done("group", "add", "Home", "--nodes", "nodelight")
            let both = try await scene.done("group", "add-nodes", "Home", "nodelight,nodefan", "--json")
            #expect(both.document?["added"] == ["nodefan"] && both.document?["already"] == ["nodelight"])
            let again = try await scene.done("group", "add-nodes", "Home", "nodefan")
            #expect(again.standardOutput == "Already in group Home: nodefan\n")
            try await scene.done("group", "remove-nodes", "Home", "nodefan")
            let outcome = try await scene.rainctl("group", "remove-nodes", "Home", "nodelight,nodefan", "--json")
            outcome.expectFailure(65, "bad_data", says: "not in group Home: nodefan")
            #expect(outcome.failure?["reason"] == "not_in_group")
            let shown = try await scene.done("group", "show", "Home", "--json")
            #expect(shown.document?["nodes"] == ["nodelight"], "all are taken out, or none")
        }
    }

    @Test("a board that is in the group, and not in the account any more, is taken out by its id")
    func goneFromAccount() async throws {
        let group = #"{"groups":[{"group_id":"g1","group_name":"Home","nodes":["n1","gone"]}]}"#
        let answers = [
            "GET /v1/user/node_group?sub_groups=true": [(status: 200, body: group)],
            "GET /v1/user/node_group?group_id=g1&node_list=true&sub_groups=true": [(status: 200, body: group)],
            "PUT /v1/user/node_group?group_id=g1": [CannedCloud.done],
        ]
        try await AccountScene.run(answers, signedIn: true) { maker, cloud in
            try await maker.succeeds(["group", "remove-nodes", "Home", "gone,n1,gone"])
            let sent = cloud.bodies("PUT /v1/user/node_group?group_id=g1")
            #expect(sent.first??["nodes"] == ["gone", "n1"] && sent.first??["operation"] == "remove")
        }
    }

    @Test("a group whose name has a comma is named by it, also where several may be")
    func comma() async throws {
        try await OnlineBoards.with { scene in
            let made = try await scene.done("group", "add", "Den, left", "--json")
            let offer = try await scene.done(
                "group", "share", "add", "Den, left", "--with", OnlineBoards.friend, "--json")
            let id = try #require(made.document?["group_id"])
            #expect(offer.document?["ids"] == .array([id]))
        }
    }

    @Test("a group that the cloud leaves out of its list is found by its id")
    func unlisted() async throws {
        let group = #"{"groups":[{"group_id":"g1","group_name":"Kitchen","parent_group_id":"g0"}]}"#
        let answers: [String: [(status: Int, body: String)]] = [
            "GET /v1/user/node_group?sub_groups=true": [(200, #"{"groups":[]}"#)],
            "GET /v1/user/node_group?group_id=g1&node_list=true&sub_groups=true": [(200, group)],
        ]
        try await AccountScene.run(answers, signedIn: true) { maker, _ in
            let shown = try await maker.rainctl("group", "show", "g1", "--json")
            #expect(shown.document?["name"] == "Kitchen", "\(shown.standardOutput)\(shown.standardError)")
        }
    }

    @Test("a group within a group that is shared is there for the other user, by name and by id")
    func subgroup() async throws {
        try await OnlineBoards.with { scene in
            try await scene.done("group", "add", "Home")
            let made = try await scene.done(
                "group", "add", "Kitchen", "--parent", "Home", "--nodes", "nodelight", "--json")
            let kitchen = try #require(made.document?["group_id"]?.string)
            let offered = try await scene.done(
                "group", "share", "add", "Kitchen", "--with", OnlineBoards.friend, "--json")
            let request = try #require(offered.document?["request_id"]?.string)
            #expect(try await scene.asFriend("group", "share", "accept", request).status == 0)
            let list = try await scene.asFriend("group", "list", "--json")
            #expect(list.document?["groups"]?.array?.map { $0["group_id"] } == [.string(kitchen)])
            for name in ["kitchen", kitchen] {
                let shown = try await scene.asFriend("group", "show", name, "--json")
                #expect(shown.document?["nodes"] == ["nodelight"], "\(shown.standardOutput)\(shown.standardError)")
            }
            let theirs = try await scene.asFriend("group", "share", "list", "Kitchen", "--json")
            #expect(theirs.document?["shared"]?.array?.first?["id"]?.string == kitchen)
            // Its owner hears of it without naming it.
            let shared = try await scene.done("group", "share", "list", "--json").document?["shared"]?.array
            let entry = shared?.first { $0["id"]?.string == kitchen }
            #expect(entry?["secondary_users"] == [.string(OnlineBoards.friend)], "\(shared ?? [])")
            let left = try await scene.asFriend("group", "share", "remove", "Kitchen", "--with", OnlineBoards.friend)
            #expect(left.status == 0, "\(left.standardError)")
            #expect(try await scene.asFriend("group", "list").standardOutput == "There are no groups.\n")
            let gone = try await scene.rainctl(
                "group", "share", "remove", "Kitchen", "--with", OnlineBoards.friend, "--json")
            gone.expectFailure(1, "other", says: "is not shared with \(OnlineBoards.friend)")
        }
    }

    @Test("where the cloud does not say whether a group around it is shared, the end of sharing is not claimed")
    func unknownWhetherKept() async throws {
        let group = #"{"groups":[{"group_id":"g1","group_name":"Kitchen"}]}"#
        let answers: [String: [(status: Int, body: String)]] = [
            "GET /v1/user/node_group?sub_groups=true": [(200, group)],
            "DELETE /v1/user/node_group/sharing?groups=g1&user_name=friend%40example.com": [CannedCloud.done],
            "GET /v1/user/node_group/sharing?group_id=g1": [(502, "gateway")],
        ]
        try await AccountScene.run(answers, signedIn: true) { maker, cloud in
            let outcome = try await maker.rainctl([
                "group", "share", "remove", "Kitchen", "--with", OnlineBoards.friend, "--timeout", "20", "--json",
            ])
            outcome.expectFailure(75, "temporary", says: "The cloud has ended the sharing, but did not show whether")
            #expect(cloud.calls.contains { $0.hasPrefix("DELETE ") }, "\(cloud.calls)")
        }
    }

    @Test("what a user keeps by a group around it is not said to be gone")
    func keptByOuterGroup() async throws {
        try await OnlineBoards.with { scene in
            try await scene.done("group", "add", "Home")
            try await scene.done("group", "add", "Kitchen", "--parent", "Home", "--nodes", "nodelight")
            for name in ["Home", "Kitchen"] {
                let offered = try await scene.done(
                    "group", "share", "add", name, "--with", OnlineBoards.friend, "--json")
                let request = try #require(offered.document?["request_id"]?.string)
                #expect(try await scene.asFriend("group", "share", "accept", request).status == 0)
            }
            let ended = try await scene.rainctl(
                "group", "share", "remove", "Kitchen", "--with", OnlineBoards.friend, "--json")
            ended.expectFailure(1, "other", says: "\(OnlineBoards.friend) still has")
            #expect(ended.failure?["reason"] == "still_shared")
            try await scene.done("group", "share", "remove", "Home", "--with", OnlineBoards.friend)
            #expect(try await scene.asFriend("group", "list").standardOutput == "There are no groups.\n")
        }
    }

    @Test("groups within groups, their boards, and who shares a group has its boards")
    func groups() async throws {
        try await OnlineBoards.with(["nodelight", "nodefan"]) { scene in
            try await scene.done("group", "add", "Home", "--type", "home", "--custom-data", #"{"city":"Oslo"}"#)
            let made = try await scene.done(
                "group", "add", "Kitchen", "--parent", "Home", "--nodes", "nodelight", "--json")
            let kitchen = try #require(made.document?["group_id"]?.string)
            let list = try await scene.done("group", "list", "--json")
            let home = try #require(list.document?["groups"]?.array?.first)
            #expect(home["name"] == "Home" && home["groups"]?.array?.first?["group_id"]?.string == kitchen)
            try await scene.done("group", "add-nodes", "kitchen", "nodefan")
            try await scene.done("group", "remove-nodes", "Kitchen", "nodelight")
            try await scene.done("group", "edit", "Kitchen", "--name", "Big kitchen", "--mutually-exclusive")
            let shown = try await scene.done("group", "show", "Big kitchen", "--json")
            #expect(shown.document?["nodes"] == ["nodefan"] && shown.document?["mutually_exclusive"] == true)
            let within = try await scene.rainctl("group", "edit", "Home", "--parent", "Big kitchen", "--json")
            #expect(within.status != 0, "a group is not within itself")

            let offered = try await scene.done(
                "group", "share", "add", "Big kitchen", "--with", OnlineBoards.friend, "--json")
            let request = try #require(offered.document?["request_id"]?.string)
            #expect(try await scene.asFriend("group", "share", "accept", request).status == 0)
            #expect(try await scene.asFriend("node", "list").standardOutput.contains("nodefan"))
            let sharing = try await scene.done("group", "share", "list", "--json")
            #expect(sharing.status == 0)
            let changed = try await scene.asFriend("group", "edit", kitchen, "--name", "Mine", "--json")
            #expect(changed.status != 0, "a secondary user does not change it")

            let asked = try await scene.rainctl("group", "remove", "Home", "--json")
            asked.expectFailure(64, "usage", says: "--yes")
            try await scene.done("group", "remove", "Home", "--yes")
            #expect(try await scene.done("group", "list").standardOutput == "There are no groups.\n")
            #expect(try await scene.done("node", "list").standardOutput.contains("nodelight"), "the boards stay")
        }
    }

    @Test("an automation sets one board when another reports something, once, until it is disabled")
    func automations() async throws {
        try await OnlineBoards.with(["nodelight", "nodefan"]) { scene in
            try await scene.done(
                "automation", "add", "Both", "--of", "nodelight", "--when", "Light.Power=off", "--set",
                "nodefan:Light.Power=off")
            let text = try await scene.done("automation", "list").standardOutput
            #expect(
                text.contains("on   Both  nodelight: Light.Power == false  ->  nodefan: Light.Power=false"), "\(text)")
            try await scene.done("node", "params", "set", "nodelight", "Light.Power=off", "--wait")
            #expect(try await scene.value("Light.Power", of: "nodefan", becomes: "false"))
            try await scene.done("automation", "edit", "Both", "--disable")
            try await scene.done("node", "params", "set", "nodelight,nodefan", "Light.Power=on", "--wait")
            try await scene.done("node", "params", "set", "nodelight", "Light.Power=off", "--wait")
            // What it would have set is reported before the next value, which goes the same way.
            try await scene.done("node", "params", "set", "nodefan", "Light.Name=Fan", "--wait")
            #expect(try await scene.done("node", "params", "get", "nodefan", "Light.Power").standardOutput == "true\n")
            let wrong = try await scene.rainctl(
                "automation", "add", "X", "--of", "nodelight", "--when", "Light.Heat>3", "--set",
                "nodefan:Light.Power=off",
                "--json")
            wrong.expectFailure(65, "bad_data", says: "no parameter Heat")
            try await scene.done("automation", "remove", "both")
            #expect(try await scene.done("automation", "list").standardOutput == "There are no automations.\n")
        }
    }
}
