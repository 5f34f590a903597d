// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import RainMaker

/// A command for a board, as an MQTT client has sent it.
struct HomeAssistantCommand: Sendable, Equatable {
    /// Its number in this process.
    var number: Int
    var node: NodeID
    /// The key of the entity.
    var entity: String
    /// The name of the command, such as `set`.
    var name: String
    var changes: [ParameterChange]
}

/// What a bridge does next.
enum HomeAssistantAction: Sendable, Equatable {
    /// Publish a message. An empty one removes the retained one.
    case publish(topic: String, payload: [UInt8], isRetained: Bool)
    /// Carry out a command. Its outcome comes back with ``HomeAssistantState/finished(_:refusal:)``.
    case run(HomeAssistantCommand)
    case report(HomeAssistantBridge.Event)
}

/// Everything that a bridge knows and decides: the boards, what is published of them, and the commands that wait. A value without input and
/// output.
struct HomeAssistantState {
    /// The maximum number of commands that wait for a board.
    static let maximumWaiting = 100
    /// The maximum number of commands that wait for the list of boards.
    private static let maximumEarly = 1000
    /// The maximum number of boards that an earlier bridge may have left.
    private static let maximumLeft = 10_000

    private struct Entry {
        var node: Node
        /// The account that has shown it first.
        var account: Int
        var board: HomeAssistantBoard
        /// What the board's last configuration was made into entities from.
        var configuration: JSONValue?
        /// By the keys of the entities.
        var refusals: [String: String] = [:]
        /// Hashes of what was published, by topic.
        var published: [String: Int] = [:]
        /// The discovery messages among them.
        var discovered: [String] = []
        var running: HomeAssistantCommand?
        var waiting: [HomeAssistantCommand] = []
    }

    let topics: HomeAssistantTopics
    let isReadOnly: Bool
    /// The ids or names of the boards to show; nil for all.
    private let wanted: [String]?
    private let accounts: Int
    /// Tells this process from another one.
    private let identity: String

    private var boards: [NodeID: Entry] = [:]
    /// All nodes of each account. The same node may be in several.
    private var nodes: [[NodeID: Node]]
    private var areas: [[NodeID: String]]
    private var isReachable: [Bool]
    private var isListed: [Bool]
    private var hasAreas: [Bool]
    private var isConnected = false
    private var hasSettled = false
    /// What earlier bridges have left at the broker, by the level of the board: the entities.
    private var left: [String: [String]] = [:]
    /// Commands that the broker has kept, and that arrive before the boards are known.
    private var early: [(topic: String, payload: [UInt8])] = []
    /// Topics of boards that are gone: those to remove at the next ``tidy()``, and those to remove at the one after it.
    private var trash: (now: [String], later: [String]) = ([], [])
    private var nextNumber = 0
    private var isReady = false

    init(
        _ topics: HomeAssistantTopics, accounts: Int = 1, boards wanted: [String]? = nil, isReadOnly: Bool = false,
        identity: String
    ) {
        self.topics = topics
        self.accounts = accounts
        self.wanted = wanted
        self.isReadOnly = isReadOnly
        self.identity = identity
        nodes = Array(repeating: [:], count: accounts)
        areas = Array(repeating: [:], count: accounts)
        isReachable = Array(repeating: true, count: accounts)
        isListed = Array(repeating: false, count: accounts)
        hasAreas = Array(repeating: false, count: accounts)
    }

    /// The number of boards that are shown.
    var count: Int { boards.count }

    /// The subscriptions, each with its quality of service. Commands are wanted exactly once.
    var subscriptions: [(filter: String, quality: Int32)] {
        // The bridge's own messages come back here. With quality 0 the broker does not queue them in front of commands.
        let own = ["+/entities", "bridge/hello", "bridge/here", "bridge/marker"].map {
            (filter: "\(topics.base)/\($0)", quality: Int32(0))
        }
        guard !isReadOnly else { return own }
        return ["+/+/set", "+/+/set/+"].map { ("\(topics.base)/\($0)", Int32(2)) } + own
    }

