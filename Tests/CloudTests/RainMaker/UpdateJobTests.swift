// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON
import RainKitTesting
import TestSupport
import Testing

@testable import RainMaker

/// The calls for updates of the dashboard, with the members of Espressif's TypeScript SDK 3.3.0 (`types/ota.ts`).
@Suite("Updates of the dashboard: calls")
struct UpdateJobTests {
    private let lamp = NodeID("n1")

    private func offer(_ answer: String) async throws -> UpdateOffer {
        let script = try ScriptedCloud()
        script.http.expect(.get, "/v1/user/nodes/ota_update?node_id=n1", answer)
        defer { #expect(throws: Never.self) { try script.http.finish() } }
        return try await script.cloud.updateOffer(for: lamp)
    }

    private func report(_ answer: String) async throws -> UpdateJobReport {
        let script = try ScriptedCloud()
        script.http.expect(.get, "/v1/user/nodes/ota_status?node_id=n1&ota_job_id=J%201", answer)
        return try await script.cloud.updateReport(of: "J 1", at: lamp)
    }

    @Test("an offer has the id, and what else the cloud says")
    func offers() async throws {
        let whole = try await offer(
            #"{"status":"success","ota_available":true,"description":"New","fw_version":"2.0","ota_job_id":"J1","#
                + #""file_size":1024,"url":"https://images.example/1","file_md5":"ab","stream_id":"s","#
                + #""metadata":{"download_window":{"start":1380,"end":120},"validity":{"start":1700000000,"end":1800000000},"x":1}}"#
        )
        let job = try #require(whole.job)
        #expect(job.id == "J1" && job.version == "2.0" && job.size == 1024 && job.md5 == "ab")
        #expect(whole.description == "New" && job.metadata?["x"] == 1)
        #expect(job.window?.timesOfDay == "23:00 to 02:00")
        #expect(job.window?.validFrom == UnixTime(seconds: 1_700_000_000))
        #expect(job.window?.validUntil == UnixTime(seconds: 1_800_000_000))
        let least = try await offer(#"{"ota_available":true,"ota_job_id":"J1","file_size":"2048","metadata":null}"#)
        #expect(least == UpdateOffer(job: UpdateJob(id: "J1", size: 2048)))
        let none = try await offer(#"{"status":"success","ota_available":false,"description":"No update"}"#)
        #expect(none == UpdateOffer(description: "No update"))
    }

    @Test(
        "members of another type are errors",
        arguments: [
            "{}", #"{"ota_available":"true"}"#, #"{"ota_available":true}"#, #"{"ota_available":true,"ota_job_id":""}"#,
            #"{"ota_available":true,"ota_job_id":7}"#, #"{"ota_available":true,"ota_job_id":"J","file_size":"many"}"#,
            #"{"ota_available":true,"ota_job_id":"J","file_size":-1}"#,
            #"{"ota_available":true,"ota_job_id":"J","metadata":"{}"}"#,
            #"{"ota_available":true,"ota_job_id":"J","fw_version":2}"#,
        ])
    func malformed(answer: String) async throws {
        let error = await #expect(throws: AccountError.self) { _ = try await offer(answer) }
        #expect(error?.code == .malformedAnswer)
    }

    @Test("a window has an effect only if firmware reads it")
    func windows() {
        for metadata: JSONValue? in [
            nil, [:], ["download_window": ["start": 60]], ["download_window": ["start": 60, "end": 1440]],
            ["download_window": ["start": "60", "end": 90]], ["validity": ["start": -1]], ["validity": 7],
        ] {
            #expect(UpdateWindow(metadata) == nil, "\(String(describing: metadata))")
        }
        #expect(UpdateWindow(["download_window": ["start": 0, "end": 1439]])?.timesOfDay == "00:00 to 23:59")
        #expect(UpdateWindow(["validity": ["end": 5]])?.validUntil == UnixTime(seconds: 5))
    }

    @Test("starting an update names the job and the node")
    func start() async throws {
        let script = try ScriptedCloud()
        script.http.expect(.post, "/v1/user/nodes/ota_update", #"{"status":"success","description":"ok"}"#)
        try await script.cloud.startUpdate("J1", at: lamp)
        #expect(script.bodies == [["ota_job_id": "J1", "node_id": "n1"]])
        try script.http.finish()
    }

    @Test("a state is shown as it is, with seconds or milliseconds, as a number or a text")
    func states() async throws {
        let time = UnixTime(seconds: 1_700_000_000)
        for number in ["1700000000", #""1700000000""#, "1700000000000"] {
            let answer =
                #"{"node_id":"n1","status":"in-progress","additional_info":"Downloading","timestamp":\#(number)}"#
            #expect(
                try await report(answer) == UpdateJobReport(state: "in-progress", info: "Downloading", time: time))
        }
        let bare = try await report(#"{"status":"on-hold","additional_info":"","timestamp":""}"#)
        #expect(bare == UpdateJobReport(state: "on-hold") && !bare.isOver && !bare.isSuccess)
        let long = try await report(#"{"status":"failed","additional_info":"\#(String(repeating: "x", count: 5000))"}"#)
        #expect(long.info?.count == 300)
        for wrong in ["{}", #"{"status":null}"#, #"{"status":1}"#, #"{"status":"failed","timestamp":[]}"#] {
            let error = await #expect(throws: AccountError.self) { _ = try await report(wrong) }
            #expect(error?.code == .malformedAnswer, "\(wrong)")
        }
    }

    @Test(
        "a job is over after a success, a rejection, or the last attempt",
        arguments: [
            ("success", nil, true), ("completed", nil, true), ("rejected", "Project Name mismatch", true),
            ("failed", nil, true), ("failed", "OTA Attempt 3/3 failed: Image validation failed", true),
            ("failed", "OTA Attempt 1/3 failed: Complete data was not received", false),
            ("failed", "Attempt 2/3 failed: Image validation failed", false),
            ("failed", "Starting OTA Upgrade (HTTPS attempt 2/3)", false),
            ("failed", "OTA download window lapsed.", true), ("failed", "OTA Attempt x/3 failed", true),
            ("failed", "OTA Attempt 1/3", true), ("delayed", "Not within download window.", false),
            ("triggered", nil, false), ("started", nil, false), ("in-progress", nil, false), ("unknown", nil, false),
        ] as [(String, String?, Bool)])
    func isOver(state: String, info: String?, isOver: Bool) {
        #expect(UpdateJobReport(state: state, info: info).isOver == isOver)
    }
}

/// Firmware sends the text of an alert without escaping it (`esp_rmaker_raise_alert`).
@Suite("Alerts of nodes")
struct NodeAlertTests {
    private func alert(_ payload: String, topic: String = "node/n1/alert") -> NodeAlert.Content? {
        alert(Array(payload.utf8), topic: topic)
    }

    private func alert(_ payload: [UInt8], topic: String = "node/n1/alert") -> NodeAlert.Content? {
        NodeAlert(MQTTMessage(topic: topic, payload: payload), of: [NodeID("n1")])?.content
    }

    @Test("a text is read, also if it breaks the JSON around it, or adds members to it")
    func texts() {
        #expect(alert(#"{"esp.alert.str":"Door open"}"#) == .text("Door open"))
        #expect(alert(#"{"esp.alert.str":"Says \"hi\""}"#) == .text(#"Says "hi""#))
        #expect(alert(#"{"esp.alert.str":"Says "hi" now"}"#) == .text(#"Says "hi" now"#))
        #expect(alert(#"{"esp.alert.str":"a","b":"c"}"#) == .text(#"a","b":"c"#))
        #expect(alert(#"{"esp.alert.str":"line\q"}"#) == .text(#"line\q"#))
        #expect(alert(#"{"esp.alert.str":""}"#) == .text(""))
        #expect(alert(#"{"esp.alert.str":"""}"#) == .text("\""))
    }

    @Test("a text has at most 100 characters, and no half of one at its end")
    func bounds() {
        #expect(alert(#"{"esp.alert.str":"\#(String(repeating: "x", count: 5000))"}"#)?.length == 100)
        #expect(alert(#"{"esp.alert.str":"\#(String(repeating: "\"", count: 5000))"}"#)?.length == 100)
        let half = Array(#"{"esp.alert.str":"too h"#.utf8) + [0xC3] + Array(#""}"#.utf8)
        #expect(alert(half) == .text("too h"))
    }

    @Test("values are read as they are")
    func values() {
        #expect(alert(#"{"Light":{"Power":true}}"#) == .values(["Light": ["Power": true]]))
    }

    @Test("values that usually hold a secret are masked")
    func masked() {
        let values = alert(#"{"Local Control":{"POP":"abcd1234","Type":1}}"#)
        #expect("\(String(describing: values))".contains("abcd1234") == false)
        #expect("\(String(describing: values))".contains("secret"))
    }

    @Test(
        "other messages are ignored",
        arguments: [
            "", "{}", "[]", "7", "{", #"{"esp.alert.str":7}"#, #"{"esp.alert.str":"x"#, #"{"esp.alert.str":"}"#,
            #"{"Light":{"Power":"#,
        ])
    func ignored(payload: String) {
        #expect(alert(payload) == nil)
    }

    @Test("alerts of other nodes and other topics are ignored")
    func topics() {
        for topic in ["node/n2/alert", "node/n1/params/local", "node/n1/alert/x", "$aws/rules/x/node/n1/alert"] {
            #expect(alert(#"{"esp.alert.str":"x"}"#, topic: topic) == nil)
        }
    }
}

extension NodeAlert.Content {
    fileprivate var length: Int? { if case .text(let text) = self { text.count } else { nil } }
}
