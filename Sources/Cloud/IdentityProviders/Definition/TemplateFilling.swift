// SPDX-License-Identifier: Apache-2.0
import RainAccount

/// A template with its braces filled in; nil if a value is missing. In a URL values are escaped, but for `base`.
func filled(_ template: String, _ values: [String: String], isURL: Bool = false) -> String? {
    var result = ""
    var rest = Substring(template)
    while let open = rest.firstIndex(of: "{") {
        guard let close = rest[open...].firstIndex(of: "}") else { break }
        let name = String(rest[rest.index(after: open)..<close])
        guard let value = values[name] else { return nil }
        result += rest[..<open] + (isURL && name != "base" && name != "issuer" ? percentEncoded(value) : value)
        rest = rest[rest.index(after: close)...]
    }
    return result + rest
}
