// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON

/// An update that somebody has made for a node in the deployment's dashboard (an OTA job).
public struct UpdateJob: Sendable, Equatable {
    /// The job's id.
    public var id: String
    /// The version of the image; nil if the cloud does not say.
    public var version: String?
    /// The size of the image in bytes; nil if the cloud does not say.
    public var size: Int?
    /// The MD5 of the image in hex; nil if the cloud does not say.
    public var md5: String?
    /// When the board installs the image; nil if at once.
    public var window: UpdateWindow?
    /// The job's own data, an object. Its members `download_window` and `validity` are ``window``.
    public var metadata: JSONValue?

    /// The longest id that is accepted, in bytes. Firmware has space for 64.
    static let longestID = 256

    public init(id: String, version: String? = nil, size: Int? = nil, md5: String? = nil, metadata: JSONValue? = nil) {
        self.id = id
        self.version = version
        self.size = size
        self.md5 = md5
        self.metadata = metadata
        window = UpdateWindow(metadata)
    }
}

/// When a board installs an update, by its own clock (`esp_rmaker_ota_handle_time`).
public struct UpdateWindow: Sendable, Equatable {
    /// The minutes of the board's local day between which it downloads the image, both included. A window may cross midnight.
    public var minutes: (start: Int, end: Int)? { start.flatMap { start in end.map { (start, $0) } } }
    /// The update waits until then.
    public var validFrom: UnixTime?
    /// The update fails if it has not begun by then.
    public var validUntil: UnixTime?

    private var start: Int?
    private var end: Int?

    /// Reads `{"download_window":{"start":min,"end":min},"validity":{"start":s,"end":s}}`. Returns nil if neither has an effect: firmware
    /// ignores members of other types, and a download window without a start.
    init?(_ metadata: JSONValue?) {
        func minute(_ value: JSONValue?) -> Int? {
            value?.integer.flatMap { (0..<1440).contains($0) ? Int($0) : nil }
        }
        func time(_ value: JSONValue?) -> UnixTime? {
            value?.integer.flatMap { $0 >= 0 ? UnixTime(seconds: Double($0)) : nil }
        }
        let (daily, validity) = (metadata?["download_window"], metadata?["validity"])
        (start, end) = (minute(daily?["start"]), minute(daily?["end"]))
        validFrom = time(validity?["start"])
        validUntil = time(validity?["end"])
        guard minutes != nil || validFrom != nil || validUntil != nil else { return nil }
    }

    /// Such as `18:00 to 19:15`; nil without such a window.
    public var timesOfDay: String? {
        func text(_ minute: Int) -> String {
            let (hour, rest) = minute.quotientAndRemainder(dividingBy: 60)
            return "\(hour < 10 ? "0" : "")\(hour):\(rest < 10 ? "0" : "")\(rest)"
        }
        return minutes.map { "\(text($0.start)) to \(text($0.end))" }
    }
}

/// The cloud's answer to the question for an update of a node.
public struct UpdateOffer: Sendable, Equatable {
    /// The update; nil if the cloud has no update for the node.
    public var job: UpdateJob?
    /// The cloud's sentence about it, at most 300 characters.
    public var description: String?

    public init(job: UpdateJob? = nil, description: String? = nil) {
        self.job = job
        self.description = description
    }
}

/// The state of a job at a node.
public struct UpdateJobReport: Sendable, Equatable {
    /// The state as the cloud names it: `triggered`, `started`, `in-progress`, `delayed`, `success`, `completed`, `rejected`, `failed`,
    /// `unknown`. Other states are shown as they are.
    public var state: String
    /// The node's text beside the state, such as why it failed; at most 300 characters.
    public var info: String?
    /// The time of the state; nil if the cloud does not say.
    public var time: UnixTime?

    public init(state: String, info: String? = nil, time: UnixTime? = nil) {
        self.state = state
        self.info = info
        self.time = time
    }

    /// Whether the node has installed the image.
    public var isSuccess: Bool { state == "success" || state == "completed" }

    /// Whether this attempt of the job has ended. The cloud offers a failed job again at the node's next question.
    ///
    /// Firmware reports `failed` after each of its attempts, and then begins the next one.
    public var isOver: Bool {
        switch state {
        case "success", "completed", "rejected": true
        case "failed": !UpdateAttempt.isFollowed(info)
        default: false
        }
    }
}

