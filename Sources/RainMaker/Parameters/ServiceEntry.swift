// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// The services of a node that keep a list of entries in a parameter: each change is an entry with an `operation`, and the node reports the list
/// as it is then.
public enum ListService: Sendable, CaseIterable {
    /// `esp.service.schedule` (esp-rainmaker's `esp_rmaker_schedule.c`).
    case schedules
    /// `esp.service.scenes` (`esp_rmaker_scenes.c`).
    case scenes

    /// The service's type in a node's configuration.
    public var type: String { self == .schedules ? "esp.service.schedule" : "esp.service.scenes" }
    /// The type of the parameter with the list.
    var parameterType: String { self == .schedules ? "esp.param.schedules" : "esp.param.scenes" }

    /// The most bytes that firmware keeps of an entry's id.
    public static var maximumID: Int { 8 }
    /// Of its name.
    public static var maximumName: Int { 32 }
    /// Of its remark (`info`).
    public var maximumInfo: Int { self == .schedules ? 128 : 100 }
}

/// What is done to an entry.
public enum ServiceOperation: String, Sendable {
    /// Makes a new one.
    case add
    /// Changes what is given of it.
    case edit
    /// Takes it away.
    case remove
    /// Has a schedule act again.
    case enable
    /// Keeps a schedule from acting.
    case disable
    /// Sets a scene's values now.
    case activate
}

extension NodeConfiguration {
    /// The parameter with the list of that service; nil where the firmware does not have the service.
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
    /// What the user calls it.
    public var name: String
    /// Whether a schedule acts; nil where the node does not say, as for scenes.
    public var isEnabled: Bool?
    /// When a schedule acts; nil for scenes.
    public var trigger: ScheduleTrigger?
    /// The values that are set, `{"Light":{"Power":false}}`.
    public var action: JSONValue
    /// All that the node has reported of it.
    public var document: JSONValue

    /// Nil without an id.
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
    /// The schedules or scenes that the node has reported; nil where its firmware does not have the service.
    public func entries(of service: ListService) -> [ServiceEntry]? {
        guard let path = NodeConfiguration(configuration)?.list(of: service)?.path else { return nil }
        return (parameters?[path.component]?[path.parameter]?.array ?? []).compactMap { ServiceEntry($0) }
    }
}

/// What a schedule or a scene is to be. What is nil stays as it is.
public struct ServiceEntryChange: Sendable, Equatable {
    /// At most 32 bytes.
    public var name: String?
    /// When a schedule acts.
    public var trigger: ScheduleTrigger?
    /// What ``trigger`` takes the place of, as the node has reported it. Members of it that are not known here stay.
    public var replacedTrigger: JSONValue?
    /// The values to set.
    public var action: JSONValue?
    /// A remark for applications.
    public var info: String?

    public init(name: String? = nil, trigger: ScheduleTrigger? = nil, action: JSONValue? = nil, info: String? = nil) {
        self.name = name
        self.trigger = trigger
        self.action = action
        self.info = info
    }

    /// The change of the list's parameter that has the node do this.
    public func change(
        _ operation: ServiceOperation, _ id: String, at path: ParameterPath
    ) -> ParameterChange {
        var members: [JSONValue.Member] = [.init("id", .string(id)), .init("operation", .string(operation.rawValue))]
        if let name { members.append(.init("name", .string(name))) }
        if let trigger { members.append(.init("triggers", [trigger.json(replacing: replacedTrigger)])) }
        if let action { members.append(.init("action", action)) }
        if let info { members.append(.init("info", .string(info))) }
        return ParameterChange(path, [.object(members)])
    }

    /// What firmware would cut off, and values that the node does not take. Throws before anything is sent.
    public func check(by configuration: NodeConfiguration, _ service: ListService) throws(ParameterError) {
        if let name, !(1...ListService.maximumName).contains(name.utf8.count) {
            throw ParameterError(
                .notAllowed,
                message: "A name has 1 to \(ListService.maximumName) bytes, and this has \(name.utf8.count).")
        }
        if let info, info.utf8.count > service.maximumInfo {
            throw ParameterError(
                .notAllowed,
                message: "The remark has \(info.utf8.count) bytes, and the board keeps \(service.maximumInfo).")
        }
        if let action {
            guard let changes = [ParameterChange](action), !changes.isEmpty else {
                throw ParameterError(
                    .wrongType, message: "The values to set are an object such as {\"Light\":{\"Power\":true}}.")
            }
            try configuration.check(changes)
        }
    }
}

/// When a schedule acts, by the node's clock and time zone (`parse_trigger` of esp-rainmaker's `esp_rmaker_schedule.c`).
public enum ScheduleTrigger: Sendable, Equatable {
    /// `minutes` after midnight, on days of the week: Monday is bit 0. No day at all is once, at the next such time.
    case weekly(minutes: Int, days: Int)
    /// `minutes` after midnight, on a day of the month. `months`: January is bit 0; none is once, at the next such day. A year, or every one.
    case date(minutes: Int, day: Int, months: Int, year: Int?, isEveryYear: Bool)
    /// Once, so many seconds after the node has got it.
    case after(seconds: Int)
    /// One of another kind, as the node has it.
    case other(JSONValue)

    /// Every day of the week.
    public static let everyDay = 0b111_1111

    /// An entry of `triggers`.
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

    /// As nodes take it.
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

    /// What ``init(_:)`` reads, and `ts`, the time of the next act that nodes report of a delay: it belongs to that one alone.
    private static let knownMembers: Set<String> = ["m", "d", "dd", "mm", "yy", "r", "rsec", "ts"]

    /// ``json``, with those members of `old` that are not known here; none where `old` is of another kind.
    func json(replacing old: JSONValue?) -> JSONValue {
        guard let old, ScheduleTrigger(old).isOfKind(of: self), let members = json.members else { return json }
        let kept = (old.members ?? []).filter { !Self.knownMembers.contains($0.name) }
        return .object(members + kept)
    }

    private func isOfKind(of other: ScheduleTrigger) -> Bool {
        switch (self, other) {
        case (.weekly, .weekly), (.date, .date), (.after, .after): true
        default: false
        }
    }
}
