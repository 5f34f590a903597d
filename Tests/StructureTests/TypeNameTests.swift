// SPDX-License-Identifier: Apache-2.0
import Testing

/// Checks that a name has one meaning: no module declares a public type's name of another module.
@Suite("Type names")
struct TypeNameTests {
    /// Names that two modules declare today. TODO: rename the types, and remove the names from this list until it is empty.
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
            Issue.record("Only one module declares \(name) now: remove it from the list")
        }
    }
}
