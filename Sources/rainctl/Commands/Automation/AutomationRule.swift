// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import RainJSON
import RainKit

/// A rule on the command line: when which board reports what, which values are set where.
struct AutomationRule: ParsableArguments {
    @Option(help: ArgumentHelp("The board that reports, by id or name.", valueName: "node"))
    var of: String?

    @Option(
        help: ArgumentHelp(
            "A condition, such as Light.Power=on or Sensor.Temperature>30. May be repeated.", valueName: "condition"))
    var when: [String] = []

    @Option(help: ArgumentHelp("What is set where, NODE:DEVICE.PARAM=VALUE. May be repeated.", valueName: "change"))
    var set: [String] = []

    @Flag(inversion: .prefixedNo, help: "One of several conditions is enough.")
    var any: Bool?

    @Flag(inversion: .prefixedNo, help: "Act each time that it is reported, not only when it begins to hold.")
    var retrigger: Bool?

    var isGiven: Bool { of != nil || !when.isEmpty || !set.isEmpty || any != nil || retrigger != nil }

    func validate() throws {
        for text in when where Self.condition(text) == nil {
            throw ValidationError(
                "\(text.onOneLine) is not a condition, such as Light.Power=on or Room.Temperature>25.")
        }
        var seen: Set<String> = []
        for text in set {
            guard let (node, change) = Self.target(text), let path = GivenValue.parts(change)?.path else {
                throw ValidationError("\(text.onOneLine) is not what --set takes: NODE:DEVICE.PARAM=VALUE.")
            }
            guard seen.insert("\(node):\(path)").inserted else {
                throw ValidationError("\("\(node):\(path)".onOneLine) is given twice.")
            }
        }
    }

    static func check(name: String) throws {
        guard !name.isBlank else { throw ValidationError("An automation's name is not blank.") }
    }

    func checkWhole() throws {
        guard of != nil, !when.isEmpty, !set.isEmpty else {
            throw ValidationError("A rule has a board (--of), a condition (--when) and something to --set.")
        }
    }

    /// Values are read and checked by what the boards have said of themselves.
    /// - Parameter known: the automation that is changed. Its conditions are checked where another board is to report them.
    func members(_ scene: CloudScene, changing known: Automation? = nil) async throws -> [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        if let of {
            let node = try await scene.choice.node(of)
            let events = try events(at: node)
            if events.isEmpty, known?.document["event_type"] == "node_params" {
                _ = try AutomationCheck.events(known?.document["events"]?.array ?? [], at: node)
            }
            members.append(.init("event_type", "node_params"))
            members.append(.init("node_id", .string(node.id.rawValue)))
            if !events.isEmpty { members.append(.init("events", .array(events))) }
            if events.count > 1, any == nil { members.append(.init("event_operator", "and")) }
        }
        if let any, when.count != 1 { members.append(.init("event_operator", any ? "or" : "and")) }
        let actions = try await actions(scene)
        if !actions.isEmpty { members.append(.init("actions", .array(actions))) }
        if let retrigger { members.append(.init("retrigger", .bool(retrigger))) }
        return members
    }

    private func events(at node: Node) throws(CommandFailure) -> [JSONValue] {
        let configuration = try node.described()
        var events: [JSONValue] = []
        for text in when {
            guard let (path, sign, value) = Self.condition(text) else { continue }
            do throws(ParameterError) {
                let path = try configuration.path(path)
                let read = try configuration.value(path, from: value)
                let compared = try configuration.comparison(path, sign, read.value)
                events.append(["params": [compared].json, "check": .string(sign)])
            } catch {
                throw CommandFailure(error, at: node)
            }
        }
        return events
    }

    /// What is set, board by board. One board may have been named by its id and by its name.
    private func actions(_ scene: CloudScene) async throws -> [JSONValue] {
        var targets: [(node: Node, changes: [String])] = []
        for text in set {
            guard let (name, change) = Self.target(text) else { continue }
            let node = try await scene.choice.node(name)
            if let index = targets.firstIndex(where: { $0.node.id == node.id }) {
                targets[index].changes.append(change)
            } else {
                targets.append((node, [change]))
            }
        }
        var actions: [JSONValue] = []
        for (node, texts) in targets {
            do { try GivenValue.validate(texts) } catch let error as ValidationError {
                throw CommandFailure(.usage, message: "\(node.shownName): \(error.message)")
            }
            let configuration = try node.described()
            do throws(ParameterError) {
                let changes = try GivenValue.changes(texts, by: configuration)
                actions.append(["node_id": .string(node.id.rawValue), "params": changes.json])
            } catch {
                throw CommandFailure(error, at: node)
            }
        }
        return actions
    }

    /// `Light.Power=on`: the first comparison counts.
    static func condition(_ text: String) -> (path: String, check: String, value: String)? {
        guard let start = text.firstIndex(where: { "=!<>".contains($0) }) else { return nil }
        let rest = text[start...]
        let signs = ["==", "!=", "<=", ">=", "<", ">", "="]
        guard let sign = signs.first(where: { rest.hasPrefix($0) }) else { return nil }
        let name = text[..<start].trimmingBlanks
        let value = rest.dropFirst(sign.count).trimmingBlanks
        guard GivenValue.isPath(name), !value.isEmpty else { return nil }
        return (String(name), sign == "=" ? "==" : sign, String(value))
    }

