// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainCryptoOpenSSL
import RainJSON
import Synchronization
import TestSupport
import Testing

@testable import CloudSimulator

/// Updates of the dashboard: whom they are offered, and when they are over.
@Suite("The simulated dashboard's updates")
struct UpdateJobTests {
    private final class Scene: Sendable {
        let cloud: TestCloud
        let token: String
        private let orders = Orders()

        /// The messages on `otaurl`.
        private final class Orders: Sendable { let all = Mutex<[JSONValue]>([]) }

        init() throws {
            cloud = try TestCloud(nodes: ["own", "foreign"])
            token = try cloud.signIn().access
            try cloud.map("own", token: token)
            cloud.api.outbox.withLock { [orders] outbox in
                outbox = CloudAPI.Outbox { node, suffix, payload in
                    guard suffix == "otaurl", node == "own", let json = try? JSONValue(parsing: payload) else { return }
                    orders.all.withLock { $0.append(json) }
                }
            }
        }

        var sent: [JSONValue] { orders.all.withLock(\.self) }

        func job(_ body: JSONValue) throws -> String {
            let made = cloud.control("ota_job", body)
            return try #require(made.body["ota_job_id"]?.string, "\(made)")
        }

        func get(_ target: String) -> Response { cloud.send("GET", "/v1/user/nodes/\(target)", token: token) }
        func offered() -> String? { get("ota_update?node_id=own").body["ota_job_id"]?.string }
        func start(_ job: String, node: String = "own") -> Response {
            cloud.send(
                "POST", "/v1/user/nodes/ota_update", ["ota_job_id": .string(job), "node_id": .string(node)],
                token: token)
        }
        func state(_ job: String) -> String? {
            get("ota_status?node_id=own&ota_job_id=\(job)").body["status"]?.string
        }
        func publish(_ suffix: String, _ message: JSONValue, node: String = "own") {
            cloud.api.receive(topic: "$aws/rules/any/node/\(node)/\(suffix)", payload: message.serialized())
        }
        func report(_ job: String, _ status: String, node: String = "own") {
            publish("otastatus", ["ota_job_id": .string(job), "status": .string(status), "ts": 5], node: node)
        }
    }

    @Test(
        "force push: the node gets it at once and at each question, until a success or a rejection",
        arguments: [
            "success", "rejected",
        ])
    func forced(end: String) throws {
        let scene = try Scene()
        let job = try scene.job(["nodes": ["own"], "url": "http://x/1", "fw_version": "2.0", "metadata": ["x": 1]])
        #expect(scene.sent.count == 1 && scene.state(job) == "triggered" && scene.offered() == job)
        #expect(scene.sent[0]["url"] == "http://x/1" && scene.sent[0]["metadata"] == ["x": 1])
        for state in ["in-progress", "failed", "delayed"] {
            scene.report(job, state)
            #expect(scene.state(job) == state && scene.offered() == job)
        }
        scene.publish("otafetch", ["node_id": "own", "fw_version": "1.0"])
        #expect(scene.sent.count == 2)
        scene.report(job, end)
        #expect(scene.state(job) == end && scene.offered() == nil)
        #expect(scene.get("ota_update?node_id=own").body["ota_available"] == false)
        scene.publish("otafetch", ["node_id": "own", "fw_version": "1.0"])
        scene.report(job, "in-progress")
        #expect(scene.sent.count == 2 && scene.state(job) == end)
        #expect(scene.start(job).status == 400)
    }

    @Test("user approval: nothing is sent before the user's call, then at each question")
    func approval() throws {
        let scene = try Scene()
        let job = try scene.job(["nodes": ["own"], "url": "http://x/1", "user_approval": true])
        scene.publish("otafetch", ["node_id": "own"])
        #expect(scene.sent.isEmpty && scene.offered() == job)
        #expect(scene.start(job).status == 200 && scene.sent.count == 1 && scene.state(job) == "started")
        scene.publish("otafetch", ["node_id": "own"])
        #expect(scene.sent.count == 2)
        scene.report(job, "in-progress")
        #expect(scene.start(job).status == 200 && scene.state(job) == "in-progress")
    }

