// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// The users' automations: events of nodes, and the values that are then set on nodes.
struct AutomationTable: Codable, Sendable, Equatable {
    struct Automation: Codable, Sendable, Equatable {
        var id: String
        var owner: String
        /// The user's document: name, event_type, events, actions and other members.
        var document: JSONValue
        /// Whether its events held at the last check. It acts when they begin to hold.
        var holds = false
    }

    /// A limit of the simulator.
    private static let maximum = 1000

    private(set) var all: [Automation] = []

    fileprivate func list(of user: String) -> [Automation] { all.filter { $0.owner == user } }
    fileprivate func find(_ id: String, of user: String) -> Automation? {
        all.first { $0.id == id && $0.owner == user }
    }

    fileprivate mutating func put(_ automation: Automation) -> Bool {
        if let index = all.firstIndex(where: { $0.id == automation.id }) {
            all[index] = automation
            return true
        }
        guard all.count < Self.maximum else { return false }
        all.append(automation)
        return true
    }

    fileprivate mutating func remove(_ id: String) { all.removeAll { $0.id == id } }
    mutating func removeAll(of user: String) { all.removeAll { $0.owner == user } }

    /// Takes a node's present values.
    ///
    /// - Returns: the values to set, and where: the actions of automations whose events hold now and did not before, or that act each time.
    fileprivate mutating func observe(_ node: String, _ params: JSONValue?) -> [(
        owner: String, node: String, values: JSONValue
    )] {
        var actions: [(owner: String, node: String, values: JSONValue)] = []
        for index in all.indices where all[index].document["node_id"]?.string == node {
            actions += act(index, holds: all[index].holds(params))
        }
        return actions
    }

    /// Takes the weather at a place, or an event of daylight there. An event is over at once, so it counts each time.
    ///
    /// - Parameter values: such as `{"temperature":31}` or `{"sunset":true}`.
    fileprivate mutating func observe(
        _ kind: String, at place: (latitude: Double, longitude: Double), _ values: JSONValue
    ) -> [(owner: String, node: String, values: JSONValue)] {
        var actions: [(owner: String, node: String, values: JSONValue)] = []
        for index in all.indices where all[index].document["event_type"]?.string == kind {
            guard let own = all[index].place, own == place else { continue }
            actions += act(index, holds: all[index].occurs(values))
            if kind == "daylight" { all[index].holds = false }
        }
        return actions
    }

    /// Returns an automation's actions, if its events hold now and did not before, or if it acts each time.
    private mutating func act(_ index: Int, holds: Bool) -> [(owner: String, node: String, values: JSONValue)] {
        let automation = all[index]
        all[index].holds = holds
        guard holds, !automation.holds || automation.document["retrigger"]?.bool == true,
            automation.document["enabled"]?.bool != false
        else { return [] }
        return (automation.document["actions"]?.array ?? []).compactMap { action in
            guard let target = action["node_id"]?.string, let values = action["params"] else { return nil }
            return (automation.owner, target, values)
        }
    }
}

extension AutomationTable.Automation {
    /// Checks events such as `{"params":{"Light":{"Power":true}},"check":"=="}`: all of them or, with `event_operator` `or`, one.
    fileprivate func holds(_ params: JSONValue?) -> Bool {
        let events = document["events"]?.array ?? []
        guard !events.isEmpty else { return false }
        return document["event_operator"]?.string == "or"
            ? events.contains { Self.holds($0, params) } : events.allSatisfy { Self.holds($0, params) }
    }

    /// Checks events such as `{"params":{"temperature":30},"check":">"}`.
    fileprivate func occurs(_ values: JSONValue) -> Bool {
        let events = document["events"]?.array ?? []
        func occurs(_ event: JSONValue) -> Bool {
            let check = event["check"]?.string ?? "=="
            return event["params"]?.members?.allSatisfy { wanted in
                values[wanted.name].map { Self.compare($0, check, wanted.value) } ?? false
            } ?? false
        }
        return document["event_operator"]?.string == "or"
            ? events.contains(where: occurs) : events.allSatisfy(occurs)
    }

