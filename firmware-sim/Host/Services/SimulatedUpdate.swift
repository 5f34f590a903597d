// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON

/// How the board gets updates of its firmware.
enum UpdateWay: String, ExpressibleByArgument, CaseIterable {
    /// From the parameter `OTA.URL` (`OTA_USING_PARAMS`).
    case params
    /// Over the topics `otafetch`, `otaurl` and `otastatus` (`OTA_USING_TOPICS`).
    case topics
    /// Over the topics, and the board waits for its user: `OTA.Operation` takes `check` and `start`.
    case approval
}

/// An update over the air (esp-rainmaker's `esp_rmaker_ota.c`, `esp_rmaker_ota_using_topics.c` and `esp_rmaker_ota_using_params.c`).
///
/// A value without I/O: its caller passes the time, downloads images, publishes messages and restarts the board. It waits between two
/// reports, so that clients can see each of them.
struct SimulatedUpdate {
    /// The result of the update.
    enum End: String, ExpressibleByArgument, CaseIterable {
        /// The image decides.
        case success
        case failed, rejected, delayed
        /// The board does not come back after its restart.
        case vanish
    }

    /// The properties of the firmware's build.
    struct Build {
        var way = UpdateWay.params
        var end = End.success
        /// `CONFIG_ESP_RMAKER_OTA_MAX_RETRIES`
        var attempts = 3
        /// How long the board waits after its last attempt until it fetches again, in milliseconds
        /// (`CONFIG_ESP_RMAKER_OTA_RETRY_DELAY_MINUTES`).
        var refetch: UInt64 = 300_000
        /// Whether the board knows the time of day.
        var hasClock = true
        var project = "led_light"
        /// `ESP_CHIP_ID_ESP32C3`
        var chip: UInt16 = 5
    }

    /// What the cloud has told of an image.
    struct Order: Equatable {
        var job: String?
        var url: String
        var version: String?
        var size = 0
        var md5 = ""
        var metadata: JSONValue?
    }

    /// What the board does next.
    enum Action: Equatable {
        /// New values of the service's parameters.
        case values(JSONValue)
        case publish(Sensor.Message)
        case download(String)
        case restart
    }

    /// How a download ended.
    enum Download: Equatable {
        case complete([UInt8])
        /// The connection broke after these bytes.
        case broken([UInt8])
        /// No image came: the server cannot be reached, or answers with an error. The text is firmware's.
        case noImage(String)
    }

    /// The time between two reports, in milliseconds.
    private static let pace: UInt64 = 500
    /// How long a board delays an update, in milliseconds: longer than the slowest client needs to see that.
    private static let delay: UInt64 = 5000
    /// `RMAKER_OTA_FETCH_DELAY` is 5 s.
    private static let fetchDelay: UInt64 = 200
    /// `OTA_FETCH_RETRY_DELAY`
    private static let clockDelay: UInt64 = 30_000
    /// `OTA_DELAY_TIME_BUFFER`
    private static let buffer: UInt64 = 5000
    /// The firmware's buffer for a report on `otastatus`, with the NUL.
    private static let reportLimit = 200

    private enum Step {
        case report(status: String, info: String)
        /// Begins the next attempt.
        case attempt
        case restart(version: String?)
        case over
    }

    private let build: Build
    private let nodeID: String
    /// The version of the firmware that runs.
    private(set) var version: String
    private var order: Order?
    private var attempt = 0
    private var steps: ArraySlice<Step> = []
    private var nextAt: UInt64 = 0
    private var isDownloading = false
    /// The update that waits for the board's user.
    private var offered: Order?
    /// The update that the restart is for. Firmware keeps its id in flash.
    private var validating: Order?
    private var nextVersion: String?
    private var fetchAt: UInt64?
    private var status = ""
    private var info = ""

    init(_ build: Build = Build(), nodeID: String = "", version: String = "1.0") {
        (self.build, self.nodeID, self.version) = (build, nodeID, version)
    }

    private var usesTopics: Bool { build.way != .params }

    /// Whether an update is under way. Firmware ignores the address of another one.
    var isUnderWay: Bool { order != nil || validating != nil }
    /// Whether the board makes reports, one soon after the other.
    var isBusy: Bool { !steps.isEmpty }
    /// The board does not come back.
    private(set) var staysAway = false

    // MARK: From the cloud

    /// Takes an address from the parameter.
    mutating func start(_ url: String, at now: WallTime) -> [Action] {
        guard build.way == .params, !isUnderWay else { return [] }
        return begin(Order(url: url), at: now)
    }

