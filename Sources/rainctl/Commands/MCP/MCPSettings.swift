// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit

/// What the user of `rainctl mcp` allows its tools, and the secrets that they use without showing them.
struct MCPSettings: Sendable {
    var allowsChanges = false
    /// The tools that are allowed by their names.
    var allowed: Set<String> = []
    /// The network for boards, and the file with its password; nil for a network without one.
    var ssid: String?
    var passphraseFile: String?
    var isOpen = false
    /// The file with the boards' proof of possession.
    var popFile: String?

    /// Throws `tool_not_allowed` for a call that the options do not allow. The message names the option.
    func check(_ tool: MCPTool, _ arguments: [String: JSONValue]) throws(CommandFailure) {
        guard tool.access != .reads, !allowed.contains(tool.name) else { return }
        let removes =
            tool.access == .changes
            && (arguments["operation"] == "remove" || arguments["params_dict"].map(Self.removesEntries) == true)
        if tool.access == .changes, !removes {
            guard !allowsChanges else { return }
            throw CommandFailure(
                .usage, reason: "tool_not_allowed",
                message: "\(tool.name) changes something, and this server only reads. Nothing was changed. "
                    + "To allow changes, start the server with --allow-changes.")
        }
        let verb = tool.name == "provision_board" ? "provisions a board" : "deletes something"
        throw CommandFailure(
            .usage, reason: "tool_not_allowed",
            message:
                "\(tool.name) \(removes ? "with the operation remove " : "")\(verb), and is not allowed. Nothing was changed. "
                + "To allow this tool, start the server with --allow \(tool.name).")
    }

    /// Whether values of a board remove a schedule or a scene: `{"Schedule":{"Schedules":[{"id":"A1","operation":"remove"}]}}`.
    private static func removesEntries(_ values: JSONValue) -> Bool {
        (values.members ?? []).contains { component in
            (component.value.members ?? []).contains { parameter in
                (parameter.value.array ?? []).contains { $0["operation"] == "remove" }
            }
        }
    }
}
