// SPDX-License-Identifier: Apache-2.0
import RainAccount

/// Fills in the braces of a template. Returns nil if a value is missing.
///
/// In a URL, a value at the beginning is an address and stays as it is; all others are percent-encoded. Slashes at the end of a value are
/// left out where the template continues with a slash, as OpenID Connect Discovery 1.0, section 4.1, asks for issuers.
func filled(_ template: String, _ values: [String: String], isURL: Bool = false) -> String? {
    var result = ""
    var rest = Substring(template)
    while let open = rest.firstIndex(of: "{") {
        guard let close = rest[open...].firstIndex(of: "}") else { break }
        guard var value = values[String(rest[rest.index(after: open)..<close])] else { return nil }
        result += rest[..<open]
        rest = rest[rest.index(after: close)...]
        if isURL {
            if rest.first == "/", !result.contains("?") { value = withoutFinalSlashes(value) }
            if !result.isEmpty { value = percentEncoded(value) }
        }
        result += value
    }
    return result + rest
}

func withoutFinalSlashes(_ text: String) -> String {
    var rest = text[...]
    while rest.last == "/" { rest.removeLast() }
    return String(rest)
}