    // MARK: Accounts

    /// A node has appeared in an account, or describes itself differently.
    mutating func take(_ node: Node, of account: Int) -> [HomeAssistantAction] {
        nodes[account][node.id] = node
        return refresh(node.id)
    }

    mutating func remove(_ id: NodeID, of account: Int) -> [HomeAssistantAction] {
        nodes[account][id] = nil
        areas[account][id] = nil
        return refresh(id)
    }

    mutating func take(_ change: NodeChange, of account: Int) -> [HomeAssistantAction] {
        guard var node = nodes[account][change.node] else { return [] }
        switch change.kind {
        case .connected(let isConnected):
            node.connectivity = Node.Connectivity(isConnected: isConnected)
        case .value(let path, let value, _):
            // Secrets are masked, and no entity has them.
            node.setValue(value, at: path)
        }
        nodes[account][change.node] = node
        return refresh(change.node)
    }

    /// The account's list of nodes is complete.
    mutating func listed(_ account: Int) -> [HomeAssistantAction] {
        guard !isListed[account] else { return [] }
        isListed[account] = true
        return begin()
    }

    /// The rooms of the nodes, from the account's groups; nil if the groups could not be fetched.
    mutating func take(areas given: [NodeID: String]?, of account: Int) -> [HomeAssistantAction] {
        let before = areas[account]
        let given = given ?? before
        areas[account] = given
        let isFirst = !hasAreas[account]
        hasAreas[account] = true
        guard !isFirst || isReady else { return begin() }
        let changed = Set(before.keys).union(given.keys).filter { before[$0] != given[$0] }
        return changed.sorted { $0.rawValue < $1.rawValue }.flatMap { refresh($0) }
    }

    /// Whether the cloud answers. Without it nobody knows the states of the boards.
    mutating func setReachable(_ isReachable: Bool, _ account: Int) -> [HomeAssistantAction] {
        guard self.isReachable[account] != isReachable else { return [] }
        self.isReachable[account] = isReachable
        return boards.values.filter { $0.account == account }.map(\.node.id)
            .sorted { $0.rawValue < $1.rawValue }.flatMap { refresh($0) }
    }

    /// Nothing is published before there is a broker, and before the lists and the rooms are complete, because Home Assistant takes a room only with a new device.
    private mutating func begin() -> [HomeAssistantAction] {
        guard isConnected, !isReady, !isListed.contains(false), !hasAreas.contains(false) else { return [] }
        isReady = true
        let ids = Set(nodes.flatMap(\.keys)).sorted { $0.rawValue < $1.rawValue }
        var actions = ids.flatMap { refresh($0) } + clean()
        for (topic, payload) in early { actions += take(topic: topic, payload, isRetained: false) }
        early = []
        return actions + warnings() + [.report(.ready(boards: boards.count))]
    }

    /// The wanted boards that are in no account, most often because their names are misspelled.
    private func warnings() -> [HomeAssistantAction] {
        var named: [String] = []
        for name in wanted ?? []
        where !named.contains(name) && !nodes.contains(where: { $0.values.contains { $0.isNamed(name) } }) {
            named.append(name)
        }
        return named.map {
            .report(.warning("No board is named \($0.onOneLine); the bridge shows it as soon as it is in the account."))
        }
    }

    private func isWanted(_ node: Node) -> Bool { wanted?.contains { node.isNamed($0) } ?? true }

    // MARK: Messages about boards

