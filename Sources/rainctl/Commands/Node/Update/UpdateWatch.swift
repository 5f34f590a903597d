// SPDX-License-Identifier: Apache-2.0
import RainIO
import RainJSON
import RainKit

/// Follows an update by what the board reports.
struct UpdateWatch: Sendable {
    let cloud: RainMakerCloud
    let service: UpdateService
    /// The board right before it was told of this update.
    let before: Node
    /// The version of the image.
    let version: String

    /// The command that tells what a board says of its update.
    static func follow(_ node: Node) -> String { "rainctl node params get \(node.id.rawValue.asShellWord)" }

    /// How it ended: `success`, `failed`, `rejected`, or what there was last when the time was over.
    struct End: Sendable {
        var reports: UpdateReports
        var isAway = false
        /// Why the cloud tells nothing more.
        var fault: AccountError?
        /// Why the last question had no answer.
        var trouble: String?

        /// What the board has said of this update.
        var said: UpdateService.State? { reports.said }
        /// `sent` where the board has not said anything of it.
        var status: String { said.map { $0.status ?? "in-progress" } ?? "sent" }

        func failure(at node: Node) -> CommandFailure? {
            let words = Self.inBrackets(said?.info)
            if let fault {
                var failure = CommandFailure(fault)
                failure.message += " The update itself goes on: \(UpdateWatch.follow(node)) shows how far it is."
                return failure
            }
            switch status {
            case "success" where reports.isOver: return nil
            case "failed" where reports.isOver:
                return CommandFailure(.other, reason: "update_failed", message: "The update has failed\(words).")
            case "rejected" where reports.isOver:
                return CommandFailure(
                    .other, reason: "update_rejected", message: "\(node.shownName) has rejected the image\(words).")
            default: return CommandFailure(.deadline, message: late(node))
            }
        }

        private func late(_ node: Node) -> String {
            let (state, advice) = standing(of: node)
            let unknown = trouble.map { " " + "What came after that is not known: \($0.onOneLine)".asSentence } ?? ""
            return "\(state)\(unknown) \(advice) \(UpdateWatch.follow(node)) shows how it goes on."
        }

        /// What is known of it, and what comes or is to be done.
        private func standing(of node: Node) -> (state: String, advice: String) {
            let name = node.shownName
            let alone = "boards take no other while one is under way"
            if said != nil {
                let words = Self.inBrackets(said?.info)
                return (
                    "The update is not over: the board last said \(status.onOneLine)\(words).", "It may still come."
                )
            }
            if let doubted = reports.doubted {
                let version = reports.version.map {
                    "reports the version \($0.onOneLine), not \(reports.image.onOneLine)"
                }
                return (
                    "\(name) says success\(Self.inBrackets(doubted.info)), but \(version ?? "was at an earlier update"): "
                        + "nothing shows that this update is over.", "It may still come."
                )
            }
            if let earlier = reports.earlier {
                let words = Self.inBrackets(earlier.words)
                return reports.earlierIsOver
                    ? (
                        "\(name) has ended an earlier update\(words), and has not begun this one: \(alone).",
                        "Run this command again."
                    )
                    : (
                        "\(name) is still at an earlier update\(words): \(alone).",
                        "Run this command again when that is over."
                    )
            }
            return (
                isAway
                    ? "\(name) is offline, and has not begun the update: it gets it when it is back."
                    : "\(name) has not begun the update yet.", "It may still come."
            )
        }

        private static func inBrackets(_ words: String?) -> String { words.map { " (\($0.onOneLine))" } ?? "" }
    }

    /// - Parameter isAway: whether it was offline when it was told, which has been said.
    func end(isAway: Bool, within limit: Duration, _ say: @Sendable (String) -> Void) async throws -> End {
        let end = ContinuousClock.now + limit
        var pause = Duration.milliseconds(250)
        var now = End(
            reports: UpdateReports(
                before: service.state(of: before), version: before.firmwareVersion, image: version), isAway: isAway)
        while true {
            let asked = ContinuousClock.now
            do throws(AccountError) {
                guard let known = try await latest(until: end) else {
                    // An answer that was there a moment ago holds; one that has been owed for long is none.
                    if ContinuousClock.now - asked >= .seconds(1) { now.trouble = "the cloud did not answer in time" }
                    return now
                }
                now.trouble = nil
                let last = now.reports.last
                if let news = now.reports.take(service.state(of: known), version: known.firmwareVersion) { say(news) }
                if now.reports.last != last { pause = .milliseconds(250) }
                if known.connectivity?.isConnected == false, !now.isAway {
                    now.isAway = true
                    say(
                        now.said == nil
                            ? "the board is offline; it gets the update when it is back"
                            : "the board is offline; it restarts with the new firmware, or has lost its connection")
                } else if known.connectivity?.isConnected == true, now.isAway {
                    now.isAway = false
                    say("the board is online again")
                }
                if now.reports.isOver { return now }
            } catch {
                if error.code == .cancelled { throw CancellationError() }
                guard error.isTransient else {
                    now.fault = error
                    return now
                }
                now.trouble = error.message
            }
            let left = ContinuousClock.now.duration(to: end)
            guard left > .zero else { return now }
            try await Task.sleep(for: min(pause, left))
            pause = min(pause * 3 / 2, .seconds(4))
        }
    }

