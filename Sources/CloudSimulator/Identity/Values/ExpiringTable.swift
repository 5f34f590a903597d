/// What opens something for a time: tokens, codes, sessions. Never more than `maximum`; when it is full the oldest go.
///
/// What has expired is remembered until its place is needed, since some systems tell it from what never was.
struct ExpiringTable<Value: Sendable>: Sendable {
    enum Found {
        case good(Value)
        case expired(Value)
        case unknown
    }

    private struct Entry {
        var value: Value
        /// Milliseconds since 1970; good before.
        var end: Int64
        var number: UInt64
    }

    let maximum: Int
    private var entries: [String: Entry] = [:]
    private var issued: UInt64 = 0

    init(maximum: Int) { self.maximum = maximum }

    var count: Int { entries.count }

    mutating func insert(_ value: Value, key: String, until end: Int64, at now: Int64) {
        if entries.count >= maximum, entries[key] == nil {
            entries = entries.filter { $0.value.end > now }
            if entries.count >= maximum, let oldest = entries.min(by: { $0.value.number < $1.value.number }) {
                entries[oldest.key] = nil
            }
        }
        issued += 1
        entries[key] = Entry(value: value, end: end, number: issued)
    }

    func find(_ key: String, at now: Int64) -> Found {
        guard let entry = entries[key] else { return .unknown }
        return now < entry.end ? .good(entry.value) : .expired(entry.value)
    }

    /// The value if it is still good.
    func value(_ key: String, at now: Int64) -> Value? {
        if case .good(let value) = find(key, at: now) { value } else { nil }
    }

    /// When it ends, in milliseconds since 1970.
    func end(of key: String) -> Int64? { entries[key]?.end }

    /// The value if it is still good, which it is not afterwards.
    mutating func take(_ key: String, at now: Int64) -> Value? {
        guard let value = value(key, at: now) else { return nil }
        entries[key] = nil
        return value
    }

    mutating func update(_ key: String, _ change: (inout Value) -> Void) {
        guard entries[key] != nil else { return }
        change(&entries[key]!.value)
    }

    /// Moves its end.
    mutating func extend(_ key: String, until end: Int64) { entries[key]?.end = end }

    mutating func remove(_ key: String) { entries[key] = nil }

    mutating func removeAll(where isDoomed: (Value) -> Bool) {
        entries = entries.filter { !isDoomed($0.value.value) }
    }

    mutating func expireAll(at now: Int64, where isDoomed: (Value) -> Bool) {
        for (key, entry) in entries where entry.end > now && isDoomed(entry.value) { entries[key]!.end = now }
    }
}