    /// Takes a message on `otaurl`.
    mutating func receive(_ message: [UInt8], at now: WallTime) -> [Action] {
        guard usesTopics, !isUnderWay else { return [] }
        let limits = JSONLimits(maximumBytes: 16_384, maximumDepth: 12, maximumValues: 1024)
        guard let json = try? JSONValue(parsing: message, limits: limits), json.members != nil else {
            return report("failed", "Aborted. JSON Payload error", of: nil, at: now)
        }
        guard let job = json["ota_job_id"]?.string else {
            return report("failed", "Aborted. OTA Updated ID not found in JSON", of: nil, at: now)
        }
        var order = Order(job: job, url: json["url"]?.string ?? "")
        guard !order.url.isEmpty else { return report("failed", "Aborted. URL not found in JSON", of: order, at: now) }
        order.version = json["fw_version"]?.string
        order.size = json["file_size"]?.integer.map { Int(clamping: $0) } ?? 0
        order.md5 = json["file_md5"]?.string ?? ""
        order.metadata = json["metadata"].flatMap { $0.members == nil ? nil : $0 }
        guard build.way == .approval else { return begin(order, at: now) }
        offered = order
        return [.values(values)] + report("delayed", "Waiting for Approval", of: order, at: now)
    }

    /// Takes `check` or `start` of the board's user.
    mutating func operate(_ operation: String, at now: WallTime) -> [Action] {
        guard build.way == .approval, !isUnderWay else { return [] }
        switch operation {
        case "check": return offered == nil ? [fetch] : [.values(values)]
        case "start":
            guard let order = offered else { return [] }
            offered = nil
            return begin(order, at: now)
        default: return []
        }
    }

    /// The board is connected: a new firmware is valid now, and an update may wait in the cloud.
    mutating func connected(at now: WallTime) -> [Action] {
        guard !staysAway else { return [] }
        if let order = validating {
            validating = nil
            defer { if usesTopics { fetchAt = now.milliseconds + Self.fetchDelay } }
            return report("success", "OTA Upgrade finished and verified successfully", of: order, at: now)
        }
        if usesTopics, order == nil { fetchAt = now.milliseconds + Self.fetchDelay }
        return []
    }

    // MARK: At the board

    /// The board has restarted: it has forgotten its reports.
    mutating func restarted() {
        (status, info) = ("", "")
        if let nextVersion { version = nextVersion }
        nextVersion = nil
    }

    private mutating func begin(_ order: Order, at now: WallTime) -> [Action] {
        (self.order, attempt, fetchAt) = (order, 0, nil)
        if let refusal = timeRefusal(order, at: now) {
            steps = [.report(status: refusal.status, info: refusal.info), .over]
            fetchAt = refusal.wait.map { now.milliseconds + $0 }
        } else {
            switch build.end {
            case .success: steps = [.attempt]
            case .delayed: steps = [.report(status: "delayed", info: "Not a good time for an update"), .attempt]
            case .failed:
                steps = scripted([.report(status: "failed", info: "OTA Attempt 3/3 failed: Image validation failed")])
            case .rejected: steps = scripted([.report(status: "rejected", info: "Project Name mismatch")])
            case .vanish: steps = scripted([.restart(version: nil)])
            }
        }
        nextAt = now.milliseconds
        return advance(to: now)
    }

    private func scripted(_ end: [Step]) -> ArraySlice<Step> {
        ([
            .report(status: "in-progress", info: "Starting OTA Upgrade (HTTPS attempt 1/\(build.attempts))"),
            .report(status: "in-progress", info: "Downloading Firmware Image"),
        ] + end + [.over])[...]
    }

    /// Returns the actions that are due by now.
    mutating func advance(to now: WallTime) -> [Action] {
        var actions: [Action] = []
        if let time = fetchAt, time <= now.milliseconds, !isUnderWay {
            fetchAt = nil
            if usesTopics { actions.append(fetch) }
        }
        while now.milliseconds >= nextAt, !isDownloading, let step = steps.popFirst() {
            switch step {
            case .report(let status, let info):
                actions += report(status, info, of: order, at: now)
                switch steps.first {
                // With its last report the update is over, and the board takes another one at once.
                case .over?: nextAt = now.milliseconds
                case .attempt? where status == "delayed": nextAt = now.milliseconds + Self.delay
                default: nextAt = now.milliseconds + Self.pace
                }
            case .attempt:
                attempt += 1
                isDownloading = true
                actions += report(
                    "in-progress", "Starting OTA Upgrade (HTTPS attempt \(attempt)/\(build.attempts))", of: order,
                    at: now)
                nextAt = now.milliseconds + Self.pace
                actions.append(.download(order?.url ?? ""))
            case .restart(let version):
                staysAway = version == nil
                validating = order
                (order, steps, nextVersion) = (nil, [], version)
                return actions + [.restart]
            case .over: (order, steps) = (nil, [])
            }
        }
        return actions
    }

