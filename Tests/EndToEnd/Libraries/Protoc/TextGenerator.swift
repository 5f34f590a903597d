// SPDX-License-Identifier: Apache-2.0
import RainCrypto

/// Writes arbitrary messages of a schema in protobuf's text format, which `protoc --encode` reads.
struct TextGenerator {
    let schema: Schema
    var random: ReproducibleRandom

    mutating func message(_ name: String) -> String {
        let message = schema.messages[name]!
        var parts: [String] = []
        for field in message.fields where below(4) > 0 {
            for _ in 0..<(field.isRepeated ? below(6) : 1) { parts.append(value(field)) }
        }
        if !message.oneof.isEmpty, below(8) > 0 { parts.append(value(message.oneof[below(message.oneof.count)])) }
        return parts.joined(separator: " ")
    }

    private mutating func value(_ field: Schema.Field) -> String {
        switch field.type {
        case "bool": "\(field.name): \(below(2) == 0)"
        case "int32": "\(field.name): \(pick([0, 1, -1, -42, -128, Int64(Int32.min), Int64(Int32.max)]))"
        case "int64": "\(field.name): \(pick([0, 1, -1, 1_700_000_000, Int64.min, Int64.max]))"
        case "uint32": "\(field.name): \(pick([0, 1, 127, 128, 300, 0xFFFF, Int64(UInt32.max)]))"
        case "bytes": "\(field.name): \"\(random.bytes(length()).map(octal).joined())\""
        case "string": "\(field.name): \"\(String(repeating: "aé😀"[offset: below(3)], count: length()))\""
        default:
            // An enum's value may also be a number that the schema does not know.
            if let names = schema.enums[field.type] {
                "\(field.name): \(below(6) == 0 ? String(pick([9, 17, 1000, -1])) : names[below(names.count)])"
            } else {
                "\(field.name) { \(message(field.type)) }"
            }
        }
    }

    mutating func below(_ limit: Int) -> Int { Int(random.next() % UInt64(limit)) }
    private mutating func pick(_ values: [Int64]) -> Int64 { values[below(values.count)] }
    private mutating func length() -> Int { [0, 1, 6, 16, 32, 127, 128, 384][below(8)] }

    private func octal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 8)
        return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
    }
}

extension String {
    fileprivate subscript(offset offset: Int) -> Character { self[index(startIndex, offsetBy: offset)] }
}