    @Test("only nodes of the image's model and type are offered it, and the newest one first")
    func conditions() throws {
        let scene = try Scene()
        scene.publish("config", ["node_id": "own", "info": ["model": "led_light", "type": "Lightbulb"]])
        _ = try scene.job(["nodes": ["own"], "url": "http://x/1", "model": "fan"])
        _ = try scene.job(["nodes": ["own"], "url": "http://x/1", "type": "Fan"])
        #expect(scene.offered() == nil && scene.sent.isEmpty)
        let fits = try scene.job(["nodes": ["own"], "url": "http://x/2", "model": "led_light", "type": "Lightbulb"])
        #expect(scene.offered() == fits && scene.sent.count == 1)
        let newer = try scene.job(["nodes": ["own"], "url": "http://x/3"])
        #expect(scene.offered() == newer)
        #expect(scene.cloud.control("ota_cancel", ["ota_job_id": .string(newer)]).status == 200)
        #expect(scene.offered() == fits)
        #expect(scene.cloud.control("ota_cancel", ["ota_job_id": .string(newer)]).status == 404)
    }

    @Test("an image is served with its size and MD5, and its version is read from it")
    func image() throws {
        let scene = try Scene()
        var bytes = [UInt8](repeating: 0, count: 300)
        bytes.replaceSubrange(32..<36, with: [0x32, 0x54, 0xCD, 0xAB])
        bytes.replaceSubrange(48..<51, with: Array("2.1".utf8))
        let job = try scene.job(["nodes": ["own"], "image": .string(Base64.text(bytes))])
        let offer = scene.get("ota_update?node_id=own").body
        #expect(offer["fw_version"] == "2.1" && offer["file_size"] == 300 && offer["ota_job_id"] == .string(job))
        let hash = Hex.text(OpenSSLHashes.md5(bytes))
        #expect(offer["file_md5"] == .string(hash) && hash.count == 32)
        let path = try #require(offer["url"]?.string?.split(separator: "/otaimages/").last)
        let served = scene.cloud.send("GET", "/otaimages/\(path)")
        #expect(served.content == .data(bytes, type: "application/octet-stream"))
        #expect(served.headers.contains { $0.name == "ETag" && $0.value == "\"\(hash)\"" })
    }

    @Test("nodes of others, unknown jobs and wrong members are refused")
    func refusals() throws {
        let scene = try Scene()
        let job = try scene.job(["nodes": ["own", "foreign"], "url": "http://x/1", "user_approval": true])
        #expect(scene.get("ota_update?node_id=foreign").errorCode == 100010)
        #expect(scene.get("ota_update").errorCode == 100009)
        #expect(scene.start(job, node: "foreign").errorCode == 100010)
        #expect(scene.start("other").status == 404 && scene.get("ota_status?node_id=own").errorCode == 100021)
        #expect(scene.get("ota_status?node_id=own&ota_job_id=other").status == 404)
        #expect(scene.cloud.send("GET", "/v1/user/nodes/ota_update?node_id=own").status == 401)
        // Another node's report, an unknown state, no id.
        scene.report(job, "success", node: "foreign")
        scene.report(job, "finished")
        scene.publish("otastatus", ["status": "success"])
        #expect(scene.state(job) == "triggered")
        for body: JSONValue in [
            [:], ["nodes": []], ["nodes": ["own"]], ["nodes": ["none"], "url": "x"], ["nodes": ["own"], "image": "?"],
            ["nodes": ["own"], "image": ""], ["nodes": ["own"], "url": "x", "metadata": 1],
        ] {
            #expect(scene.cloud.control("ota_job", body).status >= 400, "\(body)")
        }
    }

    @Test("an alert is noted, and a message that is not JSON is ignored by the cloud itself")
    func alerts() throws {
        let scene = try Scene()
        scene.publish("alert", ["esp.alert.str": "Door"])
        scene.cloud.api.receive(topic: "node/own/alert", payload: Array(#"{"esp.alert.str":"a "b" c"}"#.utf8))
        let noted = try scene.cloud.journal.entries(where: ["event": "node", "node": "own"]).map { $0["what"] }
        #expect(noted == ["alert", "ignored"])
    }
}