    /// Publishes what is different about a board: its entities, its states, and whether it is available.
    private mutating func refresh(_ id: NodeID) -> [HomeAssistantAction] {
        guard isReady else { return [] }
        // The account that showed it first keeps it while it has it.
        let holder =
            boards[id].map(\.account).flatMap { nodes[$0][id] == nil ? Optional.none : $0 }
            ?? nodes.indices.first { nodes[$0][id] != nil }
        guard let holder, let node = nodes[holder][id], isWanted(node) else {
            guard let entry = boards.removeValue(forKey: id) else { return [] }
            return removal(of: id, entry) + [.report(.removed(id, name: entry.node.displayName))]
        }
        var actions: [HomeAssistantAction] = []
        var entry: Entry
        if let known = boards[id] {
            entry = known
            let isOnline = node.connectivity?.isConnected == true
            if isOnline != (known.node.connectivity?.isConnected == true) {
                actions.append(.report(.connectivity(id, name: node.displayName, isOnline: isOnline)))
            }
            if known.configuration != node.configuration {
                entry.board = HomeAssistantBoard(node, isReadOnly: isReadOnly)
                entry.configuration = node.configuration
            }
        } else {
            entry = Entry(
                node: node, account: holder, board: HomeAssistantBoard(node, isReadOnly: isReadOnly),
                configuration: node.configuration)
            actions.append(.report(.added(node, entities: entry.board.entities.count)))
        }
        (entry.node, entry.account) = (node, holder)
        actions += publish(&entry)
        boards[id] = entry
        return actions
    }

    private func publish(_ entry: inout Entry) -> [HomeAssistantAction] {
        guard isConnected else { return [] }
        let id = entry.node.id
        var actions: [HomeAssistantAction] = []
        func publish(_ topic: String, _ payload: @autoclosure () -> [UInt8]) {
            let payload = payload()
            let hash = payload.hashValue
            guard entry.published[topic] != hash else { return }
            entry.published[topic] = hash
            actions.append(.publish(topic: topic, payload: payload, isRetained: true))
        }
        let device = HomeAssistantBoard.device(entry.node, area: areas[entry.account][id])
        let description = DescriptionKey(device: device, configuration: entry.configuration).hashValue
        // The first message of the board stands for all of its discovery, which is large.
        if entry.published["description"] != description {
            entry.published["description"] = description
            let names = entry.board.entities.map { "\($0.component.rawValue)/\($0.key)" }
            // The index comes first, so that a bridge that dies in between knows everything to remove.
            publish(
                topics.index(of: id),
                JSONValue.array(names.map { .string($0) }).serialized())
            var discovered: [String] = []
            for entity in entry.board.entities {
                let topic = topics.discovery(of: id, entity)
                discovered.append(topic)
                publish(topic, entity.discovery(of: id, device: device, topics).serialized())
            }
            for topic in entry.discovered where !discovered.contains(topic) {
                entry.published[topic] = nil
                actions.append(.publish(topic: topic, payload: [], isRetained: true))
            }
            entry.discovered = discovered
        }
        for entity in entry.board.entities {
            guard let state = entity.state(of: entry.node, refusal: entry.refusals[entity.key]) else { continue }
            publish(topics.state(of: id, entity.key), state.serialized())
        }
        let isOnline = entry.node.connectivity?.isConnected == true && isReachable[entry.account]
        publish(topics.availability(of: id), Array((isOnline ? "online" : "offline").utf8))
        return actions
    }

    private struct DescriptionKey: Hashable {
        var device: JSONValue
        var configuration: JSONValue?
    }

    /// Home Assistant removes the entities at once. Their other topics follow later, because it takes a moment to forget them, and an empty
    /// state would be an error until then.
    private mutating func removal(of id: NodeID, _ entry: Entry) -> [HomeAssistantAction] {
        let others = entry.published.keys.filter { !entry.discovered.contains($0) && $0 != "description" }.sorted()
        let index = topics.index(of: id)
        trash.later += others.filter { $0 != index } + [index]
        return entry.discovered.map { .publish(topic: $0, payload: [], isRetained: true) }
    }

