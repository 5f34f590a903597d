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
            path.flatMap { node.parameters?[$0.component]?[$0.parameter]?.string }
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
        let status: String
        let info: String?
        let isOver: Bool

        func failure(at node: Node) -> CommandFailure? {
            let words = info.map { " (\($0.onOneLine))" } ?? ""
            let follow = "\(UpdateWatch.follow(node)) shows how it goes on"
            switch status {
            case "success": return nil
            case "failed" where isOver:
                return CommandFailure(.other, reason: "update_failed", message: "The update has failed\(words).")
            case "rejected" where isOver:
                return CommandFailure(
                    .other, reason: "update_rejected", message: "\(node.shownName) has rejected the image\(words).")
            default:
                return CommandFailure(
                    .deadline,
                    message:
                        "The update is not over: the board last said \(status.onOneLine)\(words). It may still come; \(follow)."
                )
            }
        }
    }

    func end(within limit: Duration, _ say: @Sendable (String) -> Void) async throws -> End {
        let end = ContinuousClock.now + limit
        var pause = Duration.milliseconds(250)
        var last = before
        var hasBegun = false
        var isAway = false
        while true {
            do throws(AccountError) {
                let known = try await cloud.node(node)
                let state = service.state(of: known)
                if known.connectivity?.isConnected == false, !isAway {
                    isAway = true
                    say("the board is offline; it restarts with the new firmware, or has lost its connection")
                } else if known.connectivity?.isConnected == true, isAway {
                    isAway = false
                    say("the board is online again")
                }
                if state != last {
                    hasBegun = true
                    last = state
                    pause = .milliseconds(250)
                    say([state.status, state.info].compactMap { $0 }.joined(separator: ": "))
                }
                if hasBegun, let status = state.status, ["success", "failed", "rejected"].contains(status) {
                    return End(status: status, info: state.info, isOver: true)
                }
            } catch {
                if error.code == .cancelled { throw CancellationError() }
                guard error.isTransient else { throw error }
            }
            let left = ContinuousClock.now.duration(to: end)
            guard left > .zero else {
                return End(status: hasBegun ? last.status ?? "nothing" : "nothing", info: last.info, isOver: false)
            }
            try await Task.sleep(for: min(pause, left))
            pause = min(pause * 3 / 2, .seconds(4))
        }
    }
}
