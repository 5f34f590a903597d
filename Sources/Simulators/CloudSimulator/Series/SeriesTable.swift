// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainCore
import RainJSON
import Synchronization

/// The kind of a time series. Its value is the topic's last level, and the name of the call.
enum StoredSeriesKind: String, Sendable {
    case full = "tsdata"
    case simple = "simple_tsdata"
}

/// The time series that nodes have published: at most `maximum` records, each no older than `retention` seconds. A restart loses them.
struct SeriesTable: Sendable {
    struct Key: Hashable, Sendable {
        var node: String
        /// `Device.Param`.
        var parameter: String
        var kind: StoredSeriesKind
        /// `bool`, `int`, `float`, `string`, `object` or `array`. Values of another type are another series, as in a table with a column for
        /// each type.
        var type: String
    }

    struct Record: Sendable {
        /// Seconds since 1970.
        var time: Int64
        var value: JSONValue
        /// From this second on it does not exist any more; nil for the cloud's own retention.
        var end: Int64?
    }

    let maximum: Int
    let retention: Int64
    private(set) var count = 0
    private var series: [Key: [Record]] = [:]
    /// The series of which some records end before the others.
    private var withEnds: Set<Key> = []

    init(maximum: Int, retention: Int64) { (self.maximum, self.retention) = (maximum, retention) }

    /// Adds a record. It replaces the one of the same second. If the table is full, the oldest records of its largest series are dropped.
    mutating func add(_ record: Record, to key: Key) {
        var records = series.removeValue(forKey: key) ?? []
        if record.end != nil { withEnds.insert(key) }
        if records.last.map({ $0.time < record.time }) ?? true {
            records.append(record)
        } else {
            let index = Self.index(of: record.time, in: records[...])
            if records[index].time == record.time {
                records[index] = record
                series[key] = records
                return
            }
            records.insert(record, at: index)
        }
        count += 1
        series[key] = records
        if count > maximum { drop() }
    }

    private mutating func drop() {
        guard let key = series.max(by: { $0.value.count < $1.value.count })?.key,
            var records = series.removeValue(forKey: key)
        else { return }
        // Many at once, so that each further record is cheap.
        let excess = min(records.count, max(1, maximum / 64))
        records.removeFirst(excess)
        count -= excess
        series[key] = records
    }

    /// Returns the records of a series that still exist, from the oldest on.
    func records(_ key: Key, at now: Int64) -> ArraySlice<Record> {
        guard let records = series[key] else { return [] }
        let kept = records[Self.index(of: now - retention, in: records[...])...]
        return withEnds.contains(key) ? kept.filter { now < $0.end ?? .max }[...] : kept
    }

    /// Returns the index of the first record that is not before that time.
    static func index(of time: Int64, in records: ArraySlice<Record>) -> Int {
        var (low, high) = (records.startIndex, records.endIndex)
        while low < high {
            let middle = (low + high) / 2
            if records[middle].time < time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// A message of a node with records, and a line of a file of records.
struct SeriesMessage {
    var key: SeriesTable.Key
    var records: [SeriesTable.Record]

    static let types: Set<String> = ["bool", "int", "float", "string", "object", "array"]
    /// Firmware cuts a name at 65 bytes.
    private static let maximumName = 65
    /// The latest time that is accepted, so that sums of times do not overflow: the end of the year 9999.
    private static let latest: Int64 = 253_402_300_799

    /// Reads the messages of a payload. The result is nil if a part of it is invalid.
    ///
    /// - Parameters:
    ///   - payload: `{"ts_data_version","ts_data":[{"name","dt","records":[{"t","v"}]}]}` of a full series, `{"name","dt","t","v","d"?}` of a
    ///     simple one.
    static func messages(of node: String, _ kind: StoredSeriesKind, _ payload: JSONValue) -> [SeriesMessage]? {
        let parts = kind == .full ? payload["ts_data"]?.array : [payload]
        guard let parts, parts.count <= 64 else { return nil }
        var messages: [SeriesMessage] = []
        for part in parts {
            guard let message = SeriesMessage(part, of: node, kind) else { return nil }
            messages.append(message)
        }
        return messages
    }

    /// Reads one parameter's records: `{"name","dt","records":[{"t","v","d"?}]}`, or with a single record's members instead of the list.
    init?(_ json: JSONValue, of node: String, _ kind: StoredSeriesKind) {
        guard let name = json["name"]?.string, (3...Self.maximumName).contains(name.utf8.count), name.contains("."),
            let type = json["dt"]?.string, Self.types.contains(type),
            kind == .simple || type != "object" && type != "array"
        else { return nil }
        key = SeriesTable.Key(node: node, parameter: name, kind: kind, type: type)
        records = []
        for entry in json["records"]?.array ?? [json] {
            guard let time = entry["t"]?.integer, (1...Self.latest).contains(time), let value = entry["v"],
                Self.matches(value, type)
            else { return nil }
            let days = entry["d"]?.integer
            if let days { guard kind == .simple, (1...65_535).contains(days) else { return nil } }
            records.append(.init(time: time, value: value, end: days.map { time + $0 * 86_400 }))
        }
    }

    private static func matches(_ value: JSONValue, _ type: String) -> Bool {
        switch type {
        case "bool": value.bool != nil
        case "int": value.integer != nil
        case "float": value.double != nil
        case "string": value.string != nil
        case "object": value.members != nil
        default: value.array != nil
        }
    }
}

extension CloudAPI {
    /// Handles a message with records of a series.
    func receiveSeries(of node: String, _ kind: StoredSeriesKind, _ payload: JSONValue) {
        guard let messages = SeriesMessage.messages(of: node, kind, payload) else {
            return journal.node(node, "ignored")
        }
        series.withLock { table in
            for message in messages {
                for record in message.records { table.add(record, to: message.key) }
            }
        }
        journal.node(node, kind.rawValue)
    }

    /// Adds the records of an NDJSON file, of which it holds one line at a time.
    func loadSeries(_ path: String) throws(SimulatorError) {
        guard let file = fopen(path, "re") else {
            throw SimulatorError(.storage, "the series \(path) cannot be read: \(systemErrorText(errno))")
        }
        var buffer: UnsafeMutablePointer<CChar>?
        var size = 0
        defer {
            fclose(file)
            free(buffer)
        }
        var number = 0
        while case let count = getline(&buffer, &size, file), count >= 0, let start = buffer {
            number += 1
            let line = UnsafeRawBufferPointer(start: start, count: count)
            if line.allSatisfy({ $0 <= 0x20 }) { continue }
            guard addSeries(line: line) else {
                throw SimulatorError(.usage, "line \(number) of the series \(path) is not a record")
            }
        }
    }

    /// Adds the records of one line of `--series`: `{"node_id","kind"?,"name","dt","records":[{"t","v"}]}`, where `kind` is `tsdata` (the
    /// default) or `simple_tsdata`. Returns false for anything else.
    public func addSeries(line: some Sequence<UInt8>) -> Bool {
        let limits = JSONLimits(maximumBytes: 64 << 20, maximumDepth: 16, maximumValues: 8_000_000)
        guard let json = try? JSONValue(parsing: Array(line), limits: limits), let node = json["node_id"]?.string,
            let kind = StoredSeriesKind(rawValue: json["kind"]?.string ?? StoredSeriesKind.full.rawValue),
            let message = SeriesMessage(json, of: node, kind)
        else { return false }
        series.withLock { table in
            for record in message.records { table.add(record, to: message.key) }
        }
        return true
    }
}
