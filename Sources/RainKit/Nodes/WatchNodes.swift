// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainIO
import RainJSON
import RainMaker
import Synchronization

extension RainKitClient {
    /// Watches nodes, and reports each change of a value and of the connection as it comes.
    ///
    /// ```swift
    /// try await kit.watch([lamp]) { event in
    ///     if case .change(let change) = event { print(change) }
    ///     return true
    /// }
    /// ```
    ///
    /// The cloud is asked several times a second while something happens, and every two seconds while nothing does.
    ///
    /// - Parameters:
    ///   - live: also listens to the nodes' own reports and alerts (MQTT), where the deployment and the firmware allow it. RainMaker Neo always
    ///     does.
    ///   - limit: how long to watch; nil for as long as the task runs.
    ///   - take: receives the events one at a time, from any task, and returns whether to go on.
    /// - Throws: `RainKitError`: a refusal of the cloud, which trying again would not fix; `unsupported` with `live` where the deployment lets
    ///   nobody listen; `cancelled`. The end of the time is not an error.
    public func watch(
        _ nodes: [Node], live: Bool = false, for limit: Duration? = nil,
        _ take: @escaping @Sendable (NodeWatchEvent) -> Bool
    ) async throws {
        let cloud = try rainMakerNodes()
        // A cloud whose reports have everything need not be asked all the time.
        let live = live || cloud.reportsEverything
        let run = NodeWatchRun(
            cloud: cloud, time: Timekeeper(configuration.tools.timer), nodes: nodes, limit: limit,
            take: take)
        do { try await run.run(live ? liveEvents(of: nodes.map(\.id)) : nil) } catch {
            throw RainKitError(wrapping: error)
        }
    }
}

/// What ``RainKitClient/watch(_:live:for:_:)`` reports.
public enum NodeWatchEvent: Sendable, Equatable {
    /// A value or the connection of a node is different.
    case change(NodeChange)
    /// A node has raised an alert.
    case alert(NodeAlert)
    /// The nodes' own reports are heard from now on.
    case listening
    /// The deployment does not let this user listen to alerts. The text says why.
    case withoutAlerts(String)
    /// The connection for the nodes' own reports broke, and is made again. The text says why.
    case interrupted(String)
}

/// One difference between two states of a node.
public struct NodeChange: Sendable, Equatable {
    /// The node.
    public let node: NodeID
    /// The name that the user gave it.
    public let name: String?
    /// What changed.
    public enum Kind: Sendable, Equatable {
        /// The value of a parameter. A secret is shown as `<secret>`, without its previous value.
        case value(ParameterPath, JSONValue, previous: JSONValue?)
        /// Whether the node is connected to the cloud.
        case connected(Bool)
    }
    /// What changed.
    public let kind: Kind

    package init(node: NodeID, name: String?, kind: Kind) {
        self.node = node
        self.name = name
        self.kind = kind
    }

    /// The differences between two states of a node.
    static func between(_ old: Node, _ new: Node) -> [NodeChange] {
        var changes: [NodeChange] = []
        func add(_ kind: Kind) { changes.append(NodeChange(node: new.id, name: new.displayName, kind: kind)) }
        if let now = new.connectivity?.isConnected, now != old.connectivity?.isConnected { add(.connected(now)) }
        let secrets = new.secretParameters
        for change in [ParameterChange](reported: new.parameters ?? .object([])) {
            let previous = old.parameters?[change.path.component]?[change.path.parameter]
            guard previous != change.value else { continue }
            let isSecret = secrets.contains(change.path)
            add(.value(change.path, isSecret ? .masked : change.value, previous: isSecret ? nil : previous))
        }
        return changes
    }
}

extension NodeChange: CustomStringConvertible {
    /// Such as `Kitchen lamp: Light.Power=true`.
    public var description: String {
        let name = (name ?? node.rawValue).onOneLine
        return switch kind {
        case .connected(let isConnected): "\(name): \(isConnected ? "online" : "offline")"
        case .value(let path, let value, _): "\(name): \(path)=\(value.shown)".onOneLine
        }
    }
}

