// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Logging
import RainCore
import RainIO
import RainJSON
import RainMaker
import RainMosquitto
import Synchronization

/// Shows the boards of accounts in Home Assistant, and takes its commands, over an MQTT broker.
///
/// ```swift
/// let bridge = HomeAssistantBridge([kit], to: try MQTTBroker("mqtt://localhost"))
/// try await bridge.run { event in print(event) }
/// ```
///
/// Outages of the broker and of the cloud do not end it. libmosquitto is opened when it runs.
public final class HomeAssistantBridge: Sendable {
    /// How a bridge works.
    public struct Options: Sendable {
        /// The topics.
        public var topics: HomeAssistantTopics
        /// The ids or names of the boards to show; nil for all.
        public var boards: [String]?
        /// Whether nothing can be set.
        public var isReadOnly = false
        /// The pause between two lists of the cloud, for accounts whose boards cannot be heard. It grows with the number of boards: a tenth
        /// of a second for each.
        public var interval = Duration.seconds(5)
        /// Whether commands go over this machine's network first, to boards with local control.
        public var usesLocalControl = true
        /// How long a board may take to report the value of a command.
        public var reportLimit = Duration.seconds(10)

        public init(topics: HomeAssistantTopics) { self.topics = topics }
    }

    /// What happens while a bridge runs.
    public enum Event: Sendable, Equatable {
        /// The broker has accepted the connection.
        case connected
        /// There is no connection to the broker, whose address the reason begins with. It is tried again.
        case disconnected(reason: String)
        /// Something is probably not as the user meant it.
        case warning(String)
        /// All boards of the accounts are published.
        case ready(boards: Int)
        /// A board is shown from now on.
        case added(RainKitNode, entities: Int)
        /// A board is no longer shown.
        case removed(NodeID, name: String?)
        /// The cloud has lost a board, or hears it again.
        case connectivity(NodeID, name: String?, isOnline: Bool)
        /// A board has reported the values of a command.
        case done(NodeID, name: String?, changes: [ParameterChange])
        /// A command was not carried out.
        case refused(NodeID, name: String?, entity: String, String)
        /// A message was ignored.
        case ignored(topic: String, IgnoredReason)
        /// A cloud does not answer, or answers again (nil).
        case cloud(problem: String?)
        /// The bridge works. A service reports to its watchdog here.
        case alive

        /// Why a message is ignored.
        public enum IgnoredReason: Sendable, Equatable {
            /// It is retained: it would be carried out again at each connection.
            case retained
            /// No board has this entity.
            case unknownEntity
        }
    }

    /// Pauses before the next connection to the broker.
    private static let shortestPause = Duration.milliseconds(500)
    private static let longestPause = Duration.seconds(30)
    /// A connection that has held this long is not the failure before it.
    private static let steadyTime = Duration.seconds(5)
    /// How long another bridge may take to answer.
    private static let answerTime = Duration.seconds(2)
    /// How much longer the broker may take to send the bridge's own message back.
    private static let returnTime = Duration.seconds(5)
    /// How long the broker keeps commands for a bridge that is away, in seconds. Nobody wants a light switched on by an old command.
    private static let keptSeconds: UInt32 = 60
    /// How long a board that was not found on this network is not looked for.
    private static let localPause = Duration.seconds(600)
    private static let groupInterval = Duration.seconds(60)

    private let clients: [RainKitClient]
    private let broker: MQTTBroker
    private let options: Options
    private let identity: String
    private let state: Mutex<Shared>
    private let commands: AsyncStream<HomeAssistantCommand>
    private let queue: AsyncStream<HomeAssistantCommand>.Continuation
    private let time: Timekeeper

    private struct Shared {
        var bridge: HomeAssistantState
        var connection: MosquittoConnection?
        /// Takes reports into the watch of an account.
        var notes: [Int: @Sendable (NodeReport) -> Void] = [:]
        /// When a board may be looked for on this network again.
        var localAt: [NodeID: Duration] = [:]
    }

