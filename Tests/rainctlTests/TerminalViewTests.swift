// SPDX-License-Identifier: Apache-2.0
@testable import RainKit
@testable import RainMaker
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

    @Test("sentences are wrapped between words, and values and commands to copy are not")
    func prose() {
        let action = ActionResult(
            "Offered Kitchen lamp to a@example.com. To accept the offer, this user runs: rainctl node share accept R1")
        let wrapped = """
            Offered Kitchen lamp to a@example.com. To
              accept the offer, this user runs:
              rainctl node share accept R1

            """
        #expect(Output.shown(action, columns: 44) == wrapped)
        let document = NodeDocumentResult(
            node: NodeID("N1"), member: "config", document: ["a": "one two three four five six seven eight nine ten"])
        #expect(Output.shown(document, columns: 30) == Output.shown(document))
    }

    @Test("lists of groups, shares and requests have headings, and names instead of ids")
    func lists() throws {
        let names = ShownNames([("N1", "Lamp"), ("N2", "Fan"), ("N3", "fan")])
        #expect(names.list(["N1", "N2", "N9"]) == "Lamp, N2, N9", "two boards have the name of N2, so its id is shown")
        let requests = SharingRequestsResult(
            [
                SharingRequest([
                    "request_id": "R1", "request_status": "pending", "node_ids": ["N1"], "user_name": "a@x",
                ])!
            ],
            areSent: true, names: names)
        #expect(
            requests.view(columns: 80, style: Self.plain) == """
                BOARDS  STATUS   TO   REQUEST
                Lamp    pending  a@x  R1
                """)
        #expect(
            SharingRequestsResult([], areSent: true).view(columns: 80, style: Self.plain) == "There are no requests.")
        let groups = GroupListResult([
            NodeGroup([
                "group_id": "G1", "group_name": "Home", "sub_groups": [["group_id": "G2", "group_name": "Attic"]],
            ])!
        ])
        #expect(
            groups.view(columns: 80, style: Self.plain) == """
                NAME     TYPE  GROUP ID
                Home           G1
                  Attic        G2
                """)
    }

    @Test("a person reads the time of day, and how many changes were missing")
    func watching() {
        #expect(LocalTime.text(0).count == 8 && LocalTime.text(0) != LocalTime.text(61))
        #expect(NodeWatch.tooFew(0, of: 1) == "No change was reported within the time limit (--timeout).")
        #expect(NodeWatch.tooFew(1, of: 3).hasPrefix("Only one of 3 changes was"))
    }

    @Test("an answer with keys such as Home is refused, and text in any language is not")
    func keys() {
        #expect(Terminal.problem(with: Array("\u{1B}[1~".utf8)) != nil)
        #expect(Terminal.problem(with: Array("Haus\u{7F}".utf8)) != nil)
        #expect(Terminal.problem(with: Array("Küche 日本".utf8)) == nil && Terminal.problem(with: []) == nil)
    }
}
