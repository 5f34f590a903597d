// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainCore
import RainJSON
import RainKit

/// The form in which a command prints a list: the value of its option `--format`.
///
/// Each of these commands has the option itself. A group for one option would cost each of their starts a third of a millisecond.
enum ListForm: String, WordArgument {
    case text, tsv

    /// Refuses two forms for one result.
    func check(_ options: GlobalOptions) throws(CommandFailure) {
        guard self == .tsv, options.isJSON else { return }
        let other = options.json ? "--json" : "--compact"
        throw CommandFailure(.usage, message: "--format tsv and \(other) are different forms: give only one of them.")
    }
}

extension ArgumentHelp {
    /// The help of `--format` of a command that prints a list.
    static var listForm: ArgumentHelp {
        ArgumentHelp(
            "Print the list as text, or as tsv (tab-separated, with a line of column names).", valueName: "form")
    }
}

/// A command that prints a ``ListResult``.
protocol ListCommand: ParsableCommand {
    var format: ListForm { get }
}

/// A result that `--format tsv` can print: a list in its JSON document.
protocol ListResult: CommandResult {
    /// The list, and its columns. Scripts depend on their order: a table only ever gains columns, at its end.
    var table: ListTable { get }
}

/// The table that is made of a document's list. Its columns are members of the list's entries.
struct ListTable: Sendable {
    enum Rows: Sendable {
        /// An array of objects.
        case entries
        /// An array of objects that have such arrays under the same name. The last column is the first one of the object around the row.
        case tree
        /// An object of objects: the columns are the outer name, the inner name and the value.
        case values
    }

    /// The document's member with the list.
    var member: String
    var rows = Rows.entries
    var columns: [String]
}

extension ListResult {
    /// A line with the names of the columns, and a line for each row, with tabs between the columns.
    var tsv: String {
        let lines = [table.columns] + table.cells(in: JSONText.value(self)[table.member] ?? .null)
        return lines.map { $0.joined(separator: "\t") + "\n" }.joined()
    }
}

extension ListTable {
    fileprivate func cells(in list: JSONValue) -> [[String]] {
        switch rows {
        case .entries: (list.array ?? []).map { entry in columns.map { Self.cell(entry[$0]) } }
        case .tree: cells(below: "", in: list)
        case .values:
            (list.members ?? []).flatMap { outer in
                guard let inner = outer.value.members else {
                    return [[Self.cell(.string(outer.name)), "", Self.cell(outer.value)]]
                }
                return inner.map { [Self.cell(.string(outer.name)), Self.cell(.string($0.name)), Self.cell($0.value)] }
            }
        }
    }

    private func cells(below parent: String, in list: JSONValue) -> [[String]] {
        (list.array ?? []).flatMap { entry in
            let own = columns.dropLast().map { Self.cell(entry[$0]) }
            return [own + [parent]] + cells(below: own.first ?? "", in: entry[member] ?? .null)
        }
    }

    /// Returns a value without control characters, and an empty text for null. The elements of a list of texts or numbers have commas
    /// between them. All other values with parts are JSON on one line.
    private static func cell(_ value: JSONValue?) -> String {
        switch value {
        case nil, .null?: return ""
        case .string(let text)?: return text.withoutControls
        case .array(let elements)? where !elements.contains { $0.array != nil || $0.members != nil }:
            return elements.map { cell($0) }.joined(separator: ",")
        case let value?:
            return ShownText.json(String(decoding: value.serialized(), as: UTF8.self))
        }
    }
}