extension NodeChange: Encodable {
    private enum CodingKeys: String, CodingKey {
        case nodeID = "node_id"
        case state, path, value, previous
    }

    /// Encodes `node_id` and `state`: `online`, `offline`, or `value` with `path`, `value` and `previous`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(node.rawValue, forKey: .nodeID)
        switch kind {
        case .connected(let isConnected): try container.encode(isConnected ? "online" : "offline", forKey: .state)
        case .value(let path, let value, let previous):
            try container.encode("value", forKey: .state)
            try container.encode("\(path)", forKey: .path)
            try container.encode(value, forKey: .value)
            try container.encodeIfPresent(previous, forKey: .previous)
        }
    }
}

/// The state of a watched node, from the answers of the cloud and the reports of the node itself.
actor WatchedNode {
    private var known: Node
    private var parameters: ReportedParameters
    /// The number of reports from the node itself.
    private(set) var reports = 0

    init(_ node: Node) { (known, parameters) = (node, ReportedParameters(of: node)) }

    /// The parameters whose values are secret.
    var secrets: SecretParameters { known.secretParameters }

    /// Returns the changes that a report of the node brings.
    func take(_ report: NodeReport) -> [NodeChange] {
        reports += 1
        var now = known
        now.take(report, of: parameters)
        defer { known = now }
        return NodeChange.between(known, now)
    }

    /// Returns the changes that an answer of the cloud brings.
    ///
    /// - Parameter reports: the number of reports when the cloud was asked. If the node has reported since, its values may be newer than the
    ///   answer.
    func take(_ answer: Node, askedAfter reports: Int) -> [NodeChange] {
        var now = answer
        if reports != self.reports { now.parameters = known.parameters }
        if now.configuration != known.configuration { parameters = ReportedParameters(of: now) }
        defer { known = now }
        return NodeChange.between(known, now)
    }
}

/// Watches nodes until there is enough, the time is over, or the cloud refuses.
private final class NodeWatchRun: Sendable {
    private let cloud: any NodeCloud
    private let time: Timekeeper
    private let end: Duration?
    private let watched: [NodeID: WatchedNode]
    private let take: @Sendable (NodeWatchEvent) -> Bool
    private let hasEnough = Mutex(false)

    init(
        cloud: any NodeCloud, time: Timekeeper, nodes: [Node], limit: Duration?,
        take: @escaping @Sendable (NodeWatchEvent) -> Bool
    ) {
        self.cloud = cloud
        self.time = time
        end = limit.map { time.elapsed() + $0 }
        watched = Dictionary(nodes.map { ($0.id, WatchedNode($0)) }, uniquingKeysWith: { first, _ in first })
        self.take = take
    }

    /// A question that is under way when the time is over is given up.
    func run(_ events: AsyncThrowingStream<LiveEvent, any Error>?) async throws {
        guard let end else { return try await group(events) }
        let outcome = await withDeadline(end - time.elapsed(), sleep: time.sleep) { try await self.group(events) }
        try Task.checkCancellation()
        // A fault in the moment when the time is over is not the caller's.
        if case .failure(let error)? = outcome, time.elapsed() < end { throw error }
    }

    private func group(_ events: AsyncThrowingStream<LiveEvent, any Error>?) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (id, node) in watched {
                let polling = NodePolling(cloud: cloud, time: time, end: end)
                group.addTask { try await polling.run(id, node) { self.hand($0) } }
            }
            if let events {
                group.addTask {
                    try await LiveWatching.follow(events, self.watched, time: self.time, until: self.end) {
                        self.hand($0)
                    }
                }
            }
            do {
                // The first that has seen enough ends the others.
                for try await _ in group where self.isDone { group.cancelAll() }
            } catch {
                // A question that was under way then ends as cancelled.
                guard self.isDone else { throw error }
                group.cancelAll()
            }
        }
    }

    private var isDone: Bool { hasEnough.withLock(\.self) }

    /// Hands an event on, unless the caller has had enough. Returns whether to go on.
    private func hand(_ event: NodeWatchEvent) -> Bool {
        guard !isDone else { return false }
        if take(event) { return true }
        hasEnough.withLock { $0 = true }
        return false
    }
}

