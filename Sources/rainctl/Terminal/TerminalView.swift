// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainKit

/// A result that has its own form at a terminal, where people read it. In a pipe, its `text` is printed.
protocol TerminalResult: CommandResult {
    /// Returns the lines for a terminal.
    /// - Parameters:
    ///   - columns: the terminal's width; nil if it is not known.
    ///   - style: how text is coloured.
    func view(columns: Int?, style: TerminalStyle) -> String
}

/// A table with headings and aligned columns. A terminal that is too narrow gets a block of lines for each row.
struct TerminalTable: Sendable {
    struct Cell: Sendable {
        var text: String
        var colour: TerminalStyle.Colour?

        init(_ text: String, _ colour: TerminalStyle.Colour? = nil) {
            self.text = text.onOneLine
            self.colour = colour
        }
    }

    /// The headings; the first column is the title of a row's block.
    var headings: [String]
    var rows: [[Cell]]

    /// The space between two columns.
    private static let gap = "  "

    /// Returns the lines; empty without rows.
    func text(columns limit: Int?, style: TerminalStyle) -> String {
        guard !rows.isEmpty else { return "" }
        let widths = headings.indices.map { column in
            max(headings[column].terminalColumns, rows.map { $0[column].text.terminalColumns }.max() ?? 0)
        }
        let total = widths.reduce(0, +) + Self.gap.count * (widths.count - 1)
        if let limit, total > limit { return blocks(style) }
        let lines = [headings.map { Cell($0, .bold) }] + rows
        return lines.map { line(of: $0, widths, style) }.joined(separator: "\n")
    }

    private func line(of cells: [Cell], _ widths: [Int], _ style: TerminalStyle) -> String {
        var line = ""
        var isEmpty = true
        for (cell, width) in zip(cells, widths).reversed() {
            // No spaces after the last text of a line.
            if isEmpty, cell.text.isEmpty { continue }
            let padding = isEmpty ? "" : String(repeating: " ", count: width - cell.text.terminalColumns) + Self.gap
            line = style.painted(cell.text, cell.colour) + padding + line
            isEmpty = false
        }
        return line
    }

    private func blocks(_ style: TerminalStyle) -> String {
        rows.map { row in
            let others = zip(headings, row).dropFirst().filter { !$1.text.isEmpty }
            let width = others.map { $0.0.terminalColumns }.max() ?? 0
            let title = style.painted(row[0].text, row[0].colour ?? .bold)
            return
                ([title]
                + others.map { heading, cell in
                    let padding = String(repeating: " ", count: width - heading.terminalColumns)
                    return "  \(heading.lowercased())\(padding)  \(style.painted(cell.text, cell.colour))"
                }).joined(separator: "\n")
        }.joined(separator: "\n")
    }
}

extension TerminalStyle {
    fileprivate func painted(_ text: String, _ colour: Colour?) -> String {
        colour.map { painted(text, $0) } ?? text
    }
}

// MARK: lists

extension NodeListResult: TerminalResult {
    func view(columns: Int?, style: TerminalStyle) -> String {
        TerminalTable(
            headings: ["NAME", "STATE", "NODE ID", "MODEL"],
            rows: nodes.map { node in
                let state: TerminalTable.Cell =
                    switch node.connected {
                    case true?: .init("online", .green)
                    case false?: .init("offline", .dim)
                    case nil: .init("unknown", .dim)
                    }
                return [.init(node.name ?? "(no name)"), state, .init(node.nodeID), .init(node.model ?? "")]
            }
        ).text(columns: columns, style: style)
    }
}

extension AccountListResult: TerminalResult {
    func view(columns: Int?, style: TerminalStyle) -> String {
        TerminalTable(
            headings: ["ACCOUNT", "IN USE", "PROFILE", "USER", "STORE"],
            rows: accounts.map { account in
                [
                    .init(account.account), .init(account.current ? "yes" : "", .green), .init(account.profile),
                    .init(account.userName == account.account ? "" : account.userName), .init(account.store),
                ]
            }
        ).text(columns: columns, style: style)
    }
}

extension ProfileListResult: TerminalResult {
    func view(columns: Int?, style: TerminalStyle) -> String {
        TerminalTable(
            headings: ["PROFILE", "IN USE", "BASE URL"],
            rows: profiles.map { profile in
                [.init(profile.profile), .init(profile.current ? "yes" : "", .green), .init(profile.baseURL)]
            }
        ).text(columns: columns, style: style)
    }
}

extension ScanResult: TerminalResult {
    func view(columns: Int?, style: TerminalStyle) -> String {
        TerminalTable(
            headings: ["NETWORK", "SIGNAL", "CHANNEL", "SECURITY", "ACCESS POINT"],
            rows: networks.map { network in
                [
                    .init(network.ssidHex.isEmpty ? "(hidden)" : network.shown), .init("\(network.rssi) dBm"),
                    .init("\(network.channel)"), .init(network.auth), .init(network.bssid),
                ]
            }
        ).text(columns: columns, style: style)
    }
}

// MARK: doctor

extension DoctorResult: TerminalResult {
    func view(columns: Int?, style: TerminalStyle) -> String {
        let width = findings.map(\.check.count).max() ?? 0
        return findings.map { finding in
            let colour: TerminalStyle.Colour =
                switch finding.state {
                case "ok": .green
                case "warn": .yellow
                default: .red
                }
            let state = style.painted(finding.state, colour) + String(repeating: " ", count: 4 - finding.state.count)
            let check = finding.check + String(repeating: " ", count: width - finding.check.count)
            let line = "\(state)  \(check)  \(finding.message.withoutControls)"
            // In a narrow terminal, the text begins below the name of its check.
            let indent = (columns ?? 80) < 60 ? 6 : width + 8
            let text = columns.map { line.wrapped(toColumns: $0, indent: indent) } ?? line
            guard let fix = finding.fix else { return text }
            return "\(text)\n\(String(repeating: " ", count: indent))→ \(fix.withoutControls)"
        }
        .joined(separator: "\n")
    }
}
