// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainIO
import RainJSON
import Synchronization

/// Calls a RainMaker Neo deployment, except for sign-in, for the user of an `AccountSession`.
///
/// Groups, configurations, schedules and time series come from its main API, and the values of nodes from its MQTT broker. The results have
/// the form of RainMaker's. What Neo does not have is `unsupported`.
public struct NeoCloud: NodeCloud {
    public var kind: String { "RainMaker Neo" }
    public var reportsEverything: Bool { true }

    let api: NeoMainAPI
    let clock: any WallClock
    let memory = NeoMemory()
    private let broker: NeoBroker
    private let session: AccountSession

    /// - Parameters:
    ///   - base: the main API, such as `https://abc123.execute-api.us-east-1.amazonaws.com/prod`.
    ///   - session: a session of the provider `neo` at the deployment's API for accounts.
    public init(
        _ base: ServiceURL, _ services: NeoServices, session: AccountSession, http: any HTTPClient, tools: LiveTools
    ) {
        let signing = NeoClock(tools.clock)
        let api = NeoMainAPI(
            base, region: services.region, session: session, http: http, hashes: tools.hashes, clock: signing)
        let user = { @Sendable () async throws(AccountError) in try await session.userID() }
        let roles = NeoCredentials(clock: signing, user: user) { () async throws(AccountError) in
            try await api.brokerCredentials()
        }
        self.api = api
        self.session = session
        clock = tools.clock
        broker = NeoBroker(services, tools: tools, clock: signing, roles: roles) { () async throws(AccountError) in
            try await session.userName()
        }
    }

    /// Returns whether this is the signed-in user's name.
    func isOwn(_ userName: String) async -> Bool {
        let own: String
        do throws(AccountError) { own = try await session.userName() } catch { return false }
        return own.lowercased() == userName.lowercased()
    }

    var noSuchNode: AccountError {
        AccountError(.unknownNode, message: "the signed-in user has no node with that id in the cloud")
    }

    public func nodeHosts() async throws(AccountError) -> NodeHosts {
        NodeHosts(mqtt: String(broker.authority.prefix { $0 != ":" }), credentials: nil)
    }

    // MARK: Nodes

    /// Returns all places of the user's nodes. A list that is some seconds old is good enough.
    private func places() async throws(AccountError) -> [NeoPlace] {
        if let known = memory.groups(at: clock.now) { return known.flatMap(\.places) }
        return try await freshGroups().flatMap(\.places)
    }

    func place(of node: NodeID) async throws(AccountError) -> NeoPlace {
        if let place = try await places().first(where: { $0.node == node }) { return place }
        // It may be new.
        if let place = try await freshGroups().flatMap(\.places).first(where: { $0.node == node }) { return place }
        throw noSuchNode
    }

    public func nodes() async throws(AccountError) -> [Node] {
        var nodes: [Node] = []
        try await eachNode { nodes.append($0) }
        return nodes
    }

    public func eachNode(
        tagged tags: [String], _ take: (Node) throws(AccountError) -> Void
    ) async throws(AccountError) {
        guard tags.isEmpty else { throw notUsed("tags of nodes") }
        let groups = try await freshGroups()
        let places = groups.flatMap(\.places)
        for start in stride(from: 0, to: places.count, by: NeoBroker.nodesPerExchange) {
            let part = Array(places[start..<min(start + NeoBroker.nodesPerExchange, places.count)])
            for node in try await nodes(at: part, groups) { try take(node) }
        }
    }

    public func node(_ id: NodeID) async throws(AccountError) -> Node {
        let place = try await place(of: id)
        guard let node = try await nodes(at: [place], memory.groups(at: clock.now) ?? []).first else {
            throw noSuchNode
        }
        return node
    }

    /// Returns the nodes at these places, which are few enough for one exchange with the broker.
    private func nodes(at places: [NeoPlace], _ groups: [NeoGroup]) async throws(AccountError) -> [Node] {
        let shadows = try await broker.shadows(of: places)
        var nodes: [Node] = []
        for start in stride(from: 0, to: places.count, by: Self.requestsAtOnce) {
            let part = Array(places[start..<min(start + Self.requestsAtOnce, places.count)])
            let results = await withTaskGroup(of: (Int, Result<Node, AccountError>).self) { group in
                for (index, place) in part.enumerated() {
                    let shadow = shadows[place.node]
                    let role = groups.first { $0.id == place.group }?.access
                    group.addTask {
                        let result: Result<Node, AccountError>
                        do throws(AccountError) {
                            result = .success(try await node(at: place, shadow, role: role))
                        } catch {
                            result = .failure(error)
                        }
                        return (index, result)
                    }
                }
                var results: [Int: Result<Node, AccountError>] = [:]
                for await (index, result) in group { results[index] = result }
                return results
            }
            for index in part.indices {
                guard let result = results[index] else { continue }
                nodes.append(try result.get())
            }
        }
        return nodes
    }

