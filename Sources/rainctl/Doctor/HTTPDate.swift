// SPDX-License-Identifier: Apache-2.0

/// The date of an HTTP answer (RFC 9110, 5.6.7), in the one form that servers send.
enum HTTPDate {
    /// Seconds since 1970, of a date such as `Sun, 06 Nov 1994 08:49:37 GMT`; nil for anything else.
    static func seconds(_ text: String) -> Int64? {
        let parts = text.split(separator: " ")
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard parts.count == 6, parts[5] == "GMT", let day = Int64(parts[1]), (1...31).contains(day),
            let index = months.firstIndex(of: String(parts[2])), let year = Int64(parts[3]),
            (1970...9999).contains(year)
        else { return nil }
        let time = parts[4].split(separator: ":").compactMap { Int64($0) }
        guard time.count == 3, (0...23).contains(time[0]), (0...59).contains(time[1]), (0...60).contains(time[2]) else {
            return nil
        }
        // Days from the civil calendar, with years that begin in March.
        let month = Int64(index) + 1
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let ofEra = shifted - era * 400
        let ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let days = era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
        return days * 86_400 + time[0] * 3600 + time[1] * 60 + time[2]
    }
}
