// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON

extension JSONValue {
    /// Whether a node that was set to a value may report this for it. Firmware keeps numbers with a fraction as `float`, and the members of an
    /// object in its own order.
    package func isReport(of wanted: JSONValue) -> Bool {
        switch (self, wanted) {
        case (.integer(let number), .integer(let wanted)): return number == wanted
        case (.array(let elements), .array(let wanted)):
            return elements.count == wanted.count && zip(elements, wanted).allSatisfy { $0.isReport(of: $1) }
        case (.object(let members), .object(let wanted)):
            // Of a name that is repeated the last counts, on both sides.
            let values = Dictionary(members.map { ($0.name, $0.value) }) { $1 }
            let wanted = Dictionary(wanted.map { ($0.name, $0.value) }) { $1 }
            return values.count == wanted.count
                && wanted.allSatisfy { name, wanted in values[name].map { $0.isReport(of: wanted) } ?? false }
        default:
            guard let number = double, let wanted = wanted.double else { return self == wanted }
            return Self.isFloat(number, of: wanted)
        }
    }

    /// A `float` is reported with all of its digits (0.69999998807907104 for 0.7), or with five behind the point (json_generator).
    private static func isFloat(_ reported: Double, of wanted: Double) -> Bool {
        if reported == wanted { return true }
        let (kept, wanted) = (Float(reported), Float(wanted))
        // Beyond the range of `float` there is nothing to compare.
        guard kept.isFinite, wanted.isFinite else { return false }
        return kept == wanted || abs(reported - Double(wanted)) <= 0.000_005_000_1
    }
}

extension JSONValue {
    /// The value as a person reads it: a text without its quotes, anything else as JSON.
    package var shown: String { string ?? compact }

    /// The value as JSON on one line, with escapes for characters that a terminal obeys.
    package var compact: String { ShownText.json(String(decoding: serialized(), as: UTF8.self)) }
}
