// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainJSON
import Testing

@testable import RainKit
@testable import RainMaker

@Suite("Updates of the dashboard: what their states mean")
struct UpdateJobReportsTests {
    private static let node = Node(["id": "n1"])!
    private static let job = UpdateJob(id: "J1")
    private typealias Report = UpdateJobReport

    @Test("the end of an earlier attempt does not count until the node has reported again")
    func earlier() {
        let old = Report(state: "failed", info: "OTA Attempt 3/3 failed: x", time: UnixTime(seconds: 5))
        var reports = UpdateJobReports(before: old)
        #expect(reports.take(old) == nil && !reports.isOver && reports.last == nil)
        #expect(reports.take(Report(state: "in-progress", info: "Starting")) == "in-progress: Starting")
        #expect(reports.take(Report(state: "in-progress", info: "Starting")) == nil)
        #expect(reports.take(old) == "failed: OTA Attempt 3/3 failed: x" && reports.isOver)
        // The same words at another time are another end.
        var again = UpdateJobReports(before: old)
        let later = Report(state: "failed", info: old.info, time: UnixTime(seconds: 9))
        #expect(again.take(later) != nil && again.isOver)
    }

    @Test("a state before the start is shown unless it is an end")
    func open() {
        var reports = UpdateJobReports(before: Report(state: "triggered"))
        #expect(reports.take(Report(state: "triggered")) == "triggered" && !reports.isOver)
        #expect(reports.take(Report(state: "on-hold")) == "on-hold" && !reports.isOver)
        #expect(reports.take(Report(state: "failed", info: "OTA Attempt 1/3 failed: x")) != nil && !reports.isOver)
        #expect(reports.take(Report(state: "completed")) == "completed" && reports.isOver)
    }

    @Test("each end has its reason, and an update that is not over names its state")
    func ends() {
        func reason(_ report: Report?, fault: AccountError? = nil) -> RainKitError? {
            UpdateJobOutcome(Self.job, report: report, fault: fault).error(at: Self.node)
        }
        #expect(reason(Report(state: "success")) == nil && reason(Report(state: "completed")) == nil)
        #expect(reason(Report(state: "rejected", info: "Same version received"))?.reason == "update_rejected")
        #expect(reason(Report(state: "failed"))?.reason == "update_failed")
        let between = reason(Report(state: "failed", info: "OTA Attempt 1/3 failed: x"))
        #expect(between?.reason == "deadline")
        let delayed = reason(Report(state: "delayed", info: "Not within download window."))
        #expect(delayed?.message.contains("its last state is delayed (Not within download window.)") == true)
        #expect(reason(nil)?.message.contains("has not begun") == true)
        let refused = reason(nil, fault: AccountError(.rejected, message: "no"))
        #expect(
            refused?.account?.code == .rejected && refused?.message.contains("The update itself continues.") == true)
    }

    @Test("a board that asks for approval itself shows an update, with or without its id")
    func approval() throws {
        func node(_ info: JSONValue?, parameters: [JSONValue]) throws -> Node {
            let service: JSONValue = ["name": "OTA", "type": "esp.service.ota", "params": .array(parameters)]
            return try #require(
                Node([
                    "id": "n1", "config": ["services": [service]], "params": info.map { ["OTA": ["Info": $0]] } ?? [:],
                ]))
        }
        let operation: JSONValue = ["name": "Operation", "type": "esp.param.ota_operation"]
        let info: JSONValue = ["name": "Info", "type": "esp.param.ota_info"]
        #expect(BoardApproval(of: try node(nil, parameters: [info])) == nil)
        let plain = try node(nil, parameters: [operation, info])
        let approval = try #require(BoardApproval(of: plain))
        let wanted = UpdateJob(id: "J1")
        #expect(approval.job(shownBy: plain, wanted: wanted) == nil)
        func job(_ info: JSONValue, _ wanted: UpdateJob?) throws -> String? {
            approval.job(shownBy: try node(info, parameters: [operation]), wanted: wanted)?.id
        }
        #expect(try job([:], wanted) == nil)
        #expect(try job(["ota_job_id": "J1"], wanted) == "J1" && job(["ota_job_id": "J2"], wanted) == nil)
        #expect(try job(["ota_job_id": "J2"], nil) == "J2")
        #expect(try job(["version": "2.0"], wanted) == "J1" && job(["version": "2.0"], nil) == nil)
    }

    @Test("over parameters, an update is not over between two attempts")
    func attempts() {
        func state(_ status: String, _ info: String) -> UpdateService.State {
            UpdateService.State(status: status, info: info)
        }
        var reports = UpdateReports(before: UpdateService.State(), version: "1.0", image: "2.0")
        for (status, info) in [
            ("in-progress", "Starting OTA Upgrade (HTTPS attempt 1/3)"),
            ("failed", "OTA Attempt 1/3 failed: Complete data was not received"),
            ("failed", "Starting OTA Upgrade (HTTPS attempt 2/3)"),
        ] {
            _ = reports.take(state(status, info), version: "1.0")
            #expect(!reports.isOver, "\(info)")
        }
        _ = reports.take(state("failed", "OTA Attempt 3/3 failed: Complete data was not received"), version: "1.0")
        #expect(reports.isOver && reports.said?.status == "failed")
    }
}