    /// `Kitchen lamp:Light.Power=on`: the last colon before the = divides.
    private static func target(_ text: String) -> (node: String, change: String)? {
        guard let equals = text.firstIndex(of: "="), let colon = text[..<equals].lastIndex(of: ":") else { return nil }
        let change = String(text[text.index(after: colon)...])
        guard colon > text.startIndex, GivenValue.parts(change) != nil else { return nil }
        return (String(text[..<colon]), change)
    }
}

extension StringProtocol {
    fileprivate var trimmingBlanks: SubSequence {
        let start = firstIndex { $0 != " " } ?? endIndex
        guard let end = lastIndex(where: { $0 != " " }) else { return self[endIndex...] }
        return self[start...end]
    }
}

/// The automation that somebody names: by its id, or its name.
struct AutomationChoice {
    let cloud: RainMakerCloud

    /// Throws `other` (`no_such_automation`) where there is none, `usage` (`several_automations`) where the name is that of several.
    func automation(_ name: String) async throws -> Automation {
        let all = try await cloud.automations()
        if let exact = all.first(where: { $0.id == name }) { return exact }
        let found = all.filter { $0.name.lowercased() == name.lowercased() }
        if found.count == 1 { return found[0] }
        guard found.isEmpty else {
            throw CommandFailure(
                .usage, reason: "several_automations",
                message: "Several automations are called \(name.onOneLine): use an id, "
                    + found.prefix(20).map(\.id.onOneLine).joined(separator: " or ") + ".")
        }
        throw CommandFailure(
            .other, reason: "no_such_automation",
            message: "There is no automation \(name.onOneLine): rainctl automation list shows those that are.")
    }
}

/// Checks a rule, wherever it was written, by what its boards have said of themselves: the cloud takes conditions that never hold, and values
/// that no board takes.
struct AutomationCheck {
    let choice: NodeChoice

    /// The members of a rule in a file, as boards take their values. What is not about parameters of boards is left to the cloud.
    /// - Parameters:
    ///   - known: the automation that is changed, which has what the file leaves out.
    ///   - node: the board that reports, where it is named elsewhere.
    func members(
        _ members: [JSONValue.Member], of known: Automation? = nil, reportedBy node: Node? = nil
    ) async throws -> [JSONValue.Member] {
        let document = JSONValue.object(members)
        let kind = document["event_type"] ?? known?.document["event_type"]
        let id = document["node_id"]?.string ?? known?.document["node_id"]?.string
        // The conditions that stay are to be reported by another board.
        if let moved = document["node_id"]?.string, document["events"] == nil, kind == "node_params",
            let events = known?.document["events"]?.array
        {
            _ = try Self.events(events, at: try await choice.node(moved))
        }
        var checked: [JSONValue.Member] = []
        for member in members {
            var value = member.value
            switch (member.name, value.array) {
            case ("events", let events?) where kind == "node_params":
                var reporter = node
                if reporter == nil, let id { reporter = try await choice.node(id) }
                if let reporter { value = .array(try Self.events(events, at: reporter)) }
            case ("actions", let actions?): value = .array(try await self.actions(actions))
            default: break
            }
            checked.append(.init(member.name, value))
        }
        return checked
    }

    /// Throws where a board does not have what is compared, or has it in a form that cannot be compared so.
    static func events(_ events: [JSONValue], at node: Node) throws(CommandFailure) -> [JSONValue] {
        let configuration = try node.described()
        var checked: [JSONValue] = []
        for event in events {
            guard let params = event["params"], let compared = [ParameterChange](params) else {
                checked.append(event)
                continue
            }
            do throws(ParameterError) {
                var changes: [ParameterChange] = []
                for change in compared {
                    changes.append(
                        try configuration.comparison(change.path, event["check"]?.string ?? "==", change.value))
                }
                checked.append(event.replacing("params", with: changes.json))
            } catch {
                throw CommandFailure(error, at: node)
            }
        }
        return checked
    }

    private func actions(_ actions: [JSONValue]) async throws -> [JSONValue] {
        var nodes: [String: Node] = [:]
        var checked: [JSONValue] = []
        for action in actions {
            guard let id = action["node_id"]?.string, let params = action["params"],
                let changes = [ParameterChange](params)
            else {
                checked.append(action)
                continue
            }
            let node: Node
            if let known = nodes[id] { node = known } else { node = try await choice.node(id) }
            nodes[id] = node
            let configuration = try node.described()
            do throws(ParameterError) {
                checked.append(action.replacing("params", with: try configuration.checked(changes).json))
            } catch {
                throw CommandFailure(error, at: node)
            }
        }
        return checked
    }
}

extension JSONValue {
    fileprivate func replacing(_ name: String, with value: JSONValue) -> JSONValue {
        .object((members ?? []).map { $0.name == name ? Member(name, value) : $0 })
    }
}
