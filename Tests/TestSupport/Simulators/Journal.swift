import JSON

/// What a simulator wrote down: one JSON object a line.
public struct Journal: Sendable {
    public let path: String

    public init(path: String) { self.path = path }

    public func entries() throws -> [JSONValue] {
        try readFile(path).split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
    }

    /// The entries whose members have these values.
    public func entries(where members: [String: JSONValue]) throws -> [JSONValue] {
        try entries().filter { entry in members.allSatisfy { entry[$0.key] == $0.value } }
    }
}
