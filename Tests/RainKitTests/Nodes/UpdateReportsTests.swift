// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RainKit

@Suite("Firmware updates: which update has ended")
struct UpdateReportsTests {
    /// One report of the board.
    private struct Look {
        var status: String?
        var info: String?
        var version: String?

        init(_ status: String?, _ info: String? = nil, _ version: String? = "1.0") {
            (self.status, self.info, self.version) = (status, info, version)
        }
        var state: UpdateService.State { UpdateService.State(status: status, info: info) }
    }

    /// Returns the reports' state after these looks. The first look is right before the board got version 2.0.
    private func reports(_ before: Look, _ looks: Look...) -> UpdateReports {
        var reports = UpdateReports(before: before.state, version: before.version, image: "2.0")
        for look in looks { _ = reports.take(look.state, version: look.version) }
        return reports
    }

    @Test("this update's, if its beginning was seen, whatever version the firmware reports")
    func begun() {
        let done = reports(Look("success", "old"), Look("in-progress", "Starting"), Look("success", "new"))
        #expect(done.isOver && done.said == Look("success", "new").state)
        let restarted = reports(Look(nil), Look("in-progress", "Rebooting"), Look(nil), Look("success", "verified"))
        #expect(restarted.isOver)
        let same = reports(Look("success", "same words"), Look("in-progress"), Look("success", "same words"))
        #expect(same.isOver)
    }

    @Test("this update's, if the board has its version now and did not have it before")
    func version() {
        #expect(reports(Look("success", "old"), Look("success", "old", "2.0")).isOver)
        #expect(reports(Look("in-progress"), Look("success", "new", "2.0")).isOver)
        #expect(!reports(Look("success", "old", "2.0"), Look("success", "old", "2.0")).isOver)
        #expect(!reports(Look("in-progress"), Look("in-progress", nil, "2.0")).isOver, "it has not reported a success")
    }

    @Test("unknown, if neither was seen; once the board has the version, it is this update's")
    func doubted() {
        let success = Look("success", "verified")
        var reports = reports(Look(nil), success, success)
        #expect(!reports.isOver && reports.said == nil && reports.doubted == success.state)
        _ = reports.take(success.state, version: "2.0")
        #expect(reports.isOver && reports.doubted == nil && reports.said == success.state)
    }

    @Test("of firmware that reports no version, any change counts")
    func noVersion() {
        let success = Look("success", "new", nil)
        #expect(reports(Look("failed", "old", nil), success, success).isOver)
        #expect(reports(Look("in-progress", "old", nil), success, success).doubted == nil)
        #expect(!reports(Look("in-progress", "old", nil), success, success).isOver)
    }

    @Test(
        "not this update's: an old status beside the new text of an update that begins",
        arguments: ["success", "failed", "rejected"])
    func between(status: String) {
        let old = Look(status, "old", nil)
        let reports = reports(old, Look(status, "Starting OTA Upgrade", nil), Look("in-progress", "Starting", nil))
        #expect(!reports.isOver && reports.said?.status == "in-progress")
        #expect(self.reports(Look(nil), Look("rejected", "other project"), Look("rejected", "other project")).isOver)
    }

    @Test("an earlier update's, until that has ended or the board has restarted, and another begins")
    func earlier() {
        let busy = Look("in-progress", "10%")
        let failed = reports(busy, Look("in-progress", "20%"), Look("failed", "no connection"))
        #expect(!failed.isOver && failed.said == nil && failed.earlierIsOver)
        #expect(failed.earlier == Look("failed", "no connection").state)
        let next = reports(busy, Look("success"), Look("in-progress", "Starting"), Look("success", "new"))
        #expect(next.isOver && next.said == Look("success", "new").state)
        // Firmware with rollback restarts before it reports the result of the earlier update.
        let verified = reports(busy, Look(nil), Look("success", "verified", "1.1"), Look("success", "verified", "1.1"))
        #expect(!verified.isOver && verified.said == nil && verified.earlierIsOver)
        #expect(reports(busy, Look(nil), Look("in-progress", "Starting"), Look("success")).isOver)
    }
}