    /// - Parameter clients: one for each account. A board in several accounts is shown once.
    public init(_ clients: [RainKitClient], to broker: MQTTBroker, options: Options) {
        self.clients = clients
        self.broker = broker
        self.options = options
        let tools = clients.first?.configuration.tools ?? RainKitTools()
        identity = Hex.text(tools.randomBytes(8))
        time = Timekeeper(tools.timer)
        state = Mutex(
            Shared(
                bridge: HomeAssistantState(
                    options.topics, accounts: clients.count, boards: options.boards,
                    isReadOnly: options.isReadOnly, identity: identity)))
        (commands, queue) = AsyncStream.makeStream()
    }

    /// Works until the task is cancelled. Boards and the bridge are then shown as unavailable. Call it once.
    ///
    /// - Parameter report: called for each event, on any thread, and returns soon.
    /// - Throws: `RainKitError`: `no_library` without libmosquitto; `broker_refused` also for the first message that the broker refuses;
    ///   `broker_tls`, `broker_files`, `broker_without_retain`, `broker_without_qos`;
    ///   `base_topic_in_use` if another bridge has the same base topic; an error whose ``RainKitError/needsSignIn`` is true.
    public func run(_ report: @escaping @Sendable (Event) -> Void) async throws {
        guard MosquittoConnection.isAvailable else { throw fault(.noLibrary) }
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                defer { group.cancelAll() }
                group.addTask { try await self.keepConnected(report) }
                group.addTask { await self.carryOutCommands(report) }
                for account in clients.indices {
                    group.addTask { try await self.follow(account, report) }
                    group.addTask { await self.followGroups(of: account, report) }
                }
                try await group.next()
            }
        } catch is CancellationError {
            throw RainKitError.cancelled
        }
    }

    private func fault(_ end: MosquittoEnd) -> RainKitError { BrokerFault(end, at: broker).error }

    // MARK: The state

    /// Changes the state, and does what it decides. Messages are queued under the lock, so that they are in the order of the changes.
    private func apply(
        _ report: @Sendable (Event) -> Void, _ change: (inout HomeAssistantState) -> [HomeAssistantAction]
    ) {
        let events = state.withLock { shared -> [Event] in
            var events: [Event] = []
            for action in change(&shared.bridge) {
                switch action {
                case .publish(let topic, let payload, let isRetained):
                    // A refusal of what the broker should keep must not go unnoticed.
                    if isRetained {
                        shared.connection?.send(topic, payload, isRetained: true)
                    } else {
                        shared.connection?.publish(topic, payload, isRetained: false)
                    }
                case .run(let command): queue.yield(command)
                case .report(let event): events.append(event)
                }
            }
            return events
        }
        for event in events { report(event) }
    }

    // MARK: The broker

    private func keepConnected(_ report: @escaping @Sendable (Event) -> Void) async throws {
        var failures = 0
        var (hasWorked, isChecked, isVersion5) = (false, false, true)
        while !Task.isCancelled {
            let start = time.elapsed()
            let end: MosquittoEnd
            if !isChecked {
                switch try await checkBaseTopic(isVersion5: isVersion5) {
                case nil:
                    isChecked = true
                    continue
                case let failure?: end = failure
                }
            } else {
                end = try await connectOnce(isVersion5: isVersion5, report) { hasWorked = true }
            }
            // Another part of the bridge has failed, and its error is the one to show.
            guard !Task.isCancelled else { return }
            switch BrokerFault.Course(after: end, hasWorked: hasWorked, isVersion5: isVersion5) {
            case .end: return
            case .olderVersion:
                isVersion5 = false
                continue
            case .fail: throw fault(end)
            case .retry: break
            }
            failures = hasWorked && time.elapsed() - start > Self.steadyTime ? 0 : failures + 1
            let pause = min(Self.shortestPause * (1 << min(failures, 6)), Self.longestPause)
            let random = clients[0].configuration.tools.randomBytes(1).first ?? 0
            // Between half of the pause and one and a half: bridges that lost the same broker do not all come back at once.
            report(.disconnected(reason: BrokerFault.outage(end, at: broker, hasWorked: hasWorked)))
            do { try await time.sleep(pause * (128 + Int(random)) / 256) } catch { return }
        }
    }

    private func settings(_ clientID: String, isVersion5: Bool) -> MosquittoSettings {
        var settings = MosquittoSettings(
            host: broker.host, port: broker.port, isSecure: broker.isSecure, clientID: clientID)
        settings.user = broker.user
        settings.password = broker.password
        settings.authorities = broker.certificateAuthorities
        settings.certificate = broker.certificate
        settings.key = broker.key
        settings.isVersion5 = isVersion5
        return settings
    }

    private func connectOnce(
        isVersion5: Bool, _ report: @escaping @Sendable (Event) -> Void, _ worked: () -> Void
    ) async throws -> MosquittoEnd {
        let topics = options.topics
        // The identifier is always the same, so that the broker keeps commands while the bridge is away.
        var settings = settings("rainkit-\(HomeAssistantTopics.level(topics.base))", isVersion5: isVersion5)
        settings.will = (topics.bridgeAvailability, "offline")
        settings.keepsSession = Self.keptSeconds
        let wasAccepted = Mutex(false)
        let connection: MosquittoConnection
        do throws(MosquittoEnd) {
            connection = try MosquittoConnection(settings) { [self] connection in
                wasAccepted.withLock { $0 = true }
                for (filter, quality) in state.withLock({ $0.bridge.subscriptions }) {
                    connection.subscribe(filter, quality: quality)
                }
                state.withLock { $0.connection = connection }
                apply(report) { $0.connected() }
                report(.connected)
            } arrived: { [self] _, message in
                apply(report) { $0.take(topic: message.topic, message.payload, isRetained: message.isRetained) }
            } lowered: { [broker] filter, quality in
                report(.warning(BrokerFault.lowered(filter, quality, at: broker)))
            }
        } catch {
            return error
        }
        let end = await connection.run()
        state.withLock { shared in
            shared.connection = nil
            shared.bridge.disconnected()
        }
        if wasAccepted.withLock({ $0 }) { worked() }
        return end
    }

    /// Asks whether another bridge uses the base topic.
    ///
    /// - Returns: why the broker could not be asked; nil if the topic is free.
    private func checkBaseTopic(isVersion5: Bool) async throws -> MosquittoEnd? {
        let topics = options.topics
        let settings = settings("rainkit-check-\(identity)", isVersion5: isVersion5)
        let (verdict, isReturned) = (Waiter<Bool>(), Waiter<Bool>())
        let wasAccepted = Atomic(false)
        let wasAcknowledged = Atomic(false)
        let hasReturned = Atomic(false)
        let wasOnline = Mutex(false)
        let connection: MosquittoConnection
        do throws(MosquittoEnd) {
            connection = try MosquittoConnection(settings) { [identity] connection in
                wasAccepted.store(true, ordering: .relaxed)
                for topic in [topics.bridgeAvailability, topics.here, topics.marker] {
                    connection.subscribe(topic, quality: 0)
                }
                connection.send(topics.hello, Array(identity.utf8), isRetained: false)
                connection.send(topics.marker, Array("check-\(identity)".utf8), isRetained: false)
            } arrived: { [identity] _, message in
                switch message.topic {
                case topics.here: verdict.resume(returning: false)
                case topics.bridgeAvailability:
                    wasOnline.withLock { $0 = message.payload == Array("online".utf8) }
                case topics.marker where message.payload == Array("check-\(identity)".utf8):
                    hasReturned.store(true, ordering: .relaxed)
                    isReturned.resume(returning: true)
                    // Nobody is there. Otherwise it may be a bridge that has just died, or one that is about to answer.
                    if !wasOnline.withLock({ $0 }) { verdict.resume(returning: true) }
                default: break
                }
            } acknowledged: { topic in
                if topic == topics.marker { wasAcknowledged.store(true, ordering: .relaxed) }
            }
        } catch {
            return error
        }
        // Ended here, by `stop`.
        let running = Task {
            let end = await connection.run()
            verdict.resume(returning: true)
            isReturned.resume(returning: false)
            return end
        }
        let isFree = await verdict.value(within: Self.answerTime) { _ in verdict.resume(returning: true) }
        if isFree, wasAccepted.load(ordering: .relaxed) {
            _ = await isReturned.value(within: Self.returnTime) { _ in isReturned.resume(returning: false) }
        }
        connection.stop()
        running.cancel()
        let end = await running.value
        guard isFree else { throw fault(.ended(code: 0x8E, "")) }
        guard end == .stopped, !Task.isCancelled else { return end }
        guard wasAccepted.load(ordering: .relaxed) else {
            return .network("no MQTT answer arrived in time, so the port may belong to another service")
        }
        if hasReturned.load(ordering: .relaxed) { return nil }
        guard wasAcknowledged.load(ordering: .relaxed) else {
            return .network("the broker did not confirm the first message")
        }
        // Brokers pretend to grant what the access list forbids, and so the missing message is all there is to see.
        return .refusedSubscription(filter: "\(topics.base)/#", code: 0x87)
    }

    // MARK: The cloud

    private func follow(_ account: Int, _ report: @escaping @Sendable (Event) -> Void) async throws {
        let interval = options.interval
        let (events, note) = clients[account].watching(
            pace: { max(interval, .milliseconds(100 * $0)) }, live: true)
        state.withLock { $0.notes[account] = note }
        var isReachable = true
        for try await event in events {
            switch event {
            case .added(let node), .described(let node): apply(report) { $0.take(node, of: account) }
            case .removed(let id, _): apply(report) { $0.remove(id, of: account) }
            case .changed(let change): apply(report) { $0.take(change, of: account) }
            case .unreachable(let error):
                isReachable = false
                report(.cloud(problem: error.message))
                apply(report) { $0.setReachable(false, account) }
            case .reachable:
                isReachable = true
                report(.cloud(problem: nil))
                apply(report) { $0.setReachable(true, account) }
            case .alive:
                if isReachable { apply(report) { $0.listed(account) } }
                apply(report) { $0.tidy() }
                report(.alive)
            // Home Assistant has no entity for a text that a board reports once.
            case .listening, .interrupted, .alert: break
            }
        }
    }

    private func followGroups(of account: Int, _ report: @escaping @Sendable (Event) -> Void) async {
        let kit = clients[account]
        while !Task.isCancelled {
            let areas = await withDeadline(Self.answerTime * 3, sleep: time.sleep) { () async throws(RainKitError) in
                try await kit.rooms()
            }
            switch areas {
            case .success(let areas)?: apply(report) { $0.take(areas: areas, of: account) }
            // Groups are a help. Without them the boards are in no room, or in the one that is known.
            case .failure, nil: apply(report) { $0.take(areas: nil, of: account) }
            }
            guard (try? await time.sleep(Self.groupInterval)) != nil else { return }
        }
    }

    // MARK: Commands

    private func carryOutCommands(_ report: @escaping @Sendable (Event) -> Void) async {
        await withDiscardingTaskGroup { group in
            for await command in commands {
                group.addTask {
                    let refusal = await self.carryOut(command)
                    self.apply(report) { $0.finished(command, refusal: refusal) }
                }
            }
        }
    }

    /// Returns why the board has not done it; nil if it has reported the values.
    private func carryOut(_ command: HomeAssistantCommand) async -> String? {
        guard let (node, account) = state.withLock({ $0.bridge.node(command.node) }) else {
            return "The board is no longer in the account."
        }
        let kit = clients[account]
        do {
            let outcome: ParameterSetOutcome
            if let local = try await carryOutLocally(command, node, kit) {
                outcome = local
            } else {
                guard node.connectivity?.isConnected != false else { return "The board is offline." }
                outcome = try await kit.set(command.changes, at: node, waiting: options.reportLimit)
            }
            if let refusal = outcome.refusal { return refusal }
            let reported = command.changes.reported(by: NodeConfiguration(node.configuration))
            if !reported.isEmpty {
                let note = state.withLock { $0.notes[account] }
                note?(NodeReport(node: command.node, values: reported.json))
            }
            return nil
        } catch {
            return RainKitError(wrapping: error).message.asSentence
        }
    }

    /// Returns nil if the board is not on this machine's network, and so was not asked.
    private func carryOutLocally(
        _ command: HomeAssistantCommand, _ node: Node, _ kit: RainKitClient
    ) async throws -> ParameterSetOutcome? {
        let now = time.elapsed()
        guard options.usesLocalControl, node.hasLocalControl,
            state.withLock({ $0.localAt[node.id].map { now >= $0 } ?? true })
        else { return nil }
        var local = LocalNodeOptions(asksCloud: false)
        local.proof = node.localProof.map { ProofOfPossession(Secret($0)) }
        let hasBegun = Mutex(false)
        let options = local
        let result = await withDeadline(.seconds(5), sleep: time.sleep) { () async throws(RainKitError) in
            do {
                return try await kit.withLocalNode(node.id.rawValue, options, within: .milliseconds(1500)) { board in
                    hasBegun.withLock { $0 = true }
                    return try await board.set { _ in command.changes }
                }
            } catch {
                throw RainKitError(wrapping: error)
            }
        }
        if case .success(let outcome)? = result { return outcome }
        // A command that may have arrived is not sent a second time over the cloud.
        if hasBegun.withLock({ $0 }) {
            if case .failure(let error)? = result { throw error }
            throw RainKitError(.deadline, message: "The board has not answered on this network.")
        }
        state.withLock { $0.localAt[node.id] = now + Self.localPause }
        return nil
    }
}

