// SPDX-License-Identifier: Apache-2.0

/// One module's folder.
struct Module: CustomStringConvertible {
    /// A type that is declared at the top level of a file.
    struct TypeName: Hashable {
        var name: String
        var isPublic: Bool
    }

    var name: String
    /// The module's folder, from the repository's root.
    var path: String
    var description: String { name }

    /// Returns the modules that its files import.
    func imports() throws -> Set<String> {
        var found: Set<String> = []
        for file in SourceTree.files(path) {
            for line in try SourceTree.lines(file) where line.contains("import ") {
                var words = line.split(separator: " ")
                words.removeAll { $0.hasPrefix("@") || Self.access.contains($0) }
                guard words.first == "import", words.count > 1 else { continue }
                // `import struct Module.Type` names the module in its third word.
                let module = words.count > 2 && Self.kinds.contains(words[1]) ? words[2] : words[1]
                found.insert(String(module.prefix { $0 != "." }))
            }
        }
        return found
    }

    /// Returns the types that its files declare at top level, unless they are private to a file.
    func types() throws -> Set<TypeName> {
        var found: Set<TypeName> = []
        for file in SourceTree.files(path) {
            for line in try SourceTree.lines(file) {
                guard let first = line.first, first.isLetter || first == "@" else { continue }
                let words = line.split(whereSeparator: { " :<{(".contains($0) })
                guard let kind = words.firstIndex(where: Self.kinds.contains), kind + 1 < words.count,
                    words[..<kind].allSatisfy({ $0.hasPrefix("@") || Self.modifiers.contains($0) })
                else { continue }
                found.insert(TypeName(name: String(words[kind + 1]), isPublic: words.contains("public")))
            }
        }
        return found
    }

    private static let access: Set<Substring> = ["public", "package", "internal", "private", "fileprivate"]
    private static let kinds: Set<Substring> = ["struct", "class", "enum", "actor", "protocol", "typealias"]
    /// `private` is not in the list: such a type can be used only in its file.
    private static let modifiers: Set<Substring> = [
        "public", "package", "internal", "final", "indirect", "nonisolated",
    ]
}
