// SPDX-License-Identifier: Apache-2.0
import RainKit

/// An update of a board's firmware.
struct UpdateResult: CommandResult {
    let nodeID: String
    /// `sent`, `success`, or what the board said last.
    let state: String
    let info: String?
    let project: String
    let version: String
    let chip: String?
    let size: Int

    private enum CodingKeys: String, CodingKey {
        case nodeID = "node_id"
        case state, info, project, version, chip, size
    }

    init(_ node: NodeID, _ image: FirmwareImage, state: String, info: String?) {
        nodeID = node.rawValue
        self.state = state
        self.info = info
        project = image.project
        version = image.version
        chip = image.chip
        size = image.size
    }

    var text: String {
        let words =
            switch state {
            case "success": "has \(project) \(version)"
            case "sent": "was told to fetch \(project) \(version)"
            default: state + (info.map { ": \($0)" } ?? "")
            }
        return "\(nodeID)  \(words)".onOneLine
    }
}
