// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@testable import CloudSimulator

@Suite("The simulated RainMaker Neo")
struct NeoStateTests {
    @Test("a report changes the members that it names, null removes one, and the document has the times")
    func shadow() {
        var shadow = NeoShadowDocument()
        shadow.report(["params": ["Light": ["Power": true, "Name": "a"]], "online": true], at: 1_000_000)
        shadow.report(["params": ["Light": ["Power": false, "Name": .null]]], at: 2_000_000)
        let document = shadow.document(at: 3_000_000)
        #expect(document["state"]?["reported"] == ["params": ["Light": ["Power": false]], "online": true])
        #expect(document["metadata"]?["reported"]?["online"]?["timestamp"] == 1000)
        #expect(document["metadata"]?["reported"]?["params"]?["timestamp"] == 2000)
        #expect(document["version"] == 2 && document["timestamp"] == 3000)
    }

    @Test("a node is in one group, and its shadow gets the name of its groups")
    func moving() throws {
        var state = NeoState()
        let node = Node(id: "n1", keyKind: .p256, certificate: "")
        state.nodes["n1"] = NeoState.NodeEntry(node: node)
        state.groups["ga"] = NeoState.Group(name: "A", members: ["u1": "primary"])
        state.groups["gb"] = NeoState.Group(name: "B", members: ["u2": "primary"])
        state.groups["gb"]?.subgroups = ["zz": .init(name: "Z"), "aa": .init(name: "A", members: ["u3"])]
        #expect(state.shadow(ofNode: "n1") == nil)
        state.move("n1", to: "ga")
        var shadow = NeoShadowDocument()
        shadow.report(["online": true], at: 0)
        state.nodes["n1"]?.shadows["params-ga"] = shadow
        state.move("n1", to: "gb")
        #expect(state.groups["ga"]?.nodes == [] && state.shadow(ofNode: "n1") == "params-gb")
        #expect(state.nodes["n1"]?.shadows.keys.sorted() == ["params-gb"])
        state.changeGroups(of: "n1") { state in
            state.groups["gb"]?.subgroups["zz"]?.nodes.append("n1")
            state.groups["gb"]?.subgroups["aa"]?.nodes.append("n1")
        }
        #expect(state.nodes["n1"]?.shadows.keys.sorted() == ["params-gb-aa-zz"])
        #expect(state.groups(of: "u3").map(\.access) == ["subgroup"] && state.nodes(of: "u3", in: "gb") == ["n1"])
        #expect(state.groups(of: "u1").map(\.id) == ["ga"] && state.nodes(of: "u1", in: "gb") == [])
    }

    @Test("credentials end after an hour, and when a test ends them")
    func credentials() {
        var table = NeoCredentialTable()
        let user = TokenUser(id: "u", email: "u@example.com")
        let issued = table.issue(to: user, groups: ["g"], at: 0)
        #expect(table.credential(issued.accessKey, at: 3_599_999)?.groups == ["g"])
        #expect(table.credential(issued.accessKey, at: 3_600_000) == nil)
        table.endAll()
        #expect(table.credential(issued.accessKey, at: 0) == nil)
    }

    @Test("records of a series are kept once for each time, the newest first; seconds and milliseconds are the same")
    func series() {
        var state = NeoState()
        let key = NeoState.SeriesKey(node: "n", key: "Sensor.T")
        for (time, value) in [(2, 20), (1, 10), (3, 30), (2, 21)] as [(Int64, Int64)] {
            state.add(NeoState.Record(time: time, type: "int", value: .integer(value), zone: "UTC"), to: key)
        }
        #expect(state.series[key]?.map(\.value) == [30, 21, 10])
        #expect(NeoAPI.milliseconds(1_743_656_583) == 1_743_656_583_000)
        #expect(NeoAPI.milliseconds(1_743_656_583_000) == 1_743_656_583_000)
    }
}
