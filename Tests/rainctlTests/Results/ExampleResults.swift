// SPDX-License-Identifier: Apache-2.0
@testable import rainctl

/// Example values of each result type. `RecordedOutputTests` compares the JSON and the text of each with `Recorded/Results`, and
/// `PublishedSchemas` derives docs/schema from them.
///
/// Each type has one value with every member and one with as few members as possible. Examples of one type keep their order: files hold
/// them in the order of these lists.
enum ExampleResults {
    static let all: [any CommandResult] =
        signIn + board + profile + node + nodeChanges + sharing + accountSteps + accountLists + accountHandovers
        + batch + errors + serve + mcp

    /// The names of the result types, sorted.
    static let typeNames: [String] = Set(all.map { "\(type(of: $0))" }).sorted()

    static func ofType(_ name: String) -> [any CommandResult] { all.filter { "\(type(of: $0))" == name } }
}
