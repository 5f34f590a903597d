// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit

/// The service by which a board takes updates from a parameter (`esp.service.ota`).
struct UpdateService: Sendable {
    private let url: ParameterPath
    private let status: ParameterPath?
    private let info: ParameterPath?

    /// What the board says of an update.
    struct State: Sendable, Equatable {
        var status: String?
        var info: String?
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

/// Follows an update by what the board reports.
struct UpdateWatch: Sendable {
    let cloud: RainMakerCloud
    let node: NodeID
    let service: UpdateService
    /// What stood there before this update.
    let before: UpdateService.State

    /// The command that tells what a board says of its update.
    static func follow(_ node: Node) -> String { "rainctl node params get \(node.id.rawValue.onOneLine)" }

    /// How it ended: `success`, `failed`, `rejected`, or what there was last when the time was over.
    struct End: Sendable {
        /// What the board has said of this update.
        var said: UpdateService.State?
        var isOver = false
        var isAway = false
        /// Why the cloud tells nothing more.
        var fault: AccountError?

        /// `sent` where the board has not said anything of it.
        var status: String { said.map { $0.status ?? "in-progress" } ?? "sent" }

        func failure(at node: Node) -> CommandFailure? {
            let words = said?.info.map { " (\($0.onOneLine))" } ?? ""
            if let fault {
                var failure = CommandFailure(fault)
                failure.message += " The update itself goes on: \(UpdateWatch.follow(node)) shows how far it is."
                return failure
            }
            switch status {
            case "success" where isOver: return nil
            case "failed" where isOver:
                return CommandFailure(.other, reason: "update_failed", message: "The update has failed\(words).")
            case "rejected" where isOver:
                return CommandFailure(
                    .other, reason: "update_rejected", message: "\(node.shownName) has rejected the image\(words).")
            default: return CommandFailure(.deadline, message: late(node, words))
            }
        }

        private func late(_ node: Node, _ words: String) -> String {
            let state =
                if said != nil { "The update is not over: the board last said \(status.onOneLine)\(words)." } else {
                    isAway
                        ? "\(node.shownName) is offline, and has not begun the update: it gets it when it is back."
                        : "\(node.shownName) has not begun the update yet."
                }
            return "\(state) It may still come; \(UpdateWatch.follow(node)) shows how it goes on."
        }
    }

    /// - Parameter isAway: whether it was offline when it was told, which has been said.
    func end(isAway: Bool, within limit: Duration, _ say: @Sendable (String) -> Void) async throws -> End {
        let end = ContinuousClock.now + limit
        var pause = Duration.milliseconds(250)
        var last = before
        var now = End(isAway: isAway)
        while true {
            do throws(AccountError) {
                let known = try await cloud.node(node)
                let state = service.state(of: known)
                if state != last {
                    last = state
                    pause = .milliseconds(250)
                    // One that has started anew says nothing of updates.
                    if state != UpdateService.State() {
                        now.said = state
                        say([state.status, state.info].compactMap { $0 }.joined(separator: ": "))
                    }
                }
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
                if now.said != nil, let status = state.status, ["success", "failed", "rejected"].contains(status) {
                    now.isOver = true
                    return now
                }
            } catch {
                if error.code == .cancelled { throw CancellationError() }
                guard error.isTransient else {
                    now.fault = error
                    return now
                }
            }
            let left = ContinuousClock.now.duration(to: end)
            guard left > .zero else { return now }
            try await Task.sleep(for: min(pause, left))
            pause = min(pause * 3 / 2, .seconds(4))
        }
    }
}
