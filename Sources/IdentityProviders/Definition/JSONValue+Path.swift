// SPDX-License-Identifier: Apache-2.0
import RainJSON

extension JSONValue {
    /// What stands at a path such as `code.value`, as text; numbers and truth values too.
    package func text(at path: String) -> String? { value(at: path)?.plainText }

    /// The value at a path such as `code.value`.
    package func value(at path: String) -> JSONValue? {
        var value = self
        for name in path.split(separator: ".") {
            guard let next = value[String(name)] else { return Optional.none }
            value = next
        }
        return value
    }

    /// A string, a number or a truth value as text.
    package var plainText: String? {
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
