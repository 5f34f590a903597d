// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainKit

// The lists of what an account has besides its boards, with headings and aligned columns.

extension EntryListResult: TerminalResult {
    func view(columns: Int?, style: TerminalStyle) -> String {
        guard !lines.isEmpty else { return text }
        let areSchedules = lines.contains { $0.isEnabled != nil }
        return TerminalTable(
            headings: ["NAME", "ID"] + (areSchedules ? ["STATE", "TIME"] : []) + ["VALUES"],
            rows: lines.map { line in
                [.init(line.name), .init(line.id)]
                    + (areSchedules ? [.state(line.isEnabled ?? true), .init(line.times)] : []) + [.init(line.values)]
            }
        ).text(columns: columns, style: style)
    }
}

extension EntryGroupListResult: TerminalResult {
    func view(columns: Int?, style: TerminalStyle) -> String {
        guard !groups.isEmpty else { return text }
        let lines = groups.map { (group: $0, line: Self.line($0)) }
        let areSchedules = lines.contains { $0.line.isEnabled != nil }
        return TerminalTable(
            headings: ["NAME", "ID"] + (areSchedules ? ["STATE", "TIME"] : []) + ["BOARDS", "COPIES"],
            rows: lines.map { group, line in
                [.init(line.name), .init(line.id)]
                    + (areSchedules ? [.state(line.isEnabled ?? true), .init(line.times)] : [])
                    + [
                        .init(group.copies.map(\.nodeName).joined(separator: ", ")),
                        group.isInSync ? .init("equal", .green) : .init("out of sync", .yellow),
                    ]
            }
        ).text(columns: columns, style: style)
    }
}

extension GroupListResult: TerminalResult {
    func view(columns: Int?, style: TerminalStyle) -> String {
        guard !groups.isEmpty else { return text }
        func rows(_ groups: [Entry], _ indent: String) -> [[TerminalTable.Cell]] {
            groups.flatMap { group in
                [[.init(indent + group.name), .init(group.type ?? ""), .init(group.groupID)]]
                    + rows(group.groups, indent + "  ")
            }
        }
        return TerminalTable(headings: ["NAME", "TYPE", "GROUP ID"], rows: rows(groups, ""))
            .text(columns: columns, style: style)
    }
}

extension AutomationListResult: TerminalResult {
    func view(columns: Int?, style: TerminalStyle) -> String {
        guard !lines.isEmpty else { return text }
        return TerminalTable(
            headings: ["NAME", "STATE", "WHEN", "SETS", "ID"],
            rows: lines.map { line in
                [.init(line.name), .state(line.isEnabled), .init(line.when), .init(line.actions), .init(line.id)]
            }
        ).text(columns: columns, style: style)
    }
}

extension SharingListResult: TerminalResult {
    func view(columns: Int?, style: TerminalStyle) -> String {
        TerminalTable(
            headings: [noun.uppercased(), "PRIMARY USERS", "SECONDARY USERS"],
            rows: shared.map { entry in
                [
                    .init(names[entry.id]), .init(entry.primaryUsers.joined(separator: ", ")),
                    .init(entry.secondaryUsers.joined(separator: ", ")),
                ]
            }
        ).text(columns: columns, style: style)
    }
}

extension SharingRequestsResult: TerminalResult {
    func view(columns: Int?, style: TerminalStyle) -> String {
        guard !requests.isEmpty else { return text }
        return TerminalTable(
            headings: ["\(noun.uppercased())S", "STATUS", areSent ? "TO" : "FROM", "REQUEST"],
            rows: requests.map { entry in
                [
                    .init(names.list(entry.ids)), .init(entry.status),
                    .init((areSent ? entry.userName : entry.ownerName) ?? "?"), .init(entry.requestID),
                ]
            }
        ).text(columns: columns, style: style)
    }
}

extension TerminalTable.Cell {
    /// Whether a schedule or an automation acts.
    fileprivate static func state(_ isEnabled: Bool) -> Self { isEnabled ? .init("on", .green) : .init("off", .dim) }
}
