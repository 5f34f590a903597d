// SPDX-License-Identifier: Apache-2.0
import Glibc

/// `2014-01-05 11:57:26Z`, of seconds since 1970.
func utcDate(_ seconds: Int64, separator: String = " ") -> String {
    var time = time_t(seconds)
    var date = tm()
    gmtime_r(&time, &date)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let day = "\(date.tm_year + 1900)-\(two(date.tm_mon + 1))-\(two(date.tm_mday))"
    return "\(day)\(separator)\(two(date.tm_hour)):\(two(date.tm_min)):\(two(date.tm_sec))Z"
}

/// Seconds since 1970 of `2014-01-05 11:57:26` with an offset from UTC behind it as ISO 8601 has it: `Z`, `+01`, `+0100`, `-05:30`, also
/// behind a space. Without one it is UTC. Nil for all else.
func seconds(ofDate text: String) -> Int64? {
    let bytes = Array(text.utf8)
    guard bytes.count >= 19, let offset = seconds(ofOffset: bytes[19...]) else { return nil }
    func number(_ range: Range<Int>) -> Int32? {
        var value: Int32 = 0
        for byte in bytes[range] {
            guard (0x30...0x39).contains(byte) else { return nil }
            value = value * 10 + Int32(byte - 0x30)
        }
        return value
    }
    let separators: [(Int, String)] = [(4, "-"), (7, "-"), (10, " "), (13, ":"), (16, ":")]
    guard separators.allSatisfy({ bytes[$0] == $1.utf8.first || $0 == 10 && bytes[$0] == UInt8(ascii: "T") }),
        let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
        let minute = number(14..<16), let second = number(17..<19), year >= 1970, (1...12).contains(month),
        (1...31).contains(day), hour < 24, minute < 60, second < 61
    else { return nil }
    var date = tm()
    (date.tm_year, date.tm_mon, date.tm_mday) = (year - 1900, month - 1, day)
    (date.tm_hour, date.tm_min, date.tm_sec) = (hour, minute, second)
    return Int64(timegm(&date)) - offset
}

/// How far ahead of UTC that offset is.
private func seconds(ofOffset text: ArraySlice<UInt8>) -> Int64? {
    let text = text.first == 0x20 ? text.dropFirst() : text
    if text.isEmpty || text.elementsEqual("Z".utf8) { return 0 }
    var digits = Array(text.dropFirst())
    if digits.count == 5, digits[2] == UInt8(ascii: ":") { digits.remove(at: 2) }
    guard text.first == UInt8(ascii: "+") || text.first == UInt8(ascii: "-"), digits.count == 2 || digits.count == 4,
        digits.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    let numbers = digits.map { Int64($0 - 0x30) } + [0, 0]
    let (hours, minutes) = (numbers[0] * 10 + numbers[1], numbers[2] * 10 + numbers[3])
    guard hours < 24, minutes < 60 else { return nil }
    return (hours * 60 + minutes) * (text.first == UInt8(ascii: "-") ? -60 : 60)
}
