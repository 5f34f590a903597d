// SPDX-License-Identifier: Apache-2.0

/// The account's id in RainMaker (`user_id` of the profile). Boards send it to map themselves to the user.
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

/// The cloud's id of one user-node mapping in progress (`request_id`).
public struct RequestID: Hashable, Sendable, CustomStringConvertible {
    public let rawValue: String
    public init(_ rawValue: String) { self.rawValue = rawValue }
    public var description: String { rawValue }
}
