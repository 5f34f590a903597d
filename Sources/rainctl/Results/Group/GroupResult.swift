// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit

/// Groups, those within them indented.
struct GroupListResult: CommandResult {
    let groups: [Entry]

    struct Entry: Encodable, Sendable {
        let groupID: String
        let name: String
        let type: String?
        let groups: [Entry]

        private enum CodingKeys: String, CodingKey {
            case groupID = "group_id"
            case name, type, groups
        }

        init(_ group: NodeGroup) {
            groupID = group.id
            name = group.name
            type = group.type
            groups = (group.subgroups ?? []).map { Entry($0) }
        }

        fileprivate func lines(_ indent: String) -> [String] {
            [indent + "\(groupID)  \(name)\(type.map { " (\($0))" } ?? "")".onOneLine]
                + groups.flatMap { $0.lines(indent + "  ") }
        }
    }

    init(_ all: [NodeGroup]) { groups = all.map { Entry($0) } }

    var text: String {
        groups.isEmpty ? "There are no groups." : groups.flatMap { $0.lines("") }.joined(separator: "\n")
    }
}

/// One group.
struct GroupShowResult: CommandResult {
    private var values = LabelledValues()

    var text: String { values.text }
    func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }

    init(_ group: NodeGroup) {
        values.add("group_id", label: "group", group.id)
        values.add("name", group.name)
        values.add("type", group.type)
        values.add("description", group.summary)
        values.add("parent", group.parent)
        let nodes = (group.nodes ?? []).map(\.rawValue)
        values.add(
            "nodes", nodes,
            line: nodes.isEmpty ? "no boards in it" : "boards: \(nodes.joined(separator: ", ").onOneLine)")
        values.add(memberOnly: "mutually_exclusive", group.isMutuallyExclusive)
        if let data = group.document["custom_data"]?.unlessNull { values.add(memberOnly: "custom_data", data) }
        let list = GroupListResult(group.subgroups ?? [])
        values.add(memberOnly: "groups", list.groups)
        if !list.groups.isEmpty { values.add(line: "within it:\n" + list.text) }
    }
}
