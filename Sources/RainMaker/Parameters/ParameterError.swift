// SPDX-License-Identifier: Apache-2.0

/// Why a value cannot be set, by what the node has said of its parameters. Nothing was sent.
public struct ParameterError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure, for programs that act on it.
    public enum Code: String, Sendable {
        /// The node has told the cloud nothing of itself yet.
        case noConfiguration
        /// No device or service of that name.
        case noSuchComponent
        /// The device or service has no such parameter.
        case noSuchParameter
        /// Names with dots may mean one parameter or another.
        case ambiguousPath
        /// It can only be read.
        case readOnly
        /// A value of another type.
        case wrongType
        /// A number that is not taken.
        case outOfBounds
        /// A text that is none of those that are taken.
        case notAllowed
    }

    /// The kind of failure; ``message`` describes it for people.
    public var code: Code
    /// What is wrong, and what would be right.
    public var message: String

    public init(_ code: Code, message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { "\(code): \(message)" }
}
