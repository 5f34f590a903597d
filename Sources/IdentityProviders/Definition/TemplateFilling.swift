// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainAccount
import RainJSON

/// Replaces the names in braces in a template. Returns nil if a value is missing.
///
/// In a URL, a value at the beginning is an address and does not change. All others are percent-encoded. Slashes at the end of a value are
/// omitted if the template continues with a slash, as OpenID Connect Discovery 1.0, section 4.1, requires for issuers.
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
            if !result.isEmpty { value = PercentEncoding.encoded(value) }
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

/// Returns a template without the optional parts that name a missing setting: `{base}/auth[/{institution}]`.
///
/// Brackets that name nothing belong to the address (`http://[::1]`).
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

extension JSONValue {
    /// Returns the value at a path such as `code.value` as text, also for numbers and truth values.
    func text(at path: String) -> String? { value(at: path)?.plainText }

    /// Returns the value at a path such as `code.value`.
    func value(at path: String) -> JSONValue? {
        var value = self
        for name in path.split(separator: ".") {
            guard let next = value[String(name)] else { return Optional.none }
            value = next
        }
        return value
    }

    /// A string, a number or a truth value as text.
    var plainText: String? {
        switch self {
        case .string(let text): text
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .longNumber(let number): number.text
        case .bool(let flag): "\(flag)"
        default: nil
        }
    }
}
