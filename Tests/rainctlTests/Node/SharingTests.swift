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

    @Test("nobody has that name")
    func unknown() async throws {
        try await OnlineBoards.with { scene in
            let outcome = try await scene.rainctl(
                "node", "share", "add", "nodelight", "--with", "no@example.com", "--json")
            outcome.expectFailure(77, "auth", says: "no such user")
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
