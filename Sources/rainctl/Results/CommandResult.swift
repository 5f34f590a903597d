// SPDX-License-Identifier: Apache-2.0

/// What a command prints when it is done: the members of its JSON document, and the same for a person.
///
/// Members stand in the document in the order in which the type's `CodingKeys` name them; one that is nil is absent. Scripts depend on
/// names, order and types: a result only ever gains members, at its end.
protocol CommandResult: Encodable, Sendable {
    /// What a person reads, without a line end; empty where there is nothing to say.
    var text: String { get }
}
