// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit

/// Something that is different about a board since the cloud was last asked.
struct NodeChange: Sendable, Equatable {
    let node: NodeID
    let name: String?
    enum What: Sendable, Equatable {
        case value(ParameterPath, JSONValue, previous: JSONValue?)
        case connected(Bool)
    }
    let what: What

    /// What is different between two reports.
    static func between(_ old: Node, _ new: Node) -> [NodeChange] {
        var changes: [NodeChange] = []
        func add(_ what: What) { changes.append(NodeChange(node: new.id, name: new.displayName, what: what)) }
        if let now = new.connectivity?.isConnected, now != old.connectivity?.isConnected { add(.connected(now)) }
        for change in [ParameterChange](new.parameters ?? .object([])) ?? [] {
            let previous = old.parameters?[change.path.component]?[change.path.parameter]
            guard previous != change.value else { continue }
            let isSecret = change.path.isSecret
            add(.value(change.path, isSecret ? .masked : change.value, previous: isSecret ? nil : previous))
        }
        return changes
    }
}

/// Asks the cloud for a board again and again: quickly while something happens, slowly while nothing does.
struct NodeWatching: Sendable {
    let cloud: RainMakerCloud
    /// After a change, and for some time from the start.
    static let shortest = Duration.milliseconds(200)
    static let longest = Duration.seconds(2)
    /// How long nothing must happen before the questions become fewer.
    static let patience = Duration.seconds(10)

    /// - Parameter take: says whether to go on.
    func run(
        _ node: Node, until end: ContinuousClock.Instant?, _ take: @Sendable (NodeChange) -> Bool
    ) async throws {
        var known = node
        var quietSince = ContinuousClock.now
        var pause = Self.shortest
        while !Task.isCancelled, end.map({ ContinuousClock.now < $0 }) ?? true {
            do throws(AccountError) {
                let fresh = try await cloud.node(node.id)
                let changes = NodeChange.between(known, fresh)
                known = fresh
                if !changes.isEmpty { (quietSince, pause) = (.now, Self.shortest) }
                for change in changes where !take(change) { return }
            } catch {
                guard error.isTransient else { throw error }
                pause = max(pause, error.retryAfter ?? Self.longest)
            }
            if quietSince.duration(to: .now) > Self.patience { pause = min(pause * 3 / 2, Self.longest) }
            let left = end.map { ContinuousClock.now.duration(to: $0) } ?? pause
            guard left > .zero else { return }
            do { try await Task.sleep(for: min(pause, left)) } catch { return }
        }
    }
}