    /// What the cloud knows of it; nil where it does not say so by then, so that there is a moment left to tell what was known.
    private func latest(until end: ContinuousClock.Instant) async throws(AccountError) -> Node? {
        let (cloud, node) = (cloud, before.id)
        let left = max(ContinuousClock.now.duration(to: end), .milliseconds(1))
        let answer = await withDeadline(left, sleep: { try await Task.sleep(for: $0) }) {
            () async throws(AccountError) in try await cloud.node(node)
        }
        if answer == nil, Task.isCancelled { throw AccountError(.cancelled, message: "Cancelled.") }
        return try answer?.get()
    }
}

/// Tells what a board reports of one update from what it still reports of an earlier one.
///
/// The parameters of the service have no number of an update. Firmware takes none while another is under way, reports `info` before `status`,
/// and has blank texts after a restart; built with rollback it says `success` only when it has restarted (`esp_rmaker_ota.c`,
/// `esp_rmaker_ota_using_params.c`). So an end is this update's where its beginning was seen, or where the board has the image's version.
struct UpdateReports: Sendable {
    typealias State = UpdateService.State

    /// What the board has last said of this update.
    private(set) var said: State?
    /// Whether that is its end.
    private(set) var isOver = false
    /// What it has last said of an update that was under way before this one.
    private(set) var earlier: State?
    /// Whether that one has ended.
    private(set) var earlierIsOver = false
    /// A success of which nothing shows that it is this update's.
    private(set) var doubted: State?
    private(set) var last: State
    /// The version that the board reports.
    private(set) var version: String?

    let image: String
    private let versionBefore: String?
    private var hasBegun = false
    private var hasRestarted = false
    /// The end that stood there before this update.
    private var former: State

    /// - Parameters:
    ///   - before: what the board said right before it was told of this update, with the version that it reported.
    ///   - image: the version of this update.
    init(before: State, version: String?, image: String) {
        (last, former) = (before, before)
        (self.version, versionBefore) = (version, version)
        self.image = image
        if !before.isBlank, !before.isFinal { earlier = before }
    }

    private var isAtEarlier: Bool { earlier != nil && !earlierIsOver }

    /// - Returns: what is new, in words.
    mutating func take(_ state: State, version: String?) -> String? {
        let isNew = state != last
        last = state
        self.version = version
        if state.isBlank {
            if isNew { hasRestarted = true }
            return nil
        }
        guard state.isFinal else {
            guard isNew else { return nil }
            if isAtEarlier, !hasRestarted {
                earlier = state
                return "an earlier update: \(state.words)"
            }
            hasBegun = true
            doubted = nil
            said = state
            return state.words
        }
        return takeEnd(state, isNew: isNew)
    }

    private mutating func takeEnd(_ state: State, isNew: Bool) -> String? {
        let isImage = version == image && versionBefore != image && state.status == "success"
        guard !hasBegun, !isImage else {
            (said, isOver, doubted) = (state, true, nil)
            return state.words
        }
        if isAtEarlier {
            (earlier, earlierIsOver, former) = (state, true, state)
            return "an earlier update: \(state.words)"
        }
        // At its first look it may be the old `status` beside the new `info` of an update that begins.
        guard !isNew, state != former, state != doubted else { return nil }
        if state.status == "success", earlier != nil || version != nil {
            doubted = state
        } else {
            (said, isOver) = (state, true)
        }
        return state.words
    }
}

/// The service by which a board takes updates from a parameter (`esp.service.ota`).
struct UpdateService: Sendable {
    private let url: ParameterPath
    private let status: ParameterPath?
    private let info: ParameterPath?

    /// What the board says of an update.
    struct State: Sendable, Equatable {
        var status: String?
        var info: String?

        /// Firmware that has started anew says nothing of updates.
        var isBlank: Bool { status == nil && info == nil }
        var isFinal: Bool { status.map(["success", "failed", "rejected"].contains) ?? false }
        var words: String { [status, info].compactMap { $0 }.joined(separator: ": ") }
    }

    /// Throws `no_service` where the firmware has none.
    init(of node: Node) throws(CommandFailure) {
        let configuration = try node.described()
        let service = configuration.components.first { $0.type == "esp.service.ota" }
        func path(_ type: String) -> ParameterPath? {
            guard let service, let parameter = service.parameters.first(where: { $0.type == type }) else { return nil }
            return ParameterPath(component: service.name, parameter: parameter.name)
        }
        guard let url = path("esp.param.ota_url") else {
            throw CommandFailure(
                .badData, reason: "no_service",
                message:
                    "\(node.shownName) takes no update from here: its firmware does not have the service esp.service.ota (OTA using parameters). Updates by topics are started in RainMaker's dashboard."
            )
        }
        self.url = url
        status = path("esp.param.ota_status")
        info = path("esp.param.ota_info")
    }

    func change(to address: String) -> ParameterChange { ParameterChange(url, .string(address)) }

    func state(of node: Node) -> State {
        func text(_ path: ParameterPath?) -> String? {
            // Firmware starts with empty texts.
            path.flatMap { node.parameters?[$0.component]?[$0.parameter]?.string }.flatMap { $0.isBlank ? nil : $0 }
        }
        return State(status: text(status), info: text(info))
    }
}
