// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import Testing

@testable import RainMaker

/// A node may report anything, for as long as it likes.
@Suite("Reports without end")
struct LiveFloodTests {
    private static let configuration: JSONValue = [
        "devices": [["name": "Light", "params": [["name": "Power"], ["name": "Hue"]]]],
        "services": [["name": "Time", "params": [["name": "TZ"]]]],
    ]

    private func node(_ more: JSONValue) throws -> Node {
        try #require(Node(.object([.init("id", "n1")] + (more.members ?? []))))
    }

    private func report(_ values: JSONValue) -> NodeReport { NodeReport(node: NodeID("n1"), values: values) }

    @Test(
        "only names of the configuration count",
        arguments: [
            (["Light": ["Power": true]], ["Light": ["Power": true]]),
            (["Light": ["Power": true, "Other": 1]], ["Light": ["Power": true]]),
            (["Fan": ["Speed": 1]], [:]), (["Light": ["Other": 1]], [:]), (["Light": 5], [:]),
            (["Light": [["Power": 1]]], [:]), (["Time": ["TZ": "UTC"]], ["Time": ["TZ": "UTC"]]),
            (["light": ["power": 1]], [:]), (["": ["": 1]], [:]),
        ] as [(JSONValue, JSONValue)])
    func named(values: JSONValue, kept: JSONValue) throws {
        var node = try node(["config": Self.configuration])
        node.take(report(values))
        #expect(node.parameters == kept)
    }

    @Test("without a configuration, names that the cloud knows count")
    func unconfigured() throws {
        var node = try node(["params": ["Light": ["Power": false]]])
        node.take(report(["Light": ["Power": true, "Hue": 1], "Fan": ["Speed": 1]]))
        #expect(node.parameters == ["Light": ["Power": true]])
    }

    @Test("a hundred thousand new names use no memory")
    func flood() async throws {
        var node = try node(["config": Self.configuration])
        let known = ReportedParameters(of: node)
        for round in 0..<100 {
            await Task.yield()
            let members = (0..<1000).map { JSONValue.Member("Device\(round)-\($0)", ["Power": true]) }
            node.take(report(.object(members)), of: known)
            node.take(report(["Light": .object(members)]), of: known)
        }
        node.take(report(["Light": ["Hue": 7]]), of: known)
        #expect(node.parameters == ["Light": ["Hue": 7]])
    }

    @Test("values that would take more than a megabyte together are not accepted")
    func heavy() throws {
        let names = (0..<40).map { "P\($0)" }
        let parameters = names.map { JSONValue.object([.init("name", .string($0))]) }
        var node = try node(["config": ["devices": [["name": "Light", "params": .array(parameters)]]]])
        for name in names {
            let text = String(repeating: "x", count: 100_000)
            node.take(report(["Light": .object([.init(name, .string(text))])]))
        }
        #expect((node.parameters?.weight ?? 0) <= Node.maximumReported)
        #expect(node.parameters?["Light"]?["P0"] != nil && node.parameters?["Light"]?["P39"] == nil)
        node.take(report(["Light": ["P0": "small"]]))
        #expect(node.parameters?["Light"]?["P0"] == "small")
    }
}
