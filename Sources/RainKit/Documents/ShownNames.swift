// SPDX-License-Identifier: Apache-2.0
import RainCore

/// The names of boards or groups for people, by their ids. An id without a name, and one whose name is not unique, stays as it is.
package struct ShownNames: Sendable {
    private let names: [String: String]

    package init(_ all: [(id: String, name: String?)] = []) {
        let counts = Dictionary(grouping: all.compactMap { $0.name?.lowercased() }) { $0 }.mapValues(\.count)
        var names: [String: String] = [:]
        for (id, name) in all {
            guard let name, !name.isBlank, counts[name.lowercased()] == 1 else { continue }
            names[id] = name.onOneLine
        }
        self.names = names
    }

    package subscript(_ id: String) -> String { names[id] ?? id.onOneLine }
    package func list(_ ids: [String]) -> String { ids.map { self[$0] }.joined(separator: ", ") }
}
