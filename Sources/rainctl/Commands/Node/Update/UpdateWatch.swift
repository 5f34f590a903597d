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