    /// How many nodes are asked for at the same time.
    private static let requestsAtOnce = 8

    private func node(at place: NeoPlace, _ shadow: NeoShadow?, role: String?) async throws(AccountError) -> Node {
        let configuration = try await configuration(at: place, version: shadow?.configurationVersion)
        let schedules = try await schedules(at: place)
        var parameters = shadow?.parameters?.members ?? []
        if configuration != nil || !schedules.isEmpty {
            parameters.removeAll { $0.name == NeoSchedules.path.component }
            parameters.append(NeoSchedules.values(schedules))
        }
        var members: [JSONValue.Member] = [.init("id", .string(place.node.rawValue))]
        if let role { members.append(.init("role", .string(role == "primary" ? "primary" : "secondary"))) }
        if let configuration { members.append(.init("config", configuration)) }
        if !parameters.isEmpty { members.append(.init("params", .object(parameters))) }
        guard var node = Node(.object(members)) else { throw noSuchNode }
        node.connectivity = shadow?.connectivity ?? Node.Connectivity(isConnected: false)
        return node
    }

    /// Returns the configuration in RainMaker's form; nil if the node has not sent one.
    ///
    /// - Parameter version: the version that the node reports. A known configuration of that version is not fetched again.
    private func configuration(
        at place: NeoPlace, version: String?
    ) async throws(AccountError) -> JSONValue? {
        if let version, let known = memory.configuration(of: place.node, version: version) { return known }
        let reply: JSONValue
        do throws(AccountError) {
            reply = try await api.call(.get, "groups/\(place.group)/nodes/\(place.node.rawValue)/config")
        } catch {
            // The answer if no configuration is stored. A fault of the server looks the same.
            guard error.status == 500 || error.status == 404 else { throw error }
            return nil
        }
        let configuration = NeoConfiguration.shared(reply)
        if let version { memory.keep(configuration, of: place.node, version: version) }
        return configuration
    }

    public func nodeConfiguration(_ id: NodeID) async throws(AccountError) -> JSONValue {
        if let configuration = try await configuration(at: try await place(of: id), version: nil) {
            return configuration
        }
        throw AccountError(.rejected, message: "the node has not sent its configuration to the cloud yet")
    }

    public func nodeConnectivity(_ id: NodeID) async throws(AccountError) -> Node.Connectivity {
        let place = try await place(of: id)
        return try await broker.shadows(of: [place])[id]?.connectivity ?? Node.Connectivity(isConnected: false)
    }

    // MARK: Values

    public func parameters(of node: NodeID) async throws(AccountError) -> JSONValue {
        let place = try await place(of: node)
        let values = try await broker.shadows(of: [place])[node]?.parameters?.members ?? []
        let schedules = try await schedules(at: place)
        guard !values.isEmpty || !schedules.isEmpty else {
            throw AccountError(.rejected, message: "the node has not reported any values yet")
        }
        return .object(values.filter { $0.name != NeoSchedules.path.component } + [NeoSchedules.values(schedules)])
    }

    public func set(_ changes: [ParameterChange], at node: NodeID) async throws(AccountError) {
        let place = try await place(of: node)
        for change in changes where change.path == NeoSchedules.path {
            let present = try await schedules(at: place)
            try await put(try NeoSchedules.applying(change.value, to: present), at: place)
        }
        let values = changes.filter { $0.path != NeoSchedules.path }
        if !values.isEmpty { try await broker.publish([(place, values.json)]) }
    }

    public func set(
        _ changes: [(node: NodeID, changes: [ParameterChange])]
    ) async throws(AccountError) -> [ParameterOutcome] {
        var outcomes: [ParameterOutcome] = []
        for (node, changes) in changes {
            do throws(AccountError) {
                try await set(changes, at: node)
                outcomes.append(ParameterOutcome(node: node))
            } catch {
                guard !outcomes.isEmpty, error.code != .cancelled else { throw error }
                var outcome = ParameterOutcome(node: node, failure: error.message)
                if error.isTransient { outcome.untold = error }
                outcomes.append(outcome)
            }
        }
        return outcomes
    }