    /// The place of a rule by weather or daylight: `{"latitude":"18.52","longitude":"73.85"}`, whose values are texts.
    fileprivate var place: (latitude: Double, longitude: Double)? {
        guard let latitude = document["location"]?["latitude"]?.string.flatMap({ Double($0) }),
            let longitude = document["location"]?["longitude"]?.string.flatMap({ Double($0) }),
            (-90...90).contains(latitude), (-180...180).contains(longitude)
        else { return nil }
        return (latitude, longitude)
    }

    /// The names of the values that a rule by weather or daylight may compare (espressif/esp-rainmaker-app-sdk-ts 3.3.0,
    /// `types/automation.ts`).
    private static let names: [String: Set<String>] = [
        "weather": ["temperature", "pressure", "humidity", "wind_speed", "weather_condition"],
        "daylight": ["sunrise", "sunset"],
    ]
    private static let kindsOfWeather: Set<String> = [
        "Thunderstorm", "Drizzle", "Rain", "Snow", "Clear", "Clouds", "Mist", "Smoke", "Haze", "Dust", "Fog", "Sand",
        "Ash", "Squall", "Tornado",
    ]

    /// Whether the events are such as the cloud documents for this kind of rule.
    static func areValid(_ events: [JSONValue], for kind: String) -> Bool {
        guard let known = names[kind] else { return true }
        return events.allSatisfy { event in
            guard let params = event["params"]?.members, params.count == 1, let one = params.first,
                known.contains(one.name)
            else { return false }
            let check = event["check"]?.string ?? "=="
            guard ["==", "!=", "<", "<=", ">", ">="].contains(check) else { return false }
            if kind == "daylight" { return one.value == true && check == "==" }
            if one.name == "weather_condition" {
                return check == "==" && one.value.string.map { kindsOfWeather.contains($0) } ?? false
            }
            return one.value.double != nil || one.value.string.flatMap { Double($0) } != nil
        }
    }

    private static func holds(_ event: JSONValue, _ params: JSONValue?) -> Bool {
        let check = event["check"]?.string ?? "=="
        let wanted = (event["params"]?.members ?? []).flatMap { device in
            (device.value.members ?? []).map { (params?[device.name]?[$0.name], $0.value) }
        }
        return !wanted.isEmpty && wanted.allSatisfy { value, bound in value.map { compare($0, check, bound) } ?? false }
    }

    private static func compare(_ value: JSONValue, _ check: String, _ bound: JSONValue) -> Bool {
        switch check {
        case "==": return value == bound || value.double.map { $0 == bound.double } ?? false
        case "!=": return value != bound
        default: break
        }
        guard let value = value.double, let bound = bound.double ?? bound.string.flatMap({ Double($0) }) else {
            return false
        }
        switch check {
        case "<": return value < bound
        case ">": return value > bound
        case "<=": return value <= bound
        case ">=": return value >= bound
        default: return false
        }
    }
}

/// `user/node_automation`: actions that follow a node's report.
extension CloudAPI {
    /// The maximum number of automations in one page.
    private static let automationPage = 25
    private static let members: Set<String> = [
        "name", "event_type", "events", "actions", "node_id", "location", "event_operator", "retrigger", "enabled",
        "metadata",
    ]

    func createAutomation(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        let id = Self.shortID()
        let body = try call.body().value
        for name in ["name", "event_type", "events", "actions"] where body[name] == nil { throw .invalidBody }
        try keep(AutomationTable.Automation(id: id, owner: user.id, document: .object([])), body, user)
        return success("Automation created successfully", [.init("automation_id", .string(id))])
    }

    func editAutomation(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        try keep(try namedAutomation(call, user), try call.body().value, user)
        return success("Automation updated successfully")
    }

    func removeAutomation(_ call: Call) throws(APIError) -> Response {
        let automation = try namedAutomation(call, try call.caller())
        try change { $0.automations?.remove(automation.id) }
        return success("Automation removed successfully")
    }

