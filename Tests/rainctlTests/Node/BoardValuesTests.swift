// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit
import Testing

@testable import RainMaker
@testable import rainctl

@Suite("Values for all boards, and for one")
struct BoardValuesTests {
    private static func node(_ id: String, _ name: String, device: String = "Light") throws -> Node {
        let parameters: JSONValue = [
            ["name": "Power", "data_type": "bool", "properties": ["read", "write"]],
            ["name": "Name", "type": "esp.param.name", "data_type": "string", "properties": ["read", "write"]],
        ]
        return try #require(
            Node([
                "id": .string(id), "config": ["devices": [["name": .string(device), "params": parameters]]],
                "params": .object([.init(device, ["Name": .string(name)])]),
            ]))
    }

    private static func values(_ texts: [String], _ nodes: [Node]) throws -> [String: [String]] {
        var shown: [String: [String]] = [:]
        for (id, changes) in try BoardValues(texts).changes(at: nodes) {
            shown[id.rawValue] = changes.map { "\($0.path)=\($0.value.shown)" }
        }
        return shown
    }

    @Test(
        "a value for one board replaces the one for all; boards are named by id or name",
        arguments: [
            (["Light.Power=on"], ["n1": ["Light.Power=true"], "n2": ["Light.Power=true"]]),
            (["n1:Light.Power=on"], ["n1": ["Light.Power=true"]]),
            (["Light.Power=on", "hall:Light.Power=off"], ["n1": ["Light.Power=true"], "n2": ["Light.Power=false"]]),
            (["Desk: left:Light.Power=off"], ["n1": ["Light.Power=false"]]), ([], [:]),
        ] as [([String], [String: [String]])])
    func read(texts: [String], expected: [String: [String]]) throws {
        let nodes = [try Self.node("n1", "Desk: left"), try Self.node("n2", "Hall")]
        #expect(try Self.values(texts, nodes) == expected)
    }

    @Test("a device whose name has a colon is a device, also if a board has that name")
    func colons() throws {
        let nodes = [try Self.node("n1", "Lamp", device: "Lamp:1"), try Self.node("n2", "Hall", device: "Lamp:1")]
        #expect(
            try Self.values(["Lamp:1.Power=on"], nodes) == ["n1": ["Lamp:1.Power=true"], "n2": ["Lamp:1.Power=true"]])
        #expect(try Self.values(["Lamp:Lamp:1.Power=on"], nodes) == ["n1": ["Lamp:1.Power=true"]])
    }

    @Test(
        "boards that are not meant, or not clear, are refused",
        arguments: [
            (
                ["Cellar:Light.Power=on"],
                "A value is given for the board Cellar, but this command is not for that board."
            ),
            (["Twin:Light.Power=on"], "Several boards of this command are called Twin: use a node id, n3 or n4."),
            (["n1:Light.Power=on", "desk:Light.Power=off"], "Light.Power is given twice."),
        ])
    func refused(texts: [String], words: String) throws {
        let nodes = [
            try Self.node("n1", "Desk"), try Self.node("n2", "Hall"), try Self.node("n3", "Twin"),
            try Self.node("n4", "twin"),
        ]
        let failure = #expect(throws: CommandFailure.self) { try BoardValues(texts).changes(at: nodes) }
        #expect(failure?.status == .usage && failure?.message.contains(words) == true, "\(failure?.message ?? "")")
    }

    @Test("what a failure advises: the repair, with the right board where none is the most common")
    func advice() {
        func outcome(_ id: String, _ operation: ServiceOperation, _ isReported: Bool?) -> EntryOutcome {
            EntryOutcome(node: NodeID(id), id: "A1", name: "Night", operation: operation, isReported: isReported)
        }
        func advice(_ outcomes: EntryOutcome...) -> String? {
            let failure = #expect(throws: CommandFailure.self) {
                try EntryBoardsResult(outcomes, noun: "scene", names: [:]).tell(Output(.json, isQuiet: true))
            }
            return failure?.message
        }
        let most = advice(outcome("n1", .edit, true), outcome("n2", .edit, true), outcome("n3", .edit, false))
        #expect(most?.hasSuffix("later, run: rainctl node scene edit n1,n2,n3 A1 --repair") == true, "\(most ?? "")")
        let tie = advice(outcome("n1", .edit, false), outcome("n2", .edit, true))
        #expect(tie?.hasSuffix("A1 --repair --like n2") == true, "\(tie ?? "")")
        let none = advice(outcome("n1", .add, false), outcome("n2", .add, false))
        #expect(none?.contains("--repair") == false && none?.contains("(--timeout)") == true)
        #expect(advice(outcome("n1", .remove, false), outcome("n2", .remove, true))?.contains("--repair") == false)
    }
}
