// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit

/// What the cloud keeps of a board, as it is.
struct NodeDocumentResult: CommandResult {
    private var values = LabelledValues()

    var text: String { values.text }
    func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }

    init(node: NodeID, member: String, document: JSONValue) {
        values.add(memberOnly: "node_id", node.rawValue)
        values.add(member, document, line: document.readable)
    }
}
