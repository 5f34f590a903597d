// SPDX-License-Identifier: Apache-2.0
import RainJSON

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
