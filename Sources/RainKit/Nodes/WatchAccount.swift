// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainAccount
import RainCore
import RainIO
import RainMaker
import Synchronization

extension RainKitClient {
    /// Watches all nodes of the account, also those that are added later, until the loop is left or its task is cancelled.
    ///
    /// ```swift
    /// for try await event in kit.watchAll() {
    ///     if case .changed(let change) = event { print(change) }
    /// }
    /// ```
    ///
    /// The cloud lists the nodes every few seconds. The nodes' own reports (MQTT) arrive at once, where the deployment and the firmware
    /// allow that. There is one connection for every five nodes.
    ///
    /// An outage does not end the sequence, and is reported as ``NodeEvent/unreachable(_:)``. The cloud is asked again after longer and
    /// longer pauses, 30 s at most unless it asks for more. Then come ``NodeEvent/reachable`` and the changes during the outage.
    ///
    /// Events wait while the loop's body runs. If more than 1000 wait, older values of the same parameter are left out.
    ///
    /// - Parameters:
    ///   - interval: the pause between two listings.
    ///   - live: whether to listen to the nodes' own reports, too.
    /// - Throws: `RainKitError`: an error that ``RainKitError/needsSignIn``; and, before the first list has arrived, each error that is not
    ///   transient.
    public func watchAll(
        every interval: Duration = .seconds(5), live: Bool = true
    ) -> AsyncThrowingStream<NodeEvent, any Error> {
        watching(pace: { _ in interval }, live: live).events
    }

    /// Watches all nodes, as ``watchAll(every:live:)`` does.
    ///
    /// - Parameter pace: returns the pause between two listings for a number of nodes.
    /// - Returns: the events, and a function for reports of nodes that arrive elsewhere, such as after a command. They are in the events, in
    ///   the right order with the lists of the cloud.
    func watching(
        pace: @escaping @Sendable (_ nodes: Int) -> Duration, live: Bool
    ) -> (events: AsyncThrowingStream<NodeEvent, any Error>, note: @Sendable (NodeReport) -> Void) {
        let watch = AccountWatch(kit: self, time: Timekeeper(configuration.tools.timer), pace: pace, isLive: live)
        // Cancelled by its handle, when the loop is left.
        let running = RunningWatch(queue: watch.queue, task: Task { await watch.run() })
        return (AsyncThrowingStream { try await running.next() }, { watch.note($0) })
    }
}

/// What ``RainKitClient/watchAll(every:live:)`` reports.
public enum NodeEvent: Sendable {
    /// A node is in the account: at the beginning each node once, later those that are new. Its last reported values are in it.
    case added(RainKitNode)
    /// A node describes itself differently, for example after an update of its firmware. Its last reported values are in it.
    case described(RainKitNode)
    /// A node is no longer in the account.
    case removed(NodeID, name: String?)
    /// A value or the connection of a node is different.
    case changed(NodeChange)
    /// A node has raised an alert. Alerts arrive only where the deployment and the firmware allow that.
    case alert(NodeAlert)
    /// The cloud no longer answers, or cannot be asked, for example because the disk is full and the session has to be renewed. It is asked
    /// again, and the values of the nodes are old until ``reachable``.
    case unreachable(RainKitError)
    /// The cloud answers again. The changes during the outage follow.
    case reachable
    /// The nodes' own reports are heard from now on.
    case listening
    /// The connection for the nodes' own reports broke, or cannot be made. The list of the cloud still shows all changes.
    case interrupted(String)
    /// The watch works: the cloud was asked, with or without an answer. It also comes every 30 s of a longer pause. A service reports to its
    /// watchdog here.
    case alive
}

extension NodeEvent: CustomStringConvertible {
    /// Such as `Kitchen lamp: Light.Power=true`.
    public var description: String {
        switch self {
        case .added(let node): "\(node.shownName): added"
        case .described(let node): "\(node.shownName): has a new description"
        case .removed(let id, let name): "\((name ?? id.rawValue).onOneLine): removed"
        case .changed(let change): "\(change)"
        case .alert(let alert): "\(alert.node.rawValue.onOneLine): alert: \(alert.text.onOneLine)"
        case .unreachable(let error): "the list of boards could not be read from the cloud: \(error.message)"
        case .reachable: "the cloud answers again"
        case .listening: "receiving the boards' own reports live"
        case .interrupted(let reason): "not receiving the boards' own reports live: \(reason)"
        case .alive: "alive"
        }
    }

    /// Two waiting events of the same subject may be replaced by the later one.
    fileprivate enum Subject: Hashable {
        case value(NodeID, ParameterPath)
        case description(NodeID)
        case connection(NodeID)
        case membership(NodeID)
        case alert(NodeID)
        case cloud, reports, alive
    }

    fileprivate var subject: Subject {
        switch self {
        case .added(let node): .membership(node.id)
        case .described(let node): .description(node.id)
        case .removed(let id, _): .membership(id)
        case .changed(let change):
            switch change.kind {
            case .value(let path, _, _): .value(change.node, path)
            case .connected: .connection(change.node)
            }
        case .alert(let alert): .alert(alert.node)
        case .unreachable, .reachable: .cloud
        case .listening, .interrupted: .reports
        case .alive: .alive
        }
    }
}