extension Node {
    /// Whether the firmware has local control.
    fileprivate var hasLocalControl: Bool {
        (NodeConfiguration(configuration)?.components ?? []).contains { $0.type == "esp.service.local_control" }
    }
}

extension ParameterSetOutcome {
    /// Why the values count as not set; nil if the node has reported them, or reports none of them.
    fileprivate var refusal: String? {
        if let failure { return "The cloud refused the value: \(failure)".asSentence }
        if let unknown { return "It is not known whether the board has the value: \(unknown.message)".asSentence }
        guard isReported == false else { return nil }
        return seen.map { "The board has not reported the value: it \($0).".onOneLine }
            ?? "The board has not reported the value."
    }
}

extension RainKitClient {
    /// Returns the rooms of the nodes: the name of the innermost group that each is in.
    fileprivate func rooms() async throws(RainKitError) -> [NodeID: String] {
        try await asking { cloud throws(AccountError) in
            var rooms: [NodeID: (name: String, depth: Int)] = [:]
            func take(_ group: NodeGroup, depth: Int) {
                for node in group.nodes ?? [] where depth > (rooms[node]?.depth ?? -1) {
                    rooms[node] = (group.name, depth)
                }
                for subgroup in group.subgroups ?? [] { take(subgroup, depth: depth + 1) }
            }
            for group in try await cloud.groups(withSubgroups: false) {
                take(try await cloud.group(group.id), depth: 0)
            }
            return rooms.mapValues(\.name)
        }
    }
}

