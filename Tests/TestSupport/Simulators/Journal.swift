// SPDX-License-Identifier: Apache-2.0
import RainJSON

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

    /// The first entry with these values, once it is there: a simulator may hear of something after who caused it.
    public func entry(where members: [String: JSONValue], within limit: Duration = .waitLimit) async throws
        -> JSONValue
    {
        let end = ContinuousClock.now + limit
        while true {
            if let found = try entries(where: members).first { return found }
            guard ContinuousClock.now < end else {
                throw ProcessError("nothing like \(members) in \(path) within \(limit)")
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