/// The nodes of an account, from the cloud's lists and the nodes' own reports.
struct AccountNodes {
    private struct Entry {
        var node: Node
        var parameters: ReportedParameters
        /// The number of the node's last report.
        var lastReport = 0

        init(_ node: Node) { (self.node, parameters) = (node, ReportedParameters(of: node)) }
    }

    private var entries: [NodeID: Entry] = [:]
    /// The number of reports so far, of all nodes.
    private(set) var reports = 0

    /// The ids, in a fixed order.
    var ids: [NodeID] { entries.keys.sorted { $0.rawValue < $1.rawValue } }

    /// Returns the changes that a report of a node brings.
    mutating func take(_ report: NodeReport) -> [NodeEvent] {
        guard var entry = entries[report.node] else { return [] }
        reports += 1
        entry.lastReport = reports
        let before = entry.node
        entry.node.take(report, of: entry.parameters)
        entries[report.node] = entry
        return NodeChange.between(before, entry.node).map { .changed($0) }
    }

    /// Returns an alert of a node without its secrets.
    func take(_ alert: NodeAlert) -> [NodeEvent] {
        guard let entry = entries[alert.node] else { return [] }
        return [.alert(alert.masked(by: entry.node.secretParameters))]
    }

    /// Returns the changes that a list of the cloud brings.
    ///
    /// - Parameter reports: ``reports`` when the cloud was asked. If a node has reported since, its values may be newer than the list.
    mutating func take(_ list: [Node], askedAfter reports: Int) -> [NodeEvent] {
        var events: [NodeEvent] = []
        var gone = Set(entries.keys)
        for node in list {
            gone.remove(node.id)
            guard var entry = entries[node.id] else {
                entries[node.id] = Entry(node)
                events.append(.added(node))
                continue
            }
            let before = entry.node
            entry.node = node
            if entry.lastReport > reports { entry.node.parameters = before.parameters }
            if node.configuration != before.configuration {
                entry.parameters = ReportedParameters(of: node)
                events.append(.described(entry.node))
            }
            entries[node.id] = entry
            events += NodeChange.between(before, entry.node).map { .changed($0) }
        }
        for id in gone.sorted(by: { $0.rawValue < $1.rawValue }) {
            events.append(.removed(id, name: entries.removeValue(forKey: id)?.node.displayName))
        }
        return events
    }
}

/// Events that wait for the loop. From ``crowd`` events on, a new one replaces the waiting one of the same subject. So a loop that does not
/// come back costs a bounded amount of memory, and still gets the last value of everything.
final class NodeEventQueue: Sendable {
    static let crowd = 1000

    private struct State {
        var events: [NodeEvent] = []
        /// The index of the first waiting event in ``events``.
        var first = 0
        var end: RainKitError?
        var waiter: Waiter<Void>?

        mutating func take() -> NodeEvent? {
            guard first < events.count else { return nil }
            let event = events[first]
            // A placeholder, so that an event is released once it was taken.
            events[first] = .alive
            first += 1
            if first > NodeEventQueue.crowd || first == events.count {
                events.removeFirst(first)
                first = 0
            }
            return event
        }

        mutating func add(_ event: NodeEvent) {
            let subject = event.subject
            if subject == .alive || events.count - first >= NodeEventQueue.crowd,
                let earlier = events[first...].firstIndex(where: { $0.subject == subject })
            {
                events.remove(at: earlier)
            }
            events.append(event)
        }
    }

    private let state = Mutex(State())

    /// The number of waiting events.
    var count: Int { state.withLock { $0.events.count - $0.first } }

    func add(_ events: [NodeEvent]) {
        guard !events.isEmpty else { return }
        let waiter = state.withLock { state in
            for event in events { state.add(event) }
            return state.waiter
        }
        waiter?.resume()
    }

    /// - Parameter error: why there are no more events. The waiting ones are still returned.
    func finish(_ error: RainKitError) {
        let waiter = state.withLock { state in
            state.end = error
            return state.waiter
        }
        waiter?.resume()
    }

    /// Returns the next event, once there is one; nil if the calling task is cancelled. Only one task may ask at a time.
    func next() async throws -> NodeEvent? {
        while !Task.isCancelled {
            let waiter = Waiter<Void>()
            let answer: Result<NodeEvent, RainKitError>? = state.withLock { state in
                if let event = state.take() { return .success(event) }
                if let end = state.end { return .failure(end) }
                state.waiter = waiter
                return nil
            }
            if let answer { return try answer.get() }
            await waiter.value { waiter.resume() }
        }
        return nil
    }
}

/// The task behind a loop. It ends with the last reference to this value.
private final class RunningWatch: Sendable {
    private let queue: NodeEventQueue
    private let task: Task<Void, Never>