    /// Takes the end of a download.
    mutating func downloaded(_ download: Download, at now: WallTime) -> [Action] {
        guard isDownloading, let order else { return [] }
        isDownloading = false
        let downloading = Step.report(status: "in-progress", info: "Downloading Firmware Image")
        switch ImageVerdict(download, order, build, running: version) {
        case .rejected(let reason, let early):
            steps = ((early ? [] : [downloading]) + [.report(status: "rejected", info: reason), .over])[...]
        case .failed(let reason, let early):
            let report = Step.report(
                status: "failed", info: "OTA Attempt \(attempt)/\(build.attempts) failed: \(reason)")
            let isLast = attempt >= build.attempts
            steps = ((early ? [] : [downloading]) + [report, isLast ? .over : .attempt])[...]
            if isLast { fetchAt = now.milliseconds + build.refetch }
        case .good(let version):
            let attempts = "\(attempt) HTTPS attempt\(attempt == 1 ? "" : "s")"
            steps = [
                downloading, .report(status: "in-progress", info: "Firmware Image download complete"),
                .report(status: "in-progress", info: "Rebooting into new firmware (after \(attempts))"),
                .restart(version: version),
            ]
        }
        return advance(to: now)
    }

    // MARK: Times

    private struct Refusal {
        var status: String
        var info: String
        /// Milliseconds until the board fetches the update again; nil for never.
        var wait: UInt64?
    }

    /// `esp_rmaker_ota_handle_time`
    private func timeRefusal(_ order: Order, at now: WallTime) -> Refusal? {
        let (window, validity) = (order.metadata?["download_window"], order.metadata?["validity"])
        guard window?.members != nil || validity?.members != nil else { return nil }
        guard build.hasClock else {
            return Refusal(status: "delayed", info: "No time information available yet.", wait: Self.clockDelay)
        }
        if let start = validity?["start"]?.integer, now.seconds < start {
            let wait = UInt64(start - now.seconds) * 1000 + Self.buffer
            return Refusal(status: "delayed", info: "Not within valid window.", wait: wait)
        }
        if let end = validity?["end"]?.integer, now.seconds > end {
            return Refusal(status: "failed", info: "OTA download window lapsed.", wait: nil)
        }
        guard let start = window?["start"]?.integer else { return nil }
        guard let end = window?["end"]?.integer else {
            return Refusal(status: "failed", info: "Invalid download window specified.", wait: nil)
        }
        let minute = Int64(now.minutes)
        let isWithin = start > end ? minute >= start || minute <= end : (start...end).contains(minute)
        guard !isWithin else { return nil }
        let minutes = start - minute < 0 ? start - minute + 1440 : start - minute
        return Refusal(
            status: "delayed", info: "Not within download window.", wait: UInt64(minutes) * 60_000 + Self.buffer)
    }

    // MARK: Messages

    private var fetch: Action {
        let message: JSONValue = ["node_id": .string(nodeID), "fw_version": .string(version)]
        return .publish(Sensor.Message(rule: "esp_node_otafetch", suffix: "otafetch", payload: message.serialized()))
    }

    private mutating func report(_ status: String, _ info: String, of order: Order?, at now: WallTime) -> [Action] {
        (self.status, self.info) = (status, info)
        guard usesTopics else { return [.values(values)] }
        // Without the id of a job, firmware reports nothing.
        guard let job = order?.job else { return [] }
        let message: JSONValue = [
            "ota_job_id": .string(job), "status": .string(status), "additional_info": .string(info),
            "ts": .integer(now.seconds),
        ]
        let payload = message.serialized()
        // Firmware's generator cuts what does not fit, which leaves no JSON.
        guard payload.count < Self.reportLimit else { return [] }
        return [.publish(Sensor.Message(rule: "esp_node_otastatus", suffix: "otastatus", payload: payload))]
    }

    /// The values of the service's parameters.
    var values: JSONValue {
        guard build.way == .approval else { return ["Status": .string(status), "Info": .string(info)] }
        // Espressif does not document the members of this object.
        guard let offered, let job = offered.job else { return ["Info": [:]] }
        return [
            "Info": [
                "ota_job_id": .string(job), "fw_version": .string(offered.version ?? ""),
                "file_size": .integer(Int64(offered.size)),
            ]
        ]
    }
}
