// SPDX-License-Identifier: Apache-2.0

/// The account's own id in RainMaker (`user_id` of the profile): what a board is told to map itself to.
public struct UserID: Hashable, Sendable, CustomStringConvertible {
    public let rawValue: String
    public init(_ rawValue: String) { self.rawValue = rawValue }
    public var description: String { rawValue }
}

/// A board's id in the cloud (`node_id`).
public struct NodeID: Hashable, Sendable, CustomStringConvertible {
    public let rawValue: String
    public init(_ rawValue: String) { self.rawValue = rawValue }
    public var description: String { rawValue }
}

/// The cloud's handle for one running user-node mapping (`request_id`).
public struct RequestID: Hashable, Sendable, CustomStringConvertible {
    public let rawValue: String
    public init(_ rawValue: String) { self.rawValue = rawValue }
    public var description: String { rawValue }
}
