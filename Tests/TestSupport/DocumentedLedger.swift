// SPDX-License-Identifier: Apache-2.0

/// What docs/internals/ledger.md says about the tables of a ledger.
public enum DocumentedLedger {
    private static func lines() throws -> [Substring] {
        try readFile(Repository.path("docs/internals/ledger.md")).split(separator: "\n")
    }

    /// The columns, such as `boards.line`. A section's heading names its table.
    public static func columns() throws -> Set<String> {
        var columns: Set<String> = []
        var table: Substring?
        for line in try lines() {
            if line.hasPrefix("#") { table = line.hasPrefix("### `") ? line.split(separator: "`")[1] : nil }
            guard let table, line.hasPrefix("| `") else { continue }
            columns.insert("\(table).\(line.split(separator: "`")[1])")
        }
        return columns
    }

    /// The commands of the shell that begin with this program.
    public static func commands(of program: String) throws -> [String] {
        try lines().filter { $0.hasPrefix(program + " ") }.map(String.init)
    }
}
