// SPDX-License-Identifier: Apache-2.0
import RainAccount

/// A date and a time of day in UTC, as providers write them: `2014-01-05 11:57:26Z`.
struct CivilTime: Equatable {
    private var year: Int
    private var month: Int
    private var day: Int
    private var hour: Int
    private var minute: Int
    private var second: Int

    /// Creates the date and time of a moment in UTC, without its fraction of a second.
    init(_ time: UnixTime) {
        let seconds = Int(time.seconds.rounded(.down))
        let days = Int((Double(seconds) / 86_400).rounded(.down))
        let rest = seconds - days * 86_400
        // Years begin in March here, so that the leap day comes last. All eras of 400 years are alike.
        let shifted = days + 719_468
        let era = Int((Double(shifted) / 146_097).rounded(.down))
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        hour = rest / 3600
        minute = rest / 60 % 60
        second = rest % 60
    }

    /// Reads `yyyy-MM-dd HH:mm:ssZ`, also with `T` between the halves (ISO 8601), and with a fraction of a second. The offset must be zero
    /// in any spelling: `Z`, `+0000`, `+00:00`, or none.
    init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count >= 19, bytes[10] == UInt8(ascii: " ") || bytes[10] == UInt8(ascii: "T"),
            bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"), bytes[13] == UInt8(ascii: ":"),
            bytes[16] == UInt8(ascii: ":")
        else { return nil }
        guard let year = Self.number(bytes[0..<4]), let month = Self.number(bytes[5..<7]),
            let day = Self.number(bytes[8..<10]), let hour = Self.number(bytes[11..<13]),
            let minute = Self.number(bytes[14..<16]), let second = Self.number(bytes[17..<19])
        else { return nil }
        guard year >= 1970, (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        var rest = bytes[19...]
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst().drop { (0x30...0x39).contains($0) }
        }
        guard ["", "Z", "+0000", "+00:00"].contains(where: { rest.elementsEqual($0.utf8) }) else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    var time: UnixTime {
        let days = daysSince1970(year: year, month: month, day: day)
        return UnixTime(seconds: Double(((days * 24 + hour) * 60 + minute) * 60 + second))
    }

    /// The text `2030-01-01 00:00:00`. Callers add the offset in their provider's spelling.
    var text: String {
        let parts = [month, day, hour, minute, second].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return "\(year)-\(parts[0])-\(parts[1]) \(parts[2]):\(parts[3]):\(parts[4])"
    }
}

extension UnixTime {
    /// Reads a date and a time of day in UTC: `2030-01-01T12:00:00Z`, or with a space between them. Returns nil for anything else.
    public init?(utc text: String) {
        guard let time = CivilTime(text)?.time else { return nil }
        self = time
    }
}
