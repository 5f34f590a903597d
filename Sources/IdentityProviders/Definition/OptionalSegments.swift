// SPDX-License-Identifier: Apache-2.0

/// A template without those of its optional parts that name a setting which is not there: `{base}/auth[/{institution}]`.
///
/// Brackets that name nothing are an address's own (`http://[::1]`).
func withoutMissingParts(_ template: String, _ values: [String: String]) -> String {
    var result = ""
    var rest = Substring(template)
    while let open = rest.firstIndex(of: "["), let close = rest[open...].firstIndex(of: "]") {
        let part = rest[rest.index(after: open)..<close]
        result += rest[..<open]
        if !part.contains("{") {
            result += rest[open...close]
        } else if filled(String(part), values) != nil {
            result += part
        }
        rest = rest[rest.index(after: close)...]
    }
    return result + rest
}
