// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// The services of a node that keep a list of entries in a parameter. Each change is an entry with an `operation`, and the node then
/// reports the new list.
public enum ListService: Sendable, CaseIterable {
    /// `esp.service.schedule` (esp-rainmaker's `esp_rmaker_schedule.c`).
    case schedules
    /// `esp.service.scenes` (`esp_rmaker_scenes.c`).
    case scenes

    /// The service's type in a node's configuration.
    public var type: String { self == .schedules ? "esp.service.schedule" : "esp.service.scenes" }
    /// The type of the parameter with the list.
    fileprivate var parameterType: String { self == .schedules ? "esp.param.schedules" : "esp.param.scenes" }

    /// The maximum number of bytes that firmware stores of an entry's id.
    public static var maximumID: Int { 8 }
    /// The maximum number of bytes of an entry's name.
    public static var maximumName: Int { 32 }
    /// The maximum number of bytes of an entry's remark (`info`).
    public var maximumInfo: Int { self == .schedules ? 128 : 100 }
}

/// An operation on an entry.
public enum ServiceOperation: String, Sendable {
    /// Adds a new entry.
    case add
    /// Changes the given members of an entry.
    case edit
    /// Removes an entry.
    case remove
    /// Enables a schedule.
    case enable
    /// Disables a schedule.
    case disable
    /// Sets a scene's values now.
    case activate
}

extension NodeConfiguration {
    /// Returns the parameter with the list of that service, or nil if the firmware does not have the service.
    public func list(of service: ListService) -> (path: ParameterPath, maximum: Int?)? {
        for component in components where component.type == service.type {
            let found = component.parameters.first { $0.type == service.parameterType } ?? component.parameters.first
            guard let parameter = found else { continue }
            return (
                ParameterPath(component: component.name, parameter: parameter.name),
                parameter.maximum.flatMap { Int(exactly: $0) }
            )
        }
        return nil
    }
}

/// A schedule or a scene, as a node has reported it.
public struct ServiceEntry: Sendable, Equatable {
    /// The entry's id at its node.
    public var id: String
    /// The user's name for the entry.
    public var name: String
    /// Whether a schedule is enabled; nil if the node does not say, as for scenes.
    public var isEnabled: Bool?
    /// The time of a schedule; nil for scenes.
    public var trigger: ScheduleTrigger?
    /// The values to set, `{"Light":{"Power":false}}`.
    public var action: JSONValue
    /// The whole entry as the node has reported it.
    public var document: JSONValue

    /// Returns nil without an id.
    init?(_ json: JSONValue) {
        guard let id = json["id"]?.string, !id.isEmpty else { return nil }
        self.id = id
        name = json["name"]?.string ?? ""
        isEnabled = json["enabled"]?.bool
        trigger = json["triggers"]?.array?.first.map { ScheduleTrigger($0) }
        action = json["action"] ?? .object([])
        document = json
    }
}

extension Node {
    /// Returns the schedules or scenes that the node has reported, or nil if its firmware does not have the service.
    public func entries(of service: ListService) -> [ServiceEntry]? {
        guard let path = NodeConfiguration(configuration)?.list(of: service)?.path else { return nil }
        return (parameters?[path.component]?[path.parameter]?.array ?? []).compactMap { ServiceEntry($0) }
    }
}

/// The new values of a schedule or a scene. Nil means no change.
public struct ServiceEntryChange: Sendable, Equatable {
    /// The name, at most 32 bytes.
    public var name: String?
    /// The time of a schedule.
    public var trigger: ScheduleTrigger?
    /// The trigger that ``trigger`` replaces, as the node has reported it. Its unknown members are kept.
    public var replacedTrigger: JSONValue?
    /// The values to set.
    public var action: JSONValue?
    /// A remark for applications.
    public var info: String?
    /// A number for applications, which schedules have.
    public var flags: UInt32?

    public init(
        name: String? = nil, trigger: ScheduleTrigger? = nil, action: JSONValue? = nil, info: String? = nil,
        flags: UInt32? = nil
    ) {
        self.name = name
        self.trigger = trigger
        self.action = action
        self.info = info
        self.flags = flags
    }

    /// Returns the change of the list's parameter that causes this operation.
    public func change(
        _ operation: ServiceOperation, _ id: String, at path: ParameterPath
    ) -> ParameterChange {
        var members: [JSONValue.Member] = [.init("id", .string(id)), .init("operation", .string(operation.rawValue))]
        if let name { members.append(.init("name", .string(name))) }
        if let trigger { members.append(.init("triggers", [trigger.json(replacing: replacedTrigger)])) }
        if let action { members.append(.init("action", action)) }
        if let info { members.append(.init("info", .string(info))) }
        if let flags { members.append(.init("flags", .integer(Int64(flags)))) }
        return ParameterChange(path, [.object(members)])
    }