    /// `GET user/node_automation[?automation_id=][&node_id=]`.
    func listAutomations(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        var all = readState { $0.automations?.list(of: user.id) ?? [] }
        if call.request.query("automation_id") != nil { all = [try namedAutomation(call, user)] }
        if let node = call.request.query("node_id") { all = all.filter { $0.document["node_id"]?.string == node } }
        let rest = all.drop { automation in call.request.query("start_id").map { automation.id != $0 } ?? false }
        let shown = rest.prefix(Self.automationPage)
        let list = shown.map { automation -> JSONValue in
            .object([.init("automation_id", .string(automation.id))] + (automation.document.members ?? []))
        }
        var members: [JSONValue.Member] = [.init("automation_trigger_actions", .array(list))]
        if let next = rest.dropFirst(shown.count).first { members.append(.init("next_id", .string(next.id))) }
        return Response(.object(members))
    }

    /// Handles values that a node has reported: sends the actions that follow.
    func automate(_ node: String) {
        guard readState({ $0.automations?.all.isEmpty == false }) else { return }
        let actions = try? changeState { state in
            let found = state.automations?.observe(node, state.nodes[node]?.params) ?? []
            return found.filter { state.mappings.isMapped($0.node, to: $0.owner) }
        }
        for action in actions ?? [] {
            guard let target = readState({ $0.nodes[action.node] }) else { continue }
            send(action.values, to: target)
        }
    }

    /// Handles weather or an event of daylight that a test reports: sends the actions that follow, and returns how many.
    func automate(_ kind: String, at place: (latitude: Double, longitude: Double), _ values: JSONValue) throws(APIError)
        -> Int
    {
        let actions = try change { state in
            let found = state.automations?.observe(kind, at: place, values) ?? []
            return found.filter { state.mappings.isMapped($0.node, to: $0.owner) }
        }
        for action in actions {
            guard let target = readState({ $0.nodes[action.node] }) else { continue }
            send(action.values, to: target)
        }
        return actions.count
    }

    private func namedAutomation(_ call: Call, _ user: User) throws(APIError) -> AutomationTable.Automation {
        guard let id = call.request.query("automation_id") else { throw .invalidRequest }
        guard let found = readState({ $0.automations?.find(id, of: user.id) }) else { throw .automationMissing }
        return found
    }

    /// Stores the given members after checking them.
    private func keep(
        _ automation: AutomationTable.Automation, _ changes: JSONValue, _ user: User
    ) throws(APIError) {
        var automation = automation
        let known = (changes.members ?? []).filter { Self.members.contains($0.name) }
        guard !known.isEmpty else { throw .invalidBody }
        var members = automation.document.members ?? []
        for change in known {
            members.removeAll { $0.name == change.name }
            members.append(change)
        }
        let document = JSONValue.object(members)
        guard let name = document["name"]?.string, (1...256).contains(name.utf8.count),
            let type = document["event_type"]?.string, ["node_params", "weather", "daylight"].contains(type),
            let events = document["events"]?.array, (1...32).contains(events.count),
            events.allSatisfy({ $0.members != nil }), let actions = document["actions"]?.array,
            (1...32).contains(actions.count), document.serialized().count <= NodeNotes.maximumMetadata
        else { throw .invalidBody }
        guard AutomationTable.Automation.areValid(events, for: type) else { throw .invalidBody }
        if type != "node_params" {
            var placed = automation
            placed.document = document
            guard placed.place != nil else { throw .invalidBody }
        }
        if type == "node_params" {
            guard let node = document["node_id"]?.string else { throw .nodeIDMissing }
            _ = try ownNode(node, of: user)
        }
        for action in actions {
            guard let node = action["node_id"]?.string, action["params"]?.members != nil else { throw .invalidBody }
            _ = try ownNode(node, of: user)
        }
        automation.document = document
        let isKept = try change { [automation] state in
            var table = state.automations ?? AutomationTable()
            defer { state.automations = table }
            return table.put(automation)
        }
        guard isKept else { throw .invalidRequest }
    }
}
