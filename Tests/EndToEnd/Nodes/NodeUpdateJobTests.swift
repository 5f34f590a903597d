// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainJSON
import RainKit
import TestSupport
import Testing

/// Updates that are made in the simulated dashboard. The simulated board downloads and checks each image.
@Suite("rainctl node update")
struct NodeUpdateJobTests {
    private static let topics = ["--update-by", "topics"]

    private static func job(
        _ id: String, _ image: [UInt8], approval: Bool = true, _ more: [JSONValue.Member] = [], at scene: OnlineBoards
    ) async throws {
        let body: [JSONValue.Member] = [
            .init("id", .string(id)), .init("nodes", ["nodelight"]), .init("image", .string(Base64.text(image))),
            .init("user_approval", .bool(approval)),
        ]
        try await scene.cloud.control("ota_job", .object(body + more))
    }

    @Test(
        "check, start and status: the board has the new version, and the update is no longer offered",
        arguments: [
            ["--no-basic-ingest"], [],
        ])
    func success(options: [String]) async throws {
        try await OnlineBoards.with(options: Self.topics + options) { scene in
            let none = try await scene.done("node", "update", "check", "nodelight", "--json")
            #expect(none.document?["available"] == false && none.document?["current_version"] == "1.0")
            let missing = try await scene.rainctl("node", "update", "start", "nodelight", "--json")
            missing.expectFailure(1, "other", says: "no update for Light")
            #expect(missing.failure?["reason"] == "no_update")
            let stateless = try await scene.rainctl("node", "update", "status", "nodelight", "--json")
            #expect(stateless.failure?["reason"] == "no_update")

            try await Self.job("J1", NodeUpdateTests.image(), at: scene)
            let offer = try await scene.done("node", "update", "check", "nodelight", "--json")
            #expect(offer.document?["job_id"] == "J1" && offer.document?["version"] == "2.0")
            #expect(offer.document?["size"] == 4096 && offer.document?["md5"]?.string?.count == 32)
            let text = try await scene.done("node", "update", "check", "nodelight")
            #expect(text.standardOutput.contains("Light (nodelight) has 1.0: 2.0 is available, 4 KiB"))
            #expect(text.standardOutput.contains("rainctl node update start nodelight"))
            let before = try await scene.done("node", "update", "status", "nodelight", "--json")
            #expect(before.document?["state"] == "triggered" && before.document?["job_id"] == "J1")

            let outcome = try await scene.done("node", "update", "start", "nodelight", "--json")
            #expect(outcome.document?["state"] == "success" && outcome.document?["version"] == "2.0")
            #expect(outcome.document?["info"] == "OTA Upgrade finished and verified successfully")
            #expect(outcome.standardError.contains("in-progress: Starting OTA Upgrade (HTTPS attempt 1/3)"))
            let restarted = try scene.boards[0].journal.entries(where: ["change": "restarted"])
            #expect(restarted.count == 1)

            let after = try await scene.done("node", "update", "check", "nodelight", "--json")
            #expect(after.document?["available"] == false && after.document?["current_version"] == "2.0")
            let over = try await scene.done("node", "update", "status", "nodelight", "--job", "J1", "--wait")
            #expect(over.standardOutput == "Light (nodelight) has installed update J1\n")
        }
    }