/// Asks the cloud for a node again and again: quickly while something happens, slowly while nothing does.
private struct NodePolling: Sendable {
    let cloud: any NodeCloud
    let time: Timekeeper
    let end: Duration?

    func run(_ id: NodeID, _ watched: WatchedNode, _ take: @Sendable (NodeWatchEvent) -> Bool) async throws {
        var pace = WatchPace(from: time.elapsed())
        while !Task.isCancelled, end.map({ time.elapsed() < $0 }) ?? true {
            let reports = await watched.reports
            var (hasChanged, fault): (Bool, AccountError?) = (false, nil)
            do throws(AccountError) {
                let changes = await watched.take(try await cloud.node(id), askedAfter: reports)
                hasChanged = !changes.isEmpty
                for change in changes where !take(.change(change)) { return }
            } catch {
                guard error.isTransient else { throw error }
                fault = error
            }
            let isHeard = reports > 0 || cloud.reportsEverything
            let pause = pace.next(hasChanged: hasChanged, isHeard: isHeard, fault: fault, now: time.elapsed())
            let left = end.map { $0 - time.elapsed() } ?? pause
            guard left > .zero else { return }
            do { try await time.sleep(min(pause, left)) } catch { return }
        }
    }
}

/// How long to wait before each question to the cloud.
struct WatchPace {
    /// After a change, and for some time from the start.
    static let shortest = Duration.milliseconds(200)
    static let longest = Duration.seconds(2)
    /// For a node whose own reports arrive: only the cloud knows whether it is online.
    static let longestHeard = Duration.seconds(10)
    /// How long nothing must happen before the questions become fewer.
    static let quietTime = Duration.seconds(10)

    private var quietSince: Duration
    private var pause = Self.shortest

    init(from start: Duration) { quietSince = start }

    /// - Parameters:
    ///   - isHeard: whether the node's own reports are heard.
    ///   - fault: why the last question had no answer. Its `Retry-After` counts for the next question.
    mutating func next(hasChanged: Bool, isHeard: Bool, fault: AccountError?, now: Duration) -> Duration {
        if hasChanged { (quietSince, pause) = (now, Self.shortest) }
        if fault != nil { pause = max(pause, Self.longest) }
        if isHeard {
            pause = Self.longestHeard
        } else if now - quietSince > Self.quietTime {
            pause = min(pause * 3 / 2, Self.longest)
        }
        return max(pause, fault?.retryAfter ?? .zero)
    }
}

/// Takes the nodes' own reports, beside the questions to the cloud.
enum LiveWatching {
    /// The end of the time and a cancellation count before the next event and the next change. Nodes that report without pause always have a
    /// next one.
    static func follow(
        _ events: AsyncThrowingStream<LiveEvent, any Error>, _ watched: [NodeID: WatchedNode], time: Timekeeper,
        until end: Duration?, _ take: @Sendable (NodeWatchEvent) -> Bool
    ) async throws {
        func isOver() -> Bool { Task.isCancelled || end.map { time.elapsed() >= $0 } ?? false }
        for try await event in events {
            if isOver() { return }
            switch event {
            case .listening: guard take(.listening) else { return }
            case .interrupted(_, let reason): guard take(.interrupted(reason)) else { return }
            case .withoutAlerts(_, let reason): guard take(.withoutAlerts(reason)) else { return }
            case .alert(let alert):
                guard let node = watched[alert.node] else { continue }
                guard take(.alert(alert.masked(by: await node.secrets))) else { return }
            case .report(let report):
                for change in await watched[report.node]?.take(report) ?? [] {
                    guard !isOver(), take(.change(change)) else { return }
                }
            }
        }
    }
}
