// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainMaker

/// An update of a board's firmware.
package struct UpdateResult: Encodable, Sendable {
    package let nodeID: String
    /// `sent`, `success`, or the state that the board reported last.
    package let state: String
    package let info: String?
    package let project: String
    package let version: String
    package let chip: String?
    package let size: Int
    /// The board's name.
    @TextOnly package private(set) var name: String

    package init(_ node: NodeID, _ image: FirmwareImage, state: String, info: String?, name: String) {
        self.name = name
        nodeID = node.rawValue
        self.state = state
        self.info = info
        project = image.project
        version = image.version
        chip = image.chip
        size = image.size
    }
}
