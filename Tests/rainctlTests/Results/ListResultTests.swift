// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit
import TestSupport
import Testing

@testable import rainctl

@Suite("Lists as tab-separated values")
struct ListResultTests {
    private static let lists = ExampleResults.all.compactMap { $0 as? any ListResult }

    @Test("each line has a cell for each column, and the first has their names")
    func shape() {
        #expect(Self.lists.count > 20)
        for list in Self.lists {
            let lines = list.tsv.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines[0] == list.table.columns.joined(separator: "\t"))
            #expect(lines.last == "")
            for line in lines.dropLast() {
                let cells = line.split(separator: "\t", omittingEmptySubsequences: false)
                #expect(cells.count == list.table.columns.count, "\(type(of: list)): \(line)")
            }
        }
    }

    @Test("each column has a value in an example, so that no name is wrong")
    func columns() {
        for type in Set(Self.lists.map { "\(Swift.type(of: $0)) \($0.table.member)" }) {
            var filled: Set<Int> = []
            var columns: [String] = []
            for list in Self.lists where "\(Swift.type(of: list)) \(list.table.member)" == type {
                columns = list.table.columns
                for line in list.tsv.split(separator: "\n").dropFirst() {
                    let cells = line.split(separator: "\t", omittingEmptySubsequences: false)
                    filled.formUnion(cells.indices.filter { !cells[$0].isEmpty })
                }
            }
            let empty = columns.indices.filter { !filled.contains($0) }.map { columns[$0] }
            #expect(empty.isEmpty, "\(type): no example has \(empty)")
        }
    }

    @Test("names with tabs and line ends stay in their cell; null is empty, and parts are JSON")
    func cells() {
        struct Entry: Encodable, Sendable {
            var name: String?
            var tags = ["a", "b"]
            var parts = JSONValue.object([.init("x", .string("\t"))])
            var isOn = true
        }
        struct List: CommandResult, ListResult {
            var entries: [Entry]
            var text: String { "" }
            var table: ListTable { ListTable(member: "entries", columns: ["name", "tags", "parts", "is_on", "count"]) }
        }
        let list = List(entries: [Entry(name: "one\ttwo\nthree\u{1B}[31m\u{202E}"), Entry(name: nil)])
        #expect(
            list.tsv == """
                name\ttags\tparts\tis_on\tcount
                one two three [31m\\u{202E}\ta,b\t{"x":"\\t"}\ttrue\t
                \ta,b\t{"x":"\\t"}\ttrue\t

                """)
    }

    @Test("a subgroup names the group around it")
    func tree() throws {
        let nested = try #require(
            Self.lists.first { $0 is GroupListResult && $0.tsv.split(separator: "\n").count > 2 })
        let rows = nested.tsv.split(separator: "\n").dropFirst()
            .map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
        #expect(rows.contains { row in rows.contains { $0[0] == row[3] } })
    }

    @Test("--format tsv and a JSON form are refused together", arguments: ["--json", "--compact"])
    func forms(other: String) throws {
        let command = try #require(
            try Rainctl.parseAsRoot(["profile", "list", "--format", "tsv", other]) as? ProfileList)
        #expect { try command.format.check(command.options) } throws: { ($0 as? CommandFailure)?.status == .usage }
    }

    @Test("docs/output.md has the columns of each command that takes --format")
    func page() throws {
        let page = try readFile(Repository.path("docs/output.md"))
        var documented: Set<[String]> = []
        var commands: Set<String> = []
        for row in page.matches(of: /(?m)^\| (`[a-z` ,-]+`) \| (`[a-z_`, ]+`) \|$/) {
            documented.insert(row.2.split(separator: ", ").map { $0.filter { $0 != "`" } })
            commands.formUnion(row.1.split(separator: ", ").map { $0.filter { $0 != "`" } })
        }
        #expect(documented == Set(Self.lists.map(\.table.columns)))
        let taking = try ShownCommand.all.filter { try $0.help().contains("--format <form>") }.map {
            $0.words.joined(separator: " ")
        }
        #expect(commands == Set(taking))
    }

    @Test("errors have the form that the arguments ask for, also if those cannot be parsed")
    func errors() {
        #expect(Output(arguments: ["node", "lst", "--json"]).form == .json)
        #expect(Output(arguments: ["node", "lst", "--compact"]).form == .compactJSON)
        #expect(Output(arguments: ["node", "lst", "--", "--json"]).form == .text)
    }
}