    /// Throws for texts that firmware would cut off, and for values that the node does not accept. Sends nothing.
    public func check(by configuration: NodeConfiguration, _ service: ListService) throws(ParameterError) {
        if let name, !(1...ListService.maximumName).contains(name.utf8.count) {
            throw ParameterError(
                .notAllowed,
                message: "A name has 1 to \(ListService.maximumName) bytes; this one has \(name.utf8.count).")
        }
        if let info, info.utf8.count > service.maximumInfo {
            throw ParameterError(
                .notAllowed,
                message: "The remark has \(info.utf8.count) bytes; the board stores at most \(service.maximumInfo).")
        }
        if let action {
            guard let changes = [ParameterChange](action), !changes.isEmpty else {
                throw ParameterError(
                    .wrongType, message: "Give the values to set as an object, such as {\"Light\":{\"Power\":true}}.")
            }
            try configuration.check(changes)
        }
    }
}

/// The time of a schedule, by the node's clock and time zone (`parse_trigger` of esp-rainmaker's `esp_rmaker_schedule.c`).
public enum ScheduleTrigger: Sendable, Equatable {
    /// Acts at `minutes` after midnight, on days of the week: Monday is bit 0. Without a day it acts once, at the next such time.
    case weekly(minutes: Int, days: Int)
    /// Acts at `minutes` after midnight, on a day of the month, in one year or in every year. `months`: January is bit 0. Without a month
    /// it acts once, on the next such day.
    case date(minutes: Int, day: Int, months: Int, year: Int?, isEveryYear: Bool)
    /// Acts once, this many seconds after the node has received it.
    case after(seconds: Int)
    /// A trigger of another kind, as the node has it.
    case other(JSONValue)

    /// Every day of the week.
    public static let everyDay = 0b111_1111

    /// Reads an entry of `triggers`.
    public init(_ json: JSONValue) {
        func number(_ name: String) -> Int? { json[name]?.integer.flatMap { Int(exactly: $0) } }
        if let seconds = number("rsec") {
            self = .after(seconds: seconds)
        } else if let day = number("dd") {
            self = .date(
                minutes: number("m") ?? 0, day: day, months: number("mm") ?? 0,
                year: number("yy").flatMap { $0 == 0 ? nil : $0 }, isEveryYear: json["r"]?.bool ?? false)
        } else if let days = number("d") {
            self = .weekly(minutes: number("m") ?? 0, days: days)
        } else {
            self = .other(json)
        }
    }

    /// The trigger in the form that nodes accept.
    public var json: JSONValue {
        func integer(_ value: Int) -> JSONValue { .integer(Int64(value)) }
        switch self {
        case .weekly(let minutes, let days): return ["m": integer(minutes), "d": integer(days)]
        case .date(let minutes, let day, let months, let year, let isEveryYear):
            var members: [JSONValue.Member] = [
                .init("m", integer(minutes)), .init("dd", integer(day)), .init("mm", integer(months)),
            ]
            if let year { members.append(.init("yy", integer(year))) }
            if isEveryYear { members.append(.init("r", true)) }
            return .object(members)
        case .after(let seconds): return ["rsec": integer(seconds)]
        case .other(let json): return json
        }
    }

    /// The members that ``init(_:)`` reads, and `ts`. Nodes report `ts` for a delay: the time of its next action, which must not be copied.
    private static let knownMembers: Set<String> = ["m", "d", "dd", "mm", "yy", "r", "rsec", "ts"]

    /// Returns ``json`` with the unknown members of `old`, if `old` is of the same kind.
    fileprivate func json(replacing old: JSONValue?) -> JSONValue {
        guard let old, ScheduleTrigger(old).isOfKind(of: self), let members = json.members else { return json }
        let kept = (old.members ?? []).filter { !Self.knownMembers.contains($0.name) }
        return .object(members + kept)
    }

    /// Returns a trigger as a node has reported it, without the time of its next action (`ts`).
    package static func withoutNextTime(_ json: JSONValue) -> JSONValue {
        .object((json.members ?? []).filter { $0.name != "ts" })
    }

    /// Whether two nodes' reports of a trigger mean the same. The time of the next action does not count.
    package static func isSame(_ one: JSONValue, _ other: JSONValue) -> Bool {
        let (one, other) = (withoutNextTime(one), withoutNextTime(other))
        let (trigger, otherTrigger) = (ScheduleTrigger(one), ScheduleTrigger(other))
        guard trigger.isOfKind(of: otherTrigger) else { return one.isReport(of: other) }
        func unknown(_ json: JSONValue) -> JSONValue {
            .object((json.members ?? []).filter { !knownMembers.contains($0.name) })
        }
        return trigger == otherTrigger && unknown(one).isReport(of: unknown(other))
    }

    private func isOfKind(of other: ScheduleTrigger) -> Bool {
        switch (self, other) {
        case (.weekly, .weekly), (.date, .date), (.after, .after): true
        default: false
        }
    }
}