/// The number of an attempt in the node's text: `OTA Attempt 1/3 failed: …`, in older firmware `Attempt 1/3 failed: …`.
package enum UpdateAttempt {
    /// Whether the node makes another attempt after the one that has failed (`esp_rmaker_ota_start_workflow`), or has begun it.
    package static func isFollowed(_ info: String?) -> Bool {
        // Over parameters, the text of the next attempt arrives before its state.
        if info?.hasPrefix("Starting OTA Upgrade") == true { return true }
        guard let words = info?.split(separator: " "), let word = words.firstIndex(of: "Attempt"), word <= 1,
            words.count > word + 2, words[word + 2].hasPrefix("failed")
        else { return false }
        let numbers = words[word + 1].split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 2, let attempt = numbers[0], let last = numbers[1] else { return false }
        return attempt < last
    }
}

extension RainMakerCloud {
    /// The longest text of a job that is kept, in characters. Firmware's buffer for a whole report has 200 bytes.
    private static let longestText = 300

    /// Asks whether there is an update for a node.
    ///
    /// - Throws: `malformedAnswer` also for an update without an id.
    public func updateOffer(for node: NodeID) async throws(AccountError) -> UpdateOffer {
        let reply = try await call(RainMakerCall(.get, "user/nodes/ota_update", query: [("node_id", node.rawValue)]))
        guard let isAvailable = reply["ota_available"]?.bool else { throw incomplete("ota_available", in: reply) }
        let description = try text("description", in: reply)
        guard isAvailable else { return UpdateOffer(description: description) }
        guard let id = reply["ota_job_id"]?.string, (1...UpdateJob.longestID).contains(id.utf8.count) else {
            throw incomplete("ota_job_id", in: reply)
        }
        let size = try number("file_size", in: reply)
        let metadata = reply["metadata"]?.unlessNull
        if let metadata, metadata.members == nil { throw incomplete("metadata", in: reply) }
        let job = UpdateJob(
            id: id, version: try text("fw_version", in: reply), size: size, md5: try text("file_md5", in: reply),
            metadata: metadata)
        return UpdateOffer(job: job, description: description)
    }

    /// Approves an update. The cloud then sends the image's address to the node.
    public func startUpdate(_ job: String, at node: NodeID) async throws(AccountError) {
        let body: JSONValue = ["ota_job_id": .string(job), "node_id": .string(node.rawValue)]
        try await call(
            RainMakerCall(.post, "user/nodes/ota_update", body: body), words: Self.missingUpdate(job))
    }

    /// Returns the state of a job at a node.
    public func updateReport(of job: String, at node: NodeID) async throws(AccountError) -> UpdateJobReport {
        let query = [(name: "node_id", value: node.rawValue), (name: "ota_job_id", value: job)]
        let reply = try await call(
            RainMakerCall(.get, "user/nodes/ota_status", query: query),
            words: Self.missingUpdate(job))
        guard let state = try text("status", in: reply) else { throw incomplete("status", in: reply) }
        let time = try number("timestamp", in: reply)
        // The unit is not documented. Nodes report seconds, and the cloud has milliseconds elsewhere.
        let seconds = time.map { $0 >= 100_000_000_000 ? Double($0) / 1000 : Double($0) }
        return UpdateJobReport(
            state: state, info: try text("additional_info", in: reply),
            time: seconds.flatMap { $0 > 0 ? UnixTime(seconds: $0) : nil })
    }

    private static func missingUpdate(_ job: String) -> RefusalWords {
        [100_012: .init(code: .rejected, sentence: "the cloud has no update \(presentable(job)) for this node")]
    }

    /// Returns a text that the cloud may omit; nil also for an empty one.
    private func text(_ name: String, in reply: JSONValue) throws(AccountError) -> String? {
        guard let value = reply[name]?.unlessNull else { return nil }
        guard let text = value.string else { throw incomplete(name, in: reply) }
        return text.isEmpty ? nil : String(text.prefix(Self.longestText))
    }

    /// Returns a number that the cloud may omit, or that it writes as a text of digits.
    private func number(_ name: String, in reply: JSONValue) throws(AccountError) -> Int? {
        guard let value = reply[name]?.unlessNull, value.string != "" else { return nil }
        let number = value.integer ?? value.string.flatMap { Int64($0) } ?? value.double.flatMap { Int64(exactly: $0) }
        guard let number, number >= 0 else { throw incomplete(name, in: reply) }
        return Int(number)
    }
}
