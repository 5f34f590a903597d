// SPDX-License-Identifier: Apache-2.0
import Glibc

/// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7), of milliseconds since 1970.
func httpDate(_ milliseconds: Int64) -> String {
    var seconds = time_t(milliseconds / 1000)
    var date = tm()
    gmtime_r(&seconds, &date)
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let day = "\(days[Int(date.tm_wday)]), \(two(date.tm_mday)) \(months[Int(date.tm_mon)]) \(date.tm_year + 1900)"
    return "\(day) \(two(date.tm_hour)):\(two(date.tm_min)):\(two(date.tm_sec)) GMT"
}
