// SPDX-License-Identifier: Apache-2.0
import Testing

/// A name means one thing: what one module makes public, no other declares again.
@Suite("Type names")
struct TypeNameTests {
    /// Names that stand in two modules today. TODO: rename, and take them off this list until it is empty.
    static let inTwoModules: Set = [
        "Board", "BoardIdentity", "ConsoleDialect", "Endpoint", "Journal", "Node",
    ]

    @Test("no public type's name is declared in a second module")
    func unique() throws {
        var places: [String: Set<String>] = [:]
        var shown: Set<String> = []
        for module in SourceTree.modules {
            for type in try module.types() {
                places[type.name, default: []].insert(module.name)
                if type.isPublic { shown.insert(type.name) }
            }
        }
        try #require(shown.contains("AccountSession") && shown.contains("Transport"))
        let doubled = places.filter { $0.value.count > 1 && shown.contains($0.key) }
        for (name, modules) in doubled where !Self.inTwoModules.contains(name) {
            Issue.record("\(name) is declared in \(modules.sorted().joined(separator: " and "))")
        }
        for name in Self.inTwoModules where doubled[name] == nil {
            Issue.record("\(name) stands in one module alone now: take it off the list")
        }
    }
}