    /// Removes what is left of boards that are gone for a while. Called every few seconds.
    mutating func tidy() -> [HomeAssistantAction] {
        guard isConnected, !(trash.now.isEmpty && trash.later.isEmpty) else { return [] }
        let due = trash.now
        trash = (trash.later, [])
        // A board may be back.
        let current = Set(boards.values.flatMap(\.published.keys))
        return due.filter { !current.contains($0) }.map { .publish(topic: $0, payload: [], isRetained: true) }
    }

    // MARK: The broker

    /// The broker has accepted the connection. Everything is published again, because the broker may have lost it.
    mutating func connected() -> [HomeAssistantAction] {
        (isConnected, hasSettled, left) = (true, false, [:])
        var actions: [HomeAssistantAction] = [
            .publish(topic: topics.bridgeAvailability, payload: Array("online".utf8), isRetained: true)
        ]
        for id in boards.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            guard var entry = boards[id] else { continue }
            entry.published = [:]
            actions += publish(&entry)
            boards[id] = entry
        }
        actions += begin()
        return actions + [.publish(topic: topics.marker, payload: Array(identity.utf8), isRetained: false)]
    }

    mutating func disconnected() { isConnected = false }

    mutating func take(topic: String, _ payload: [UInt8], isRetained: Bool) -> [HomeAssistantAction] {
        guard let levels = topics.levels(of: topic) else { return [] }
        if levels.first == "bridge" { return takeOwn(topic, payload) }
        switch (levels.count, levels.last) {
        case (2, "entities"):
            // Only what is kept: this bridge's own messages come back as well. 200 names of at most 208 bytes have 42 KB.
            guard isRetained, !hasSettled, !payload.isEmpty, payload.count <= 64 << 10, left.count < Self.maximumLeft
            else { return [] }
            let names = (try? JSONValue(parsing: payload))?.array?.compactMap(\.string) ?? []
            left[String(levels[0])] = Array(names.prefix(2 * HomeAssistantBoard.maximumEntities))
            return []
        case (3, "set"): return take("set", for: levels, payload, isRetained: isRetained, topic)
        case (4, let name?) where levels[2] == "set":
            return take(String(name), for: levels, payload, isRetained: isRetained, topic)
        default: return []
        }
    }

    private mutating func takeOwn(_ topic: String, _ payload: [UInt8]) -> [HomeAssistantAction] {
        let sender = String(decoding: payload.prefix(64), as: UTF8.self)
        switch topic {
        case topics.marker where sender == identity:
            hasSettled = true
            return clean()
        // Another bridge starts, and asks.
        case topics.hello where sender != identity && !payload.isEmpty:
            return [.publish(topic: topics.here, payload: Array(identity.utf8), isRetained: false)]
        default: return []
        }
    }

    /// Removes the boards and entities that an earlier bridge has left, once all is known.
    private mutating func clean() -> [HomeAssistantAction] {
        guard isReady, hasSettled else { return [] }
        let current = Dictionary(
            boards.values.map { (HomeAssistantTopics.level($0.node.id.rawValue), $0) },
            uniquingKeysWith: { first, _ in first })
        var actions: [HomeAssistantAction] = []
        for (board, names) in left.sorted(by: { $0.key < $1.key }) {
            let entry = current[board]
            for name in names {
                guard let topic = topics.discovery(board: board, name), entry?.discovered.contains(topic) != true else {
                    continue
                }
                actions.append(.publish(topic: topic, payload: [], isRetained: true))
                if let key = name.split(separator: "/").last,
                    entry?.board.entities.contains(where: { $0.key == key }) != true
                {
                    trash.later.append("\(topics.base)/\(board)/\(key)/state")
                }
            }
            guard entry == nil else { continue }
            trash.later += ["availability", "entities"].map { "\(topics.base)/\(board)/\($0)" }
        }
        left = [:]
        return actions
    }

    // MARK: Commands

    private mutating func take(
        _ name: String, for levels: [Substring], _ payload: [UInt8], isRetained: Bool, _ topic: String
    ) -> [HomeAssistantAction] {
        guard !isReadOnly else { return [] }
        // An empty retained message only removes one.
        guard !(isRetained && payload.isEmpty) else { return [] }
        guard !isRetained else { return [.report(.ignored(topic: topic, .retained))] }
        guard isReady else {
            // A longer command is refused later, and its length is all that matters.
            if early.count < Self.maximumEarly {
                early.append((topic, Array(payload.prefix(HomeAssistantEntity.maximumPayload + 1))))
            }
            return []
        }
        guard let id = boards.first(where: { HomeAssistantTopics.level($0.key.rawValue) == levels[0] })?.key,
            var entry = boards[id], let entity = entry.board.entities.first(where: { $0.key == levels[1] })
        else { return [.report(.ignored(topic: topic, .unknownEntity))] }
        var actions: [HomeAssistantAction] = []
        do throws(ParameterError) {
            guard entry.waiting.count < Self.maximumWaiting else {
                throw ParameterError(.notAllowed, message: "Too many commands are waiting for this board.")
            }
            nextNumber += 1
            let command = HomeAssistantCommand(
                number: nextNumber, node: id, entity: entity.key, name: name,
                changes: try entity.changes(for: name, payload, at: entry.node))
            if command.changes.isEmpty {
                // Nothing to set, such as a lamp without a power switch that is on already.
            } else if entry.running == nil {
                entry.running = command
                actions.append(.run(command))
            } else if entity.isIdempotent,
                let last = entry.waiting.last, last.entity == command.entity, last.name == command.name,
                last.changes.map(\.path) == command.changes.map(\.path)
            {
                // Somebody moves a slider: only its last place counts.
                entry.waiting[entry.waiting.count - 1] = command
            } else {
                entry.waiting.append(command)
            }
        } catch {
            entry.refusals[entity.key] = error.message
            actions.append(.report(.refused(id, name: entry.node.displayName, entity: entity.key, error.message)))
        }
        actions += publish(&entry)
        boards[id] = entry
        return actions
    }

    /// A command has ended.
    ///
    /// - Parameter refusal: why the board has not done it; nil if the board has reported it.
    mutating func finished(_ command: HomeAssistantCommand, refusal: String?) -> [HomeAssistantAction] {
        guard var entry = boards[command.node], entry.running?.number == command.number else { return [] }
        entry.running = nil
        entry.refusals[command.entity] = refusal
        var actions: [HomeAssistantAction] = []
        let name = entry.node.displayName
        if let refusal {
            actions.append(.report(.refused(command.node, name: name, entity: command.entity, refusal)))
        } else {
            actions.append(.report(.done(command.node, name: name, changes: command.changes)))
        }
        if !entry.waiting.isEmpty {
            let next = entry.waiting.removeFirst()
            entry.running = next
            actions.append(.run(next))
        }
        actions += publish(&entry)
        boards[command.node] = entry
        return actions
    }

    /// The node of a command, as it is now.
    func node(_ id: NodeID) -> (node: Node, account: Int)? { boards[id].map { ($0.node, $0.account) } }
}

extension Node {
    /// Whether a text is the node's id or name, in any case of its letters.
    fileprivate func isNamed(_ text: String) -> Bool {
        let text = text.lowercased()
        return id.rawValue.lowercased() == text || displayName?.lowercased() == text
    }

    fileprivate mutating func setValue(_ value: JSONValue, at path: ParameterPath) {
        var components = parameters?.members ?? []
        let member = JSONValue.Member(path.parameter, value)
        if let index = components.firstIndex(where: { $0.name == path.component }) {
            var values = components[index].value.members ?? []
            if let place = values.firstIndex(where: { $0.name == path.parameter }) {
                values[place] = member
            } else {
                values.append(member)
            }
            components[index].value = .object(values)
        } else {
            components.append(.init(path.component, .object([member])))
        }
        parameters = .object(components)
    }
}