extension HomeAssistantBridge.Event: CustomStringConvertible {
    /// A line for people.
    public var description: String {
        func name(_ id: NodeID, _ name: String?) -> String { (name ?? id.rawValue).onOneLine }
        return switch self {
        case .connected: "connected to the broker"
        case .disconnected(let reason): "no connection to \(reason); trying again".onOneLine
        case .warning(let message): message.onOneLine
        case .ready(let boards): "ready: \(boards.counting("board"))"
        case .added(let node, let entities):
            "\(node.shownName): shown in Home Assistant with \(entities.counting("entity", "entities"))"
        case .removed(let id, let given): "\(name(id, given)): no longer shown in Home Assistant"
        case .connectivity(let id, let given, let isOnline): "\(name(id, given)): \(isOnline ? "online" : "offline")"
        case .done(let id, let given, let changes):
            "\(name(id, given)): \(changes.map { "\($0.path)=\($0.value.shown)" }.joined(separator: ", "))".onOneLine
        case .refused(let id, let given, let entity, let reason):
            "\(name(id, given)): \(entity) was not set: \(reason)".onOneLine
        case .ignored(let topic, .retained): "ignored a retained command: \(topic)".onOneLine
        case .ignored(let topic, .unknownEntity): "ignored a command for an unknown entity: \(topic)".onOneLine
        case .cloud(nil): "the cloud answers again"
        case .cloud(let problem?): "no answer from the cloud: \(problem)".onOneLine
        case .alive: "alive"
        }
    }
}

extension Int {
    fileprivate func counting(_ noun: String, _ plural: String) -> String { "\(self) \(self == 1 ? noun : plural)" }
}
