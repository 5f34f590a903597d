// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A time zone of this machine, as `/usr/share/zoneinfo` describes it (TZif, RFC 8536).
///
/// The C library knows one zone for all threads of a process. A board may be in another one, so its file is read here.
package struct TimeZoneFile: Sendable {
    /// The folder with the time zones of this machine.
    private static let folder = "/usr/share/zoneinfo"

    /// Nil for a zone that this machine does not know.
    package init?(named name: String) {
        let isName =
            (1...64).contains(name.utf8.count) && name.first != "/" && !name.contains("..")
            && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        guard isName, let bytes = Self.bytes(of: "\(Self.folder)/\(name)") else { return nil }
        self.init(bytes)
    }

    private static func bytes(of path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        // The largest zone has about 4 KB.
        return [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
            while count < buffer.count {
                let read = read(file, buffer.baseAddress! + count, buffer.count - count)
                guard read > 0 else { break }
                count += read
            }
        }
    }

    /// Moments from which an offset counts, in seconds since 1970, in order.
    private var transitions: [(time: Int64, offset: Int)] = []
    /// The offset before the first transition.
    private var first = 0
    /// Counts after the last transition.
    private var rule: TimeZoneRule?

    /// Nil for bytes that are not such a file, or one of before 2005 (version 1).
    package init?(_ bytes: [UInt8]) {
        var reader = Reader(bytes: bytes)
        // The first block has times of 32 bits. The second, with its own header, has all of them.
        guard let short = reader.header(), short.version >= 0x32 else { return nil }
        reader.position += short.length(ofTime: 4)
        guard let counts = reader.header(), counts.types > 0, reader.has(counts.length(ofTime: 8)) else { return nil }
        let times = (0..<counts.times).map { _ in reader.integer(8) }
        let indices = (0..<counts.times).map { _ in Int(reader.integer(1)) }
        let offsets = (0..<counts.types).map { _ in
            // The offset, whether it is daylight saving time, and where its abbreviation is.
            defer { reader.position += 2 }
            return Int(Int32(truncatingIfNeeded: reader.integer(4)))
        }
        guard indices.allSatisfy(offsets.indices.contains) else { return nil }
        first = offsets[0]
        transitions = zip(times, indices).map { ($0, offsets[$1]) }
        reader.position += counts.length(ofTime: 8) - counts.times * 9 - counts.types * 6
        let footer = bytes[reader.position...].split(separator: 0x0A, omittingEmptySubsequences: false)
        if footer.count >= 3 { rule = TimeZoneRule(String(decoding: footer[footer.startIndex + 1], as: UTF8.self)) }
    }

    /// Returns how many seconds the zone's clocks are ahead of UTC.
    /// - Parameter time: in seconds since 1970.
    package func offset(at time: Int64) -> Int {
        guard let last = transitions.last else { return rule?.offset(at: time) ?? first }
        if time >= last.time { return rule?.offset(at: time) ?? last.offset }
        return transitions.last { $0.time <= time }?.offset ?? first
    }

    private struct Header {
        var version: UInt8
        var isUT, isStandard, leaps, times, types, characters: Int

        func length(ofTime size: Int) -> Int {
            times * (size + 1) + types * 6 + characters + leaps * (size + 4) + isStandard + isUT
        }
    }

    private struct Reader {
        let bytes: [UInt8]
        var position = 0

        func has(_ count: Int) -> Bool { count <= bytes.count - position }

        /// Big-endian; the caller has checked that there is so much.
        mutating func integer(_ count: Int) -> Int64 {
            defer { position += count }
            return Int64(
                bitPattern: bytes[position..<position + count].reduce(0) { $0 << 8 | UInt64($1) })
        }

        mutating func header() -> Header? {
            guard has(44), bytes[position..<position + 4].elementsEqual("TZif".utf8) else { return nil }
            let version = bytes[position + 4]
            position += 20
            let counts = (0..<6).map { _ in Int(integer(4)) }
            // Far more than any zone has, and too few for a sum to overflow.
            guard counts.allSatisfy({ $0 <= 1 << 20 }) else { return nil }
            return Header(
                version: version, isUT: counts[0], isStandard: counts[1], leaps: counts[2], times: counts[3],
                types: counts[4], characters: counts[5])
        }
    }
}