    public func listen(
        to nodes: [NodeID], with tools: LiveTools, _ take: @escaping @Sendable (LiveEvent) async -> Void
    ) async throws(AccountError) {
        let all = try await places()
        let places = all.filter { nodes.contains($0.node) }
        guard places.count == nodes.count else { throw noSuchNode }
        let broker = broker
        let connections = NeoBroker.reportTopics(of: places).map { topics in
            let heard = places.filter { place in topics.contains { $0.contains("/\(place.shadow)/") } }
            return LiveConnection(
                nodes: heard.map(\.node), tools: tools, report: { NeoBroker.report($0, of: heard) }
            ) { _ async throws(AccountError) in
                // Each connection has its own credentials: those that were refused are not tried again.
                try await broker.connection(topics: topics, as: try await broker.newRole())
            }
        }
        try await LiveConnection.run(connections, take)
    }

    // MARK: Schedules

    private func schedules(at place: NeoPlace) async throws(AccountError) -> [JSONValue] {
        let reply: JSONValue
        do throws(AccountError) {
            reply = try await api.call(.get, "groups/\(place.group)/nodes/\(place.node.rawValue)/schedules")
        } catch {
            guard error.status == 404 else { throw error }
            return []
        }
        guard let given = reply["schedules"]?.unlessNull else { return [] }
        // Taken for an empty list, it would replace all schedules.
        guard let schedules = given.array else { throw api.incomplete("schedules") }
        return schedules
    }

    /// Replaces all schedules of a node. The cloud does not check them, and has no way to change one alone.
    private func put(_ schedules: [JSONValue], at place: NeoPlace) async throws(AccountError) {
        try await api.call(
            .put, "groups/\(place.group)/nodes/\(place.node.rawValue)/schedules",
            body: ["schedules": .array(schedules)])
    }

    // MARK: Time series

    /// Returns all records of the range at once. The cloud sends the newest first, in small pages.
    public func seriesPage(_ request: SeriesRequest, page token: String?) async throws(AccountError) -> SeriesPage {
        guard request.aggregate == .raw, request.interval == nil else {
            throw notUsed("aggregates of time series")
        }
        let place = try await place(of: request.node)
        let path = "groups/\(place.group)/nodes/\(place.node.rawValue)/timeseries/raw"
        func milliseconds(_ time: UnixTime) -> String { "\(Int64(min(max(time.seconds, 0), 253_402_300_799) * 1000))" }
        let query = [
            (name: "key", value: "\(request.parameter)"), (name: "data_type", value: request.dataType),
            (name: "start_time", value: milliseconds(request.start)),
            // The end is excluded in the request, and included by the cloud.
            (name: "end_time", value: milliseconds(request.end + -0.001)),
            (name: "page_size", value: "\(Self.recordsPerPage)"),
        ]
        var records: [SeriesRecord] = []
        var start: String?
        var known: Set<String> = []
        repeat {
            let reply = try await api.call(
                .get, path, query: query + (start.map { [(name: "start_key", value: $0)] } ?? []))
            guard let list = reply["data"]?.array else { throw api.incomplete("data") }
            for entry in list {
                guard let time = entry["ts"].flatMap(LenientInteger.init)?.value, let value = entry["value"] else {
                    throw api.incomplete("the time or value of a record")
                }
                // Whole seconds, as in RainMaker.
                records.append(SeriesRecord(time: UnixTime(seconds: Double(time / 1000)), value: value))
            }
            let next = reply["next_key"]?.unlessNull
            if let next, next.string == nil { throw api.incomplete("next_key") }
            start = next?.string.flatMap { $0.isEmpty ? nil : $0 }
            if let start,
                !known.insert(start).inserted || known.count > Self.maximumPages || records.count > Self.maximumRecords
            {
                throw AccountError(
                    .malformedAnswer,
                    message:
                        "the cloud's list of records has more than \(Self.maximumRecords) entries, or repeats a page"
                )
            }
        } while start != nil
        // The newest first, also across pages.
        return SeriesPage(records: records.reversed(), next: nil)
    }

    private static let recordsPerPage = 200
    /// A month of records, one every ten seconds.
    private static let maximumRecords = 300_000
    /// Pages may be empty, but not without end.
    private static let maximumPages = 3000
}

/// The lists and configurations that a ``NeoCloud`` has fetched.
final class NeoMemory: Sendable {
    /// How long the list of groups is good for, in seconds. Waiting for a value asks for the same node again and again.
    private static let groupsLifetime = 10.0
    private static let maximumConfigurations = 1000

    private struct State {
        var groups: (list: [NeoGroup], since: UnixTime)?
        var configurations: [NodeID: (version: String, document: JSONValue)] = [:]
    }
    private let state = Mutex(State())

    func groups(at now: UnixTime) -> [NeoGroup]? {
        state.withLock { state in
            guard let groups = state.groups, (groups.since...groups.since + Self.groupsLifetime).contains(now) else {
                return nil
            }
            return groups.list
        }
    }

