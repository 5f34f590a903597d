// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// Checks the names that `import RainKit` brings into a program: Tests/public-names.txt lists them.
@Suite("Names of import RainKit")
struct PublicNamesTests {
    /// General names, which programs give to their own types.
    static let general: Set = [
        "Account", "Board", "Device", "Endpoint", "Event", "Group", "Message", "Network", "Node", "Secret", "Session",
        "State", "Status", "Transport",
    ]

    /// The public types of RainKit, and those declarations of other modules that it exports.
    private static func names() throws -> Set<String> {
        let module = try SourceTree.module("RainKit")
        var names = Set(try module.types().filter(\.isPublic).map(\.name))
        for line in try SourceTree.lines("Sources/RainKit/RainKit.swift") where line.hasPrefix("@_exported import") {
            let words = line.split(separator: " ")
            let parts = try #require(words.last).split(separator: ".")
            // The import of a whole module would export all of its names.
            try #require(words.count == 4 && parts.count == 2, "\(line)")
            names.insert(String(parts[1]))
        }
        return names
    }

    @Test("are those of the list, and none is general")
    func list() throws {
        let names = try Self.names()
        let listed = try SourceTree.lines("Tests/public-names.txt").filter { !$0.isEmpty && !$0.hasPrefix("#") }
        #expect(listed == listed.sorted())
        let wanted = Set(listed.map(String.init))
        #expect(names.subtracting(wanted) == [], "not in the list")
        #expect(wanted.subtracting(names) == [], "in the list only")
        #expect(names.intersection(Self.general) == [])
    }

    @Test("only RainKit.swift exports other modules' declarations")
    func exports() throws {
        for module in SourceTree.modules {
            for file in SourceTree.files(module.path) where file != "Sources/RainKit/RainKit.swift" {
                let exports = try SourceTree.lines(file).filter { $0.hasPrefix("@_exported") }
                #expect(exports.isEmpty || module.name != "RainKit", "\(file)")
            }
        }
    }
}
