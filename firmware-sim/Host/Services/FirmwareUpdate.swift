// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON

/// An update over the air as its node reports it (`esp_rmaker_ota_using_params.c`); no image is fetched.
struct FirmwareUpdate {
    /// How it ends.
    enum End: String, ExpressibleByArgument, CaseIterable {
        case success, failed, rejected, delayed
        /// The board does not come back after its restart.
        case vanish
    }

    /// Between one report and the next, in milliseconds.
    private static let pace: UInt64 = 500

    private let end: End
    private var reports: ArraySlice<(status: String, info: String)> = []
    private var nextAt: UInt64 = 0
    private(set) var status = ""
    private var info = ""
    /// The board restarts with the report just made.
    private(set) var restarts = false

    init(_ end: End) { self.end = end }

    /// False while another one is under way.
    mutating func start(at now: WallTime) -> Bool {
        guard reports.isEmpty else { return false }
        (status, info, restarts) = ("in-progress", "Starting OTA Upgrade", false)
        let last: [(String, String)] =
            switch end {
            case .success: [("success", "OTA Upgrade finished successfully")]
            case .failed: [("failed", "Image validation failed, image is corrupted")]
            case .rejected: [("rejected", "Project name mismatch")]
            case .delayed:
                [("delayed", "Not a good time for an update"), ("success", "OTA Upgrade finished successfully")]
            case .vanish: []
            }
        reports = ([("in-progress", "Downloading Firmware Image")] + last)[...]
        nextAt = now.milliseconds + Self.pace
        return true
    }

    /// Whether there is something to report.
    mutating func advance(to now: WallTime) -> Bool {
        guard !reports.isEmpty, now.milliseconds >= nextAt, let next = reports.popFirst() else { return false }
        (status, info) = next
        nextAt = now.milliseconds + Self.pace
        restarts = reports.isEmpty && (end == .success || end == .delayed || end == .vanish)
        return true
    }

    var isUnderWay: Bool { !reports.isEmpty }
    var staysAway: Bool { end == .vanish && restarts }
    var json: JSONValue { ["Status": .string(status), "Info": .string(info)] }
}
