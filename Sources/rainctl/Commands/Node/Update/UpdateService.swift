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