    @Test("force push needs no approval: status follows it")
    func forced() async throws {
        try await OnlineBoards.with(options: Self.topics) { scene in
            try await Self.job("J1", NodeUpdateTests.image(), approval: false, at: scene)
            let outcome = try await scene.done(
                "node", "update", "status", "nodelight", "--job", "J1", "--wait", "--json")
            #expect(
                outcome.document?["state"] == "success" && outcome.document?["time"]?.string?.hasPrefix("20") == true)
        }
    }

    @Test("a board that asks for approval itself gets check and start")
    func approval() async throws {
        try await OnlineBoards.with(options: ["--update-by", "approval"]) { scene in
            try await Self.job("J1", NodeUpdateTests.image(), approval: false, at: scene)
            _ = try await scene.cloud.journal.entry(where: ["event": "node", "what": "otastatus"])
            let waiting = try await scene.done("node", "update", "status", "nodelight")
            #expect(waiting.standardOutput == "Light (nodelight): 2.0 is delayed: Waiting for Approval\n")
            let offer = try await scene.done("node", "update", "check", "nodelight", "--json")
            #expect(offer.document?["board_info"]?["ota_job_id"] == "J1")
            let outcome = try await scene.done("node", "update", "start", "nodelight", "--json")
            #expect(outcome.document?["state"] == "success")
            #expect(outcome.standardError.contains("the update is approved on Light (nodelight)"))
        }
    }

    @Test(
        "images that the board refuses",
        arguments: [
            (NodeUpdateTests.image(project: "fan"), "update_rejected", "Project Name mismatch"),
            (NodeUpdateTests.image(version: "1.0"), "update_rejected", "Same version received"),
            (NodeUpdateTests.image(chip: 9), "update_rejected", "Chip revision mismatch"),
        ])
    func rejected(image: [UInt8], reason: String, words: String) async throws {
        try await OnlineBoards.with(options: Self.topics) { scene in
            try await Self.job("J1", image, at: scene)
            let outcome = try await scene.rainctl("node", "update", "start", "nodelight", "--json")
            outcome.expectFailure(1, "other", says: words)
            #expect(outcome.failure?["reason"]?.string == reason && outcome.document?["state"] == "rejected")
            let other = try await scene.rainctl("node", "update", "status", "nodelight", "--job", "J9", "--json")
            #expect(other.failure?["message"]?.string?.contains("no update J9 for this node") == true)
            let offer = try await scene.done("node", "update", "check", "nodelight", "--json")
            #expect(offer.document?["available"] == false)
        }
    }

    @Test("a damaged image fails after three attempts, and is offered again")
    func damaged() async throws {
        try await OnlineBoards.with(options: Self.topics) { scene in
            var image = NodeUpdateTests.image()
            image[2000] ^= 1
            try await Self.job("J1", image, at: scene)
            let outcome = try await scene.rainctl("node", "update", "start", "nodelight", "--json")
            outcome.expectFailure(1, "other", says: "OTA Attempt 3/3 failed: Image validation failed")
            #expect(outcome.failure?["reason"] == "update_failed")
            let downloads = try scene.boards[0].journal.entries(where: ["event": "download", "outcome": "complete"])
            #expect(downloads.count == 3)
            let offer = try await scene.done("node", "update", "check", "nodelight", "--json")
            #expect(offer.document?["job_id"] == "J1")
        }
    }

    @Test(
        "a download that breaks in the middle is tried again, over topics and over parameters",
        arguments: [
            UpdateWays.topics, .params,
        ])
    func broken(way: UpdateWays) async throws {
        try await OnlineBoards.with(options: ["--update-by", way.rawValue]) { scene in
            let rule: JSONValue = ["method": "GET", "path": "/otaimages/*", "action": "cut", "count": 1]
            try await scene.cloud.control("faults", ["rules": [rule]])
            let image = NodeUpdateTests.image(size: 300_000)
            let outcome: Maker.Outcome
            if way == .topics {
                try await Self.job("J1", image, at: scene)
                outcome = try await scene.done("node", "update", "start", "nodelight", "--json")
            } else {
                scene.maker.folder.writePrivately(image, to: "image.bin")
                let file = scene.maker.folder.file("image.bin")
                outcome = try await scene.done("node", "ota", "nodelight", file, "--json")
            }
            #expect(outcome.document?["state"] == "success")
            let journal = scene.boards[0].journal
            // The reset may come before or after the board has read the head of the answer.
            #expect(try journal.entries(where: ["event": "download"]).count == 2)
            #expect(try journal.entries(where: ["event": "download", "outcome": "complete"]).count == 1)
        }
    }

    enum UpdateWays: String, Sendable { case topics, params }

    /// Starts the update J1, and follows it for a short time after the board has reported for the first time.
    private static func delayed(at scene: OnlineBoards) async throws -> Maker.Outcome {
        try await scene.done("node", "update", "start", "nodelight", "--no-wait")
        _ = try await scene.cloud.journal.entry(where: ["event": "node", "what": "otastatus"])
        return try await scene.rainctl(
            "node", "update", "status", "nodelight", "--job", "J1", "--wait", "--timeout", "10", "--json")
    }

    @Test("a window that is not now delays the update; one that is over fails it")
    func windows() async throws {
        try await OnlineBoards.with(options: Self.topics) { scene in
            let future: JSONValue = ["validity": ["start": 4_000_000_000]]
            try await Self.job("J1", NodeUpdateTests.image(), [.init("metadata", future)], at: scene)
            let offer = try await scene.done("node", "update", "check", "nodelight")
            #expect(offer.standardOutput.contains("valid from 2096-10-02T07:06:40"))
            let outcome = try await Self.delayed(at: scene)
            outcome.expectFailure(16, "deadline", says: "delayed (Not within valid window.)")
            #expect(
                outcome.failure?["message"]?.string?.contains("rainctl node update status nodelight --job J1") == true)
            #expect(outcome.document?["state"] == "delayed")
            try await scene.cloud.control("ota_cancel", ["ota_job_id": "J1"])

            let past: JSONValue = ["validity": ["end": 1_000_000_000]]
            try await Self.job("J2", NodeUpdateTests.image(), [.init("metadata", past)], at: scene)
            let lapsed = try await scene.rainctl("node", "update", "start", "nodelight", "--json")
            lapsed.expectFailure(1, "other", says: "OTA download window lapsed.")
        }
        try await OnlineBoards.with(options: Self.topics + ["--no-clock"]) { scene in
            let daily: JSONValue = ["download_window": ["start": 0, "end": 1439]]
            try await Self.job("J1", NodeUpdateTests.image(), [.init("metadata", daily)], at: scene)
            let outcome = try await Self.delayed(at: scene)
            outcome.expectFailure(16, "deadline", says: "No time information available yet.")
        }
    }

    @Test("--no-wait ends at once, and Ctrl-C leaves the update alone")
    func unfollowed() async throws {
        try await OnlineBoards.with(options: Self.topics + ["--update", "vanish"]) { scene in
            try await Self.job("J1", NodeUpdateTests.image(), at: scene)
            let child = try await scene.maker.start(["node", "update", "start", "nodelight", "--json"])
            defer { child.kill() }
            try await child.errorOutput(containing: "in-progress")
            child.signal(SIGINT)
            #expect(try await child.wait() == .exited(130))
            try await child.drained()
            #expect(
                child.standardOutput.contains(
                    "See the update's progress with rainctl node update status nodelight --job J1."),
                "\(child.standardOutput)")
            let sent = try await scene.done("node", "update", "start", "nodelight", "--no-wait", "--json")
            #expect(sent.document?["state"] == "sent" && sent.document?["job_id"] == "J1")
        }
    }

    @Test("an image of one's own is not sent to a board that gets its updates from the dashboard")
    func noService() async throws {
        try await OnlineBoards.with(options: Self.topics) { scene in
            scene.maker.folder.writePrivately(NodeUpdateTests.image(), to: "image.bin")
            let outcome = try await scene.rainctl(
                "node", "ota", "nodelight", scene.maker.folder.file("image.bin"), "--json")
            outcome.expectFailure(65, "bad_data", says: "start the update with rainctl node update start nodelight.")
            #expect(outcome.failure?["reason"] == "no_service")
        }
    }

    @Test("states that rainctl does not know are shown as they are; a refusal is an error")
    func unknownStates() async throws {
        let node = #"{"node_details":[{"id":"n1","config":{"node_id":"n1","info":{"fw_version":"1.0"}}}]}"#
        let status = "GET /v1/user/nodes/ota_status?node_id=n1&ota_job_id=J1"
        func answers(_ states: [(status: Int, body: String)]) -> [String: [(status: Int, body: String)]] {
            [
                "GET /v1/user/nodes?node_id=n1&node_details=true": [(200, node)],
                "POST /v1/user/nodes/ota_update": [CannedCloud.done], status: states,
            ]
        }
        let states = [
            CannedCloud.refusal(100_012), (200, #"{"status":"on-hold","additional_info":"a\u001b[2Jb"}"#),
            (200, #"{"status":"completed"}"#),
        ]
        try await AccountScene.run(answers(states), signedIn: true) { maker, cloud in
            let outcome = try await maker.succeeds(["node", "update", "start", "n1", "--job", "J1", "--json"])
            #expect(outcome.document?["state"] == "completed")
            #expect(outcome.standardError.contains("on-hold: a [2Jb"), "\(outcome.standardError)")
            #expect(cloud.bodies("POST /v1/user/nodes/ota_update") == [["ota_job_id": "J1", "node_id": "n1"]])
        }
        try await AccountScene.run(answers([CannedCloud.refusal(100_012)]), signedIn: true) { maker, _ in
            let outcome = try await maker.rainctl(["node", "update", "status", "n1", "--job", "J1", "--wait", "--json"])
            #expect(outcome.status != 0 && outcome.failure?["reason"] == "rejected", "\(outcome.standardOutput)")
        }
    }

    @Test("the image's address answers curl with its size and its MD5, which md5sum confirms")
    func imageByCurl() async throws {
        try await OnlineBoards.with(options: Self.topics) { scene in
            let image = NodeUpdateTests.image(size: 100_000)
            try await Self.job("J1", image, at: scene)
            let offer = try await scene.done(
                "account", "curl", "--", "--silent", "/v1/user/nodes/ota_update?node_id=nodelight")
            let answer = try JSONValue(parsing: Array(offer.standardOutput.utf8))
            let url = try #require(answer["url"]?.string)
            let file = scene.maker.folder.file("fetched.bin")
            let curl = try await run("curl", ["--silent", "--fail", "--dump-header", "-", "--output", file, url])
            #expect(curl.status == .exited(0) && curl.standardOutput.contains("Content-Length: 100000\r\n"))
            let sum = try await run("md5sum", [file])
            let hash = try #require(sum.standardOutput.split(separator: " ").first.map(String.init))
            #expect(curl.standardOutput.contains("ETag: \"\(hash)\"\r\n") && answer["file_md5"] == .string(hash))
            // A part of the image, then a reset.
            let rule: JSONValue = ["path": "/otaimages/*", "action": "cut"]
            try await scene.cloud.control("faults", ["rules": [rule]])
            let cut = try await run("curl", ["--silent", "--output", file, url])
            #expect(cut.status != .exited(0))
        }
    }

    @Test("the official client reads the offer, starts the update, and reads its state")
    func officialClient() async throws {
        try await OnlineBoards.with(options: Self.topics) { scene in
            try await Self.job("J1", NodeUpdateTests.image(), at: scene)
            let client = try await OfficialClient(api: scene.cloud.api, in: scene.maker.folder)
            try await client.logIn()
            func call(_ method: String, _ path: String, _ more: String...) async throws -> String {
                try await client.run(["raw-api", "--method", method, "--api", path] + more).standardOutput
            }
            let offer = try await call("GET", "user/nodes/ota_update?node_id=nodelight")
            #expect(offer.contains("ota_available") && offer.contains("J1"), "\(offer)")
            let body = #"{"ota_job_id":"J1","node_id":"nodelight"}"#
            let started = try await call("POST", "user/nodes/ota_update", "--body", body)
            #expect(started.contains("success"), "\(started)")
            _ = try await scene.done("node", "update", "status", "nodelight", "--job", "J1", "--wait")
            let state = try await call("GET", "user/nodes/ota_status?node_id=nodelight&ota_job_id=J1")
            #expect(state.contains("finished and verified successfully"), "\(state)")
        }
    }
}