/// A zone's rule for all years, such as `CET-1CEST,M3.5.0,M10.5.0/3` (the variable `TZ` of POSIX, with the additions of RFC 8536).
package struct TimeZoneRule: Sendable {
    private var standard: Int
    private var daylight: (offset: Int, start: Change, end: Change)?

    /// A day of each year, and the local seconds after its midnight.
    private struct Change: Sendable {
        enum Day: Sendable {
            /// The week is 5 for the last one, the day 0 for a Sunday.
            case weekday(month: Int, week: Int, day: Int)
            /// Counted from 1, without 29 February.
            case julian(Int)
            /// Counted from 0.
            case ordinal(Int)
        }
        var day: Day
        var seconds: Int
    }

    /// Nil for a text that has no such rule.
    package init?(_ text: String) {
        var rest = Array(text.utf8)[...]
        // POSIX counts offsets to the west.
        guard Self.skipName(&rest), let offset = Self.time(&rest) else { return nil }
        standard = -offset
        if rest.isEmpty { return }
        guard Self.skipName(&rest) else { return nil }
        var ahead = standard + 3600
        if let next = rest.first, next != UInt8(ascii: ",") {
            guard let offset = Self.time(&rest) else { return nil }
            ahead = -offset
        }
        guard let start = Self.change(&rest), let end = Self.change(&rest), rest.isEmpty else { return nil }
        daylight = (ahead, start, end)
    }

    /// Returns how many seconds the zone's clocks are ahead of UTC.
    package func offset(at time: Int64) -> Int {
        guard let daylight else { return standard }
        let year = CivilTime(secondsSince1970: Int(time) + standard).year
        let start = Self.moment(daylight.start, in: year) - Int64(standard)
        let end = Self.moment(daylight.end, in: year) - Int64(daylight.offset)
        let isAhead = start < end ? (start..<end).contains(time) : !(end..<start).contains(time)
        return isAhead ? daylight.offset : standard
    }

    /// Local seconds since 1970.
    private static func moment(_ change: Change, in year: Int) -> Int64 {
        let newYear = CivilTime.days(toYear: year, month: 1, day: 1)
        let day: Int
        switch change.day {
        case .ordinal(let number): day = newYear + number
        case .julian(let number):
            let isLeap = CivilTime.days(toYear: year, month: 3, day: 1) - newYear == 60
            day = newYear + number - (isLeap && number >= 60 ? 0 : 1)
        case .weekday(let month, let week, let wanted):
            let first = CivilTime.days(toYear: year, month: month, day: 1)
            let next = CivilTime.days(toYear: month == 12 ? year + 1 : year, month: month % 12 + 1, day: 1)
            // 1 January 1970 was a Thursday.
            let weekday = ((first + 4) % 7 + 7) % 7
            var found = first + (wanted - weekday + 7) % 7 + (week - 1) * 7
            if found >= next { found -= 7 }
            day = found
        }
        return Int64(day) * 86_400 + Int64(change.seconds)
    }

    private static func skipName(_ rest: inout ArraySlice<UInt8>) -> Bool {
        if rest.first == UInt8(ascii: "<") {
            guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return false }
            rest = rest[(end + 1)...]
            return true
        }
        let name = rest.prefix { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) }
        rest = rest.dropFirst(name.count)
        return name.count >= 3
    }

    private static func number(_ rest: inout ArraySlice<UInt8>) -> Int? {
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        guard (1...3).contains(digits.count) else { return nil }
        rest = rest.dropFirst(digits.count)
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// `-1`, `+5:30`, `2:00:00`, in seconds.
    private static func time(_ rest: inout ArraySlice<UInt8>) -> Int? {
        let sign = rest.first == UInt8(ascii: "-") ? -1 : 1
        if let first = rest.first, "+-".utf8.contains(first) { rest = rest.dropFirst() }
        guard var seconds = number(&rest).map({ $0 * 3600 }) else { return nil }
        for unit in [60, 1] where rest.first == UInt8(ascii: ":") {
            rest = rest.dropFirst()
            guard let part = number(&rest) else { return nil }
            seconds += part * unit
        }
        return sign * seconds
    }

    /// `,M3.5.0/3`, `,J60`, `,300/2:30`.
    private static func change(_ rest: inout ArraySlice<UInt8>) -> Change? {
        guard rest.first == UInt8(ascii: ",") else { return nil }
        rest = rest.dropFirst()
        let day: Change.Day
        switch rest.first {
        case UInt8(ascii: "M"):
            var parts: [Int] = []
            for _ in 0..<3 {
                rest = rest.dropFirst()
                guard let part = number(&rest) else { return nil }
                parts.append(part)
                guard parts.count == 3 || rest.first == UInt8(ascii: ".") else { return nil }
            }
            guard (1...12).contains(parts[0]), (1...5).contains(parts[1]), (0...6).contains(parts[2]) else {
                return nil
            }
            day = .weekday(month: parts[0], week: parts[1], day: parts[2])
        case UInt8(ascii: "J"):
            rest = rest.dropFirst()
            guard let number = number(&rest), (1...365).contains(number) else { return nil }
            day = .julian(number)
        default:
            guard let number = number(&rest), (0...365).contains(number) else { return nil }
            day = .ordinal(number)
        }
        guard rest.first == UInt8(ascii: "/") else { return Change(day: day, seconds: 7200) }
        rest = rest.dropFirst()
        return time(&rest).map { Change(day: day, seconds: $0) }
    }
}
