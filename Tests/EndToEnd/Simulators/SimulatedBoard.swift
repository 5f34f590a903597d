// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport

/// Starts `firmware-sim` with a journal, waits until it is ready, and ends it with the test.
func withBoard<Result>(
    _ arguments: [String], journal: String? = nil, body: (ChildProcess, JSONValue) async throws -> Result
) async throws -> Result {
    let arguments = SimulatedBoard.arguments(arguments + (journal.map { ["--journal", $0] } ?? []))
    return try await withChildProcess(try Executables.path("firmware-sim"), arguments) { child in
        let ready = try JSONValue(parsing: Array(try await child.readyLine().utf8))
        return try await body(child, ready)
    }
}

/// The lines of a journal.
func journal(_ path: String) throws -> [JSONValue] {
    try readFile(path).split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
}
