// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainCrypto

/// A GET that AWS IoT accepts by its query: Signature Version 4, with the session token behind the signature, as AWS IoT wants it for
/// WebSockets ("MQTT over the WebSocket protocol", AWS IoT Core's developer guide).
struct SignedRequest {
    /// Path and query. The query is as good as a password for some minutes.
    let target: String

    /// How long the signature opens a connection; the connection goes on.
    static let seconds = 300

    init(
        host: String, path: String, region: String, role: AssumedRole, at time: UnixTime, hashes: any Hashes.Type,
        goodFor seconds: Int = Self.seconds
    ) {
        let (day, moment) = Self.texts(of: time)
        let scope = "\(day)/\(region)/iotdevicegateway/aws4_request"
        let query =
            "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=" + percentEncoded("\(role.accessKey)/\(scope)")
            + "&X-Amz-Date=\(moment)&X-Amz-Expires=\(seconds)&X-Amz-SignedHeaders=host"
        let canonical = "GET\n\(path)\n\(query)\nhost:\(host)\n\nhost\n" + Self.hex(hashes.sha256([]))
        let text = "AWS4-HMAC-SHA256\n\(moment)\n\(scope)\n" + Self.hex(hashes.sha256(Array(canonical.utf8)))
        var key = Array("AWS4".utf8) + role.secretKey.revealBytes()
        for part in [day, region, "iotdevicegateway", "aws4_request"] {
            key = hashes.hmacSHA256(Array(part.utf8), key: key)
        }
        let signature = Self.hex(hashes.hmacSHA256(Array(text.utf8), key: key))
        target =
            "\(path)?\(query)&X-Amz-Signature=\(signature)&X-Amz-Security-Token="
            + percentEncoded(role.sessionToken.revealString())
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// `20130524` and `20130524T000000Z`.
    private static func texts(of time: UnixTime) -> (day: String, moment: String) {
        let seconds = Int(time.seconds.rounded(.down))
        let (days, rest) = (seconds / 86_400, seconds % 86_400)
        // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days; for days after 1970.
        let shifted = days + 719_468
        let (era, dayOfEra) = (shifted / 146_097, shifted % 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let date = padded(year, 4) + padded(month, 2) + padded(day, 2)
        return (date, date + "T" + padded(rest / 3600, 2) + padded(rest / 60 % 60, 2) + padded(rest % 60, 2) + "Z")
    }

    private static func padded(_ number: Int, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}
