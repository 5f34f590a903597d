// SPDX-License-Identifier: Apache-2.0
import RainKit
import Testing

@testable import rainctl

@Suite("Results at a terminal")
struct TerminalViewTests {
    private static let plain = TerminalStyle(isTerminal: true, environment: ["NO_COLOR": "1"])
    private static let coloured = TerminalStyle(isTerminal: true, environment: [:])

    private static let boards = NodeListResult(nodes: [
        .init(nodeID: "N1", name: "Kitchen lamp", model: "led_light", role: nil, connected: true),
        .init(nodeID: "N22", name: nil, model: nil, role: nil, connected: false),
    ])

    @Test("columns are aligned under their headings, and no line ends with spaces")
    func table() {
        #expect(
            Self.boards.view(columns: 80, style: Self.plain) == """
                NAME          STATE    NODE ID  MODEL
                Kitchen lamp  online   N1       led_light
                (no name)     offline  N22
                """)
    }

    @Test("a terminal that is too narrow gets a block of lines for each row", arguments: [40, 20])
    func blocks(columns: Int) {
        #expect(
            Self.boards.view(columns: columns, style: Self.plain) == """
                Kitchen lamp
                  state    online
                  node id  N1
                  model    led_light
                (no name)
                  state    offline
                  node id  N22
                """)
    }

    @Test("wide characters count as two columns")
    func wide() {
        let table = TerminalTable(
            headings: ["A", "B"], rows: [[.init("日本"), .init("x")], [.init("abcd"), .init("y")]])
        #expect(table.text(columns: nil, style: Self.plain) == "A     B\n日本  x\nabcd  y")
    }

    @Test("colours do not move the columns, and NO_COLOR and TERM=dumb leave them out")
    func colours() {
        let text = Self.boards.view(columns: 80, style: Self.coloured)
        #expect(text.contains("\u{1B}[32monline\u{1B}[0m"))
        #expect(text.withoutStyle == Self.boards.view(columns: 80, style: Self.plain))
        #expect(!TerminalStyle(isTerminal: true, environment: ["TERM": "dumb"]).hasColour)
        #expect(TerminalStyle(isTerminal: false, environment: ["CLICOLOR_FORCE": "1"]).hasColour)
    }

    @Test("doctor's messages are wrapped beside the names of the checks")
    func doctor() {
        let finding = Finding(
            check: "clock", state: .warn, reason: "behind", message: "The clock of this machine is behind by two hours."
        )
        let text = DoctorResult(findings: [finding]).view(columns: 44, style: Self.plain)
        #expect(
            text == """
                warn  clock  The clock of this machine is
                      behind by two hours.
                """)
    }
}