    func keep(_ groups: [NeoGroup], at now: UnixTime) { state.withLock { $0.groups = (groups, now) } }
    func forgetGroups() { state.withLock { $0.groups = nil } }

    func configuration(of node: NodeID, version: String) -> JSONValue? {
        state.withLock { $0.configurations[node].flatMap { $0.version == version ? $0.document : nil } }
    }

    func keep(_ configuration: JSONValue, of node: NodeID, version: String) {
        state.withLock { state in
            if state.configurations.count >= Self.maximumConfigurations { state.configurations = [:] }
            state.configurations[node] = (version, configuration)
        }
    }
}

/// The configuration of a node in RainMaker's form.
///
/// Neo's firmware calls the names of devices, services and parameters `id`, and the accepted texts `valid_strings`. Its time series have
/// records without aggregates of RainMaker's form, like RainMaker's simple series.
enum NeoConfiguration {
    static func shared(_ json: JSONValue) -> JSONValue {
        // The service of schedules is Neo's own.
        let members = (json.members ?? []).filter { $0.name != "services" }.map { member -> JSONValue.Member in
            guard member.name == "devices" else { return member }
            return .init("devices", .array((member.value.array ?? []).map(component)))
        }
        let services = (json["services"]?.array ?? []).map(component).filter {
            $0["type"]?.string != ListService.schedules.type
        }
        return .object(members + [.init("services", .array(services + [NeoSchedules.service]))])
    }

    private static func component(_ json: JSONValue) -> JSONValue {
        let named = named(json)
        return .object(
            named.map { member in
                guard member.name == "params" else { return member }
                return .init("params", .array((member.value.array ?? []).map(parameter)))
            })
    }

    private static func parameter(_ json: JSONValue) -> JSONValue {
        .object(
            named(json).map { member in
                switch member.name {
                case "valid_strings": return .init("valid_strs", member.value)
                case "properties":
                    let properties = (member.value.array ?? []).map { $0 == "time_series" ? "simple_ts" : $0 }
                    return .init("properties", .array(properties))
                default: return member
                }
            })
    }

    private static func named(_ json: JSONValue) -> [JSONValue.Member] {
        let members = json.members ?? []
        guard json["name"]?.string == nil, let id = json["id"]?.string else { return members }
        return [.init("name", .string(id))] + members.filter { $0.name != "name" }
    }
}

/// A node's schedules, as a service of the node. In RainMaker they are values of a service, and in Neo the cloud keeps them.
enum NeoSchedules {
    static let path = ParameterPath(component: "Schedule", parameter: "Schedules")
    /// The maximum number of bytes of an id.
    private static let maximumID = 16
    /// More than a node can keep.
    private static let maximum = 100

    static let service: JSONValue = [
        "name": .string(path.component), "type": .string(ListService.schedules.type),
        "params": [
            [
                "name": .string(path.parameter), "type": "esp.param.schedules", "data_type": "array",
                "properties": ["read", "write"],
            ]
        ],
    ]

    static func values(_ schedules: [JSONValue]) -> JSONValue.Member {
        .init(path.component, .object([.init(path.parameter, .array(schedules))]))
    }

    /// Applies the operations of RainMaker's form to a list.
    static func applying(_ operations: JSONValue, to present: [JSONValue]) throws(AccountError) -> [JSONValue] {
        guard let operations = operations.array else {
            throw AccountError(.invalidInput, message: "a change of schedules must be a list of operations")
        }
        var schedules = present
        for operation in operations {
            guard let id = operation["id"]?.string, (1...maximumID).contains(id.utf8.count),
                let word = operation["operation"]?.string, let kind = ServiceOperation(rawValue: word)
            else {
                throw AccountError(.invalidInput, message: "a schedule needs an id of 1 to 16 bytes and an operation")
            }
            let index = schedules.firstIndex { $0["id"]?.string == id }
            var members = (index.map { schedules[$0].members ?? [] } ?? [])
            func set(_ name: String, _ value: JSONValue) {
                if let place = members.firstIndex(where: { $0.name == name }) {
                    members[place].value = value
                } else {
                    members.append(.init(name, value))
                }
            }
            for member in operation.members ?? [] where member.name != "operation" { set(member.name, member.value) }
            switch kind {
            case .add: set("enabled", true)
            case .enable: set("enabled", true)
            case .disable: set("enabled", false)
            case .edit: break
            case .remove:
                if let index { schedules.remove(at: index) }
                continue
            case .activate: throw AccountError(.invalidInput, message: "a schedule cannot be activated")
            }
            if let index { schedules[index] = .object(members) } else { schedules.append(.object(members)) }
        }
        guard schedules.count <= maximum else {
            throw AccountError(.limitReached, message: "a node has at most \(maximum) schedules")
        }
        return schedules
    }
}
