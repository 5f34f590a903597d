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

/// A board that is watched, as both the cloud and the board itself tell it.
actor WatchedNode {
    private var known: Node
    private var parameters: ReportedParameters
    /// How often the board itself has reported.
    private(set) var reports = 0

    init(_ node: Node) { (known, parameters) = (node, ReportedParameters(of: node)) }

    /// What is different by what the board has just reported.
    func take(_ report: NodeReport) -> [NodeChange] {
        reports += 1
        var now = known
        now.take(report, of: parameters)
        defer { known = now }
        return NodeChange.between(known, now)
    }

    /// What is different by the cloud's answer.
    ///
    /// - Parameter reports: how many there had been when it was asked. Where the board has reported since, its values may be newer than the
    ///   answer.
    func take(_ answer: Node, askedAfter reports: Int) -> [NodeChange] {
        var now = answer
        if reports != self.reports { now.parameters = known.parameters }
        if now.configuration != known.configuration { parameters = ReportedParameters(of: now) }
        defer { known = now }
        return NodeChange.between(known, now)
    }
}

/// Asks the cloud for a board again and again: quickly while something happens, slowly while nothing does.
struct NodeWatching: Sendable {
    let cloud: RainMakerCloud
    /// After a change, and for some time from the start.
    static let shortest = Duration.milliseconds(200)
    static let longest = Duration.seconds(2)
    /// For a board whose reports are heard: the cloud alone knows whether it is online.
    static let longestHeard = Duration.seconds(10)
    /// How long nothing must happen before the questions become fewer.
    static let patience = Duration.seconds(10)

    /// - Parameter take: says whether to go on.
    func run(
        _ id: NodeID, _ watched: WatchedNode, until end: ContinuousClock.Instant?,
        _ take: @Sendable (NodeChange) -> Bool
    ) async throws {
        var pace = WatchPace(from: .now)
        while !Task.isCancelled, end.map({ ContinuousClock.now < $0 }) ?? true {
            let reports = await watched.reports
            var (hasChanged, fault): (Bool, AccountError?) = (false, nil)
            do throws(AccountError) {
                let changes = await watched.take(try await cloud.node(id), askedAfter: reports)
                hasChanged = !changes.isEmpty
                for change in changes where !take(change) { return }
            } catch {
                guard error.isTransient else { throw error }
                fault = error
            }
            let pause = pace.next(hasChanged: hasChanged, isHeard: reports > 0, fault: fault, now: .now)
            let left = end.map { ContinuousClock.now.duration(to: $0) } ?? pause
            guard left > .zero else { return }
            do { try await Task.sleep(for: min(pause, left)) } catch { return }
        }
    }
}

/// How long the cloud is left alone before each question.
struct WatchPace {
    private var quietSince: ContinuousClock.Instant
    private var pause = NodeWatching.shortest

    init(from start: ContinuousClock.Instant) { quietSince = start }

    /// - Parameters:
    ///   - isHeard: the board's own reports are.
    ///   - fault: why the last question had no answer. What the cloud asks for with it (`Retry-After`) holds for the next question.
    mutating func next(
        hasChanged: Bool, isHeard: Bool, fault: AccountError?, now: ContinuousClock.Instant
    ) -> Duration {
        if hasChanged { (quietSince, pause) = (now, NodeWatching.shortest) }
        if fault != nil { pause = max(pause, NodeWatching.longest) }
        if isHeard {
            pause = NodeWatching.longestHeard
        } else if quietSince.duration(to: now) > NodeWatching.patience {
            pause = min(pause * 3 / 2, NodeWatching.longest)
        }
        return max(pause, fault?.retryAfter ?? .zero)
    }
}

/// Hears from boards what they report, beside the questions to the cloud.
struct LiveWatching: Sendable {
    let client: RainKitClient
    let output: Output

    /// Ends with `take`, when the time is over, or by an error where the deployment lets nobody listen.
    func run(
        _ watched: [NodeID: WatchedNode], until end: ContinuousClock.Instant?,
        _ take: @Sendable (NodeChange) -> Bool
    ) async throws {
        let events = client.liveEvents(of: Array(watched.keys))
        try await Self.follow(events, watched, until: end, say: { output.say($0) }, take)
    }

    /// The end of the time and a cancellation come before the next event and the next change: there is always a next one where boards report
    /// without pause.
    static func follow(
        _ events: AsyncThrowingStream<LiveEvent, any Error>, _ watched: [NodeID: WatchedNode],
        until end: ContinuousClock.Instant?, say: (String) -> Void, _ take: @Sendable (NodeChange) -> Bool
    ) async throws {
        func isOver() -> Bool { Task.isCancelled || end.map { ContinuousClock.now >= $0 } ?? false }
        for try await event in events {
            if isOver() { return }
            switch event {
            case .listening: say("listening")
            case .interrupted(_, let reason):
                say("note: the connection for live changes is made again: \(reason)")
            case .report(let report):
                for change in await watched[report.node]?.take(report) ?? [] {
                    guard !isOver(), take(change) else { return }
                }
            }
        }
    }
}
