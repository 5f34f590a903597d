// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainMaker

/// The records of a series, reduced to the columns of a picture while they are read: it holds the columns, and never the records.
public struct HistoryColumns: Sendable, Equatable {
    /// The records in one column.
    struct Column: Sendable, Equatable {
        var minimum: Double
        var maximum: Double
        var sum: Double
        var count: Int
        /// In seconds since 1970.
        var firstTime: Double
        var lastTime: Double
        var first: Double
        var last: Double

        var mean: Double { sum / Double(count) }
    }

    /// The start of the picture.
    public let start: UnixTime
    /// The end of the picture.
    public let end: UnixTime
    private(set) var columns: [Column?]
    /// The longest time between two records that are drawn as connected, in seconds; nil if it follows from the records.
    let reach: Double?
    /// The number of numbers.
    public private(set) var count = 0
    /// The least number; nil without one.
    public private(set) var minimum: Double?
    /// The greatest number; nil without one.
    public private(set) var maximum: Double?
    private var sum = 0.0
    private var firstTime = 0.0
    private var lastTime = 0.0

    /// The mean of the numbers; nil without one.
    public var mean: Double? { count == 0 ? nil : sum / Double(count) }

    /// - Parameters:
    ///   - columns: the number of columns, 1 to 100,000.
    ///   - interval: the groups whose results are drawn; nil for the records themselves.
    public init(from start: UnixTime, to end: UnixTime, columns: Int, interval: SeriesInterval? = nil) {
        self.start = start
        self.end = end
        self.columns = [Column?](repeating: nil, count: min(max(columns, 1), 100_000))
        reach = interval.map { $0.longest * 1.1 }
    }

    /// Adds a record. Other values than numbers, and records outside of the picture, are left out.
    public mutating func add(_ record: SeriesRecord) {
        let time = record.time.seconds
        guard let value = record.value.double, value.isFinite else { return }
        let length = end.seconds - start.seconds
        // The first group may begin before the range.
        let place = length > 0 ? max(0, (time - start.seconds) / length) : 0
        guard place < 1 || length <= 0 else { return }
        if count == 0 { firstTime = time }
        lastTime = max(lastTime, time)
        count += 1
        sum += value
        minimum = min(minimum ?? value, value)
        maximum = max(maximum ?? value, value)
        let index = min(Int(place * Double(columns.count)), columns.count - 1)
        guard var column = columns[index] else {
            columns[index] = Column(
                minimum: value, maximum: value, sum: value, count: 1, firstTime: time, lastTime: time, first: value,
                last: value)
            return
        }
        column.minimum = min(column.minimum, value)
        column.maximum = max(column.maximum, value)
        column.sum += value
        column.count += 1
        if time < column.firstTime { (column.firstTime, column.first) = (time, value) }
        if time >= column.lastTime { (column.lastTime, column.last) = (time, value) }
        columns[index] = column
    }

    /// The columns with records, in groups without a gap. A gap is much longer than the usual time between records.
    var runs: [[(index: Int, column: Column)]] {
        let usual = count > 1 ? (lastTime - firstTime) / Double(count - 1) : 0
        // A column is as wide as several records, or the other way around.
        let width = (end.seconds - start.seconds) / Double(columns.count)
        let reach = max(self.reach ?? usual * 5, width * 1.5)
        var runs: [[(index: Int, column: Column)]] = []
        var last: Column?
        for (index, column) in columns.enumerated() {
            guard let column else { continue }
            if let last, column.firstTime - last.lastTime <= reach {
                runs[runs.count - 1].append((index, column))
            } else {
                runs.append([(index, column)])
            }
            last = column
        }
        return runs
    }
}

extension SeriesInterval {
    /// The longest time from the start of a group to the next one, in seconds.
    fileprivate var longest: Double {
        switch self {
        case .minute: 60
        case .hour: 3600
        case .day: 90_000
        case .week: 7 * 86_400 + 3600
        case .month: 31 * 86_400 + 3600
        case .year: 366 * 86_400
        }
    }
}