    init(queue: NodeEventQueue, task: Task<Void, Never>) { (self.queue, self.task) = (queue, task) }
    deinit { task.cancel() }

    func next() async throws -> NodeEvent? {
        let event = try await queue.next()
        // The event is nil only if the loop's task is cancelled. Nobody asks again then.
        if event == nil { task.cancel() }
        return event
    }
}

/// Asks the cloud for the list of nodes again and again, and listens to the nodes' own reports.
private final class AccountWatch: Sendable {
    /// The maximum pause during an outage, unless the cloud asks for more.
    private static let longestPause = Duration.seconds(30)
    /// The maximum that the cloud may ask for. One wrong header must not stop a gateway for a day.
    private static let longestRetryAfter = Duration.seconds(3600)
    /// How long to wait after a refusal to let anybody listen. It may be a fault of the deployment, but most often it is a setting.
    private static let pauseAfterRefusal = Duration.seconds(600)

    let queue = NodeEventQueue()
    private let kit: RainKitClient
    private let time: Timekeeper
    private let pace: @Sendable (Int) -> Duration
    private let isLive: Bool
    private let nodes = Mutex(AccountNodes())
    /// Ends the pause before the next question.
    private let bell = Mutex(Bell())

    private struct Bell {
        var hasRung = false
        var waiter: Waiter<Void>?
    }

    init(kit: RainKitClient, time: Timekeeper, pace: @escaping @Sendable (Int) -> Duration, isLive: Bool) {
        (self.kit, self.time, self.pace, self.isLive) = (kit, time, pace, isLive)
    }

    /// Takes a report that has arrived elsewhere.
    func note(_ report: NodeReport) { nodes.withLock { nodes in queue.add(nodes.take(report)) } }

    func run() async {
        var hasWorked = false
        var failures = 0
        var heard: [NodeID] = []
        // Cancelled here, and when the set of nodes changes.
        var listening: Task<Void, Never>?
        defer { listening?.cancel() }
        while !Task.isCancelled {
            let reports = nodes.withLock { $0.reports }
            bell.withLock { $0.hasRung = false }
            do {
                let list = try await kit.nodes()
                let wasReachable = failures == 0
                (hasWorked, failures) = (true, 0)
                // Both under one lock, so that events are in the order of the changes.
                let ids = nodes.withLock { nodes in
                    queue.add((wasReachable ? [] : [.reachable]) + nodes.take(list, askedAfter: reports) + [.alive])
                    return nodes.ids
                }
                if isLive, ids != heard {
                    listening?.cancel()
                    listening = ids.isEmpty ? nil : Task { await listen(to: ids) }
                    heard = ids
                }
                await pause(pace(ids.count), orBell: true)
            } catch {
                let error = RainKitError(wrapping: error)
                guard error.isTransient || hasWorked && !error.needsSignIn else { return queue.finish(error) }
                queue.add((failures == 0 ? [.unreachable(error)] : []) + [.alive])
                failures += 1
                let interval = pace(nodes.withLock { $0.ids.count })
                let longer = interval * (1 << min(failures, 6))
                let wanted = min(error.retryAfter ?? .zero, Self.longestRetryAfter)
                await pause(max(interval, min(longer, Self.longestPause), wanted))
            }
        }
    }

    /// - Parameter ids: listened to until the task is cancelled.
    private func listen(to ids: [NodeID]) async {
        var isInterrupted = false
        repeat {
            do {
                for try await event in kit.liveEvents(of: ids) {
                    switch event {
                    case .report(let report): nodes.withLock { nodes in queue.add(nodes.take(report)) }
                    case .listening:
                        isInterrupted = false
                        queue.add([.listening])
                        // Reports from before are only in the cloud's list.
                        ring()
                    case .interrupted(_, let reason):
                        if !isInterrupted { queue.add([.interrupted(reason)]) }
                        isInterrupted = true
                    case .alert(let alert): nodes.withLock { nodes in queue.add(nodes.take(alert)) }
                    case .withoutAlerts: break
                    }
                }
            } catch {
                guard !Task.isCancelled else { return }
                if !isInterrupted { queue.add([.interrupted(RainKitError(wrapping: error).message)]) }
                isInterrupted = true
            }
        } while (try? await time.sleep(Self.pauseAfterRefusal)) != nil
    }

    private func ring() {
        let waiter = bell.withLock { bell in
            bell.hasRung = true
            return bell.waiter
        }
        waiter?.resume()
    }

    private func pause(_ limit: Duration, orBell: Bool = false) async {
        let waiter = Waiter<Void>()
        let hasRung = bell.withLock { bell in
            bell.waiter = orBell ? waiter : nil
            return orBell && bell.hasRung
        }
        guard !hasRung else { return }
        _ = await race(against: { try await self.sleep(limit) }) { await waiter.value { waiter.resume() } }
    }

    private func sleep(_ limit: Duration) async throws {
        var left = limit
        while left > Self.longestPause {
            try await time.sleep(Self.longestPause)
            left -= Self.longestPause
            queue.add([.alive])
        }
        try await time.sleep(left)
    }
}
