// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit
import Synchronization

/// Prints changes of boards, a line each.
final class WatchPrinter: Sendable {
    private let output: Output
    private let count: Int?
    private let seen = Mutex(0)

    init(_ output: Output, count: Int?) {
        self.output = output
        self.count = count
    }

    var isDone: Bool { count.map { seen.withLock(\.self) >= $0 } ?? false }
    /// Whether nothing more can be printed: nobody reads standard output any more, as behind `head -1`.
    var isCut: Bool { StandardStreams.outFailure != nil }

    /// The board as it is when the watching begins.
    func start(_ node: Node) {
        let state = node.connectivity.map { $0.isConnected ? "online" : "offline" } ?? "unknown"
        output.say("watching \(node.shownName) (\(node.id.rawValue), \(state))".onOneLine)
    }

    /// Says whether more is wanted.
    func take(_ change: NodeChange) -> Bool {
        let isWanted = seen.withLock { seen in
            if let count, seen >= count { return false }
            seen += 1
            return true
        }
        guard isWanted else { return false }
        let time = Timestamp.text(Timestamp.now())
        StandardStreams.out(output.isJSON ? JSONText.line(WatchLine(change, at: time)) : text(change, at: time) + "\n")
        return !isDone && !isCut
    }

    private func text(_ change: NodeChange, at time: String) -> String {
        let name = change.name ?? change.node.rawValue
        switch change.what {
        case .connected(let isConnected): return "\(time)  \(name)  \(isConnected ? "online" : "offline")".onOneLine
        case .value(let path, let value, let previous):
            let before = previous.map { "  (was \($0.shown))" } ?? ""
            return "\(time)  \(name)  \(path): \(value.shown)\(before)".onOneLine
        }
    }
}

/// A change as a line of JSON.
struct WatchLine: Encodable {
    private let change: NodeChange
    private let time: String

    init(_ change: NodeChange, at time: String) { (self.change, self.time) = (change, time) }

    private enum CodingKeys: String, CodingKey {
        case time = "ts"
        case nodeID = "node_id"
        case state, path, value, previous
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(time, forKey: .time)
        try container.encode(change.node.rawValue, forKey: .nodeID)
        switch change.what {
        case .connected(let isConnected): try container.encode(isConnected ? "online" : "offline", forKey: .state)
        case .value(let path, let value, let previous):
            try container.encode("value", forKey: .state)
            try container.encode("\(path)", forKey: .path)
            try container.encode(value, forKey: .value)
            try container.encodeIfPresent(previous, forKey: .previous)
        }
    }
}
