// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Puts values into an sd-bus message.
struct MessageWriter {
    let library: SystemdLibrary
    let message: SystemdLibrary.Object

    func append(_ values: [DBusValue]) throws(DBusError) {
        for value in values { try append(value, depth: 0) }
    }

    private func append(_ value: DBusValue, depth: Int) throws(DBusError) {
        guard depth <= DBusLimits.depth else {
            throw DBusError(.malformed, message: "a value is nested too deeply to be sent")
        }
        switch value {
        case .byte(let number): try basic("y", number)
        // sd-bus takes an int for a boolean.
        case .bool(let flag): try basic("b", Int32(flag ? 1 : 0))
        case .int16(let number): try basic("n", number)
        case .uint16(let number): try basic("q", number)
        case .int32(let number): try basic("i", number)
        case .uint32(let number): try basic("u", number)
        case .int64(let number): try basic("x", number)
        case .uint64(let number): try basic("t", number)
        case .double(let number): try basic("d", number)
        case .string(let text): try self.text("s", text)
        case .objectPath(let text): try self.text("o", text)
        case .signature(let text): try self.text("g", text)
        case .bytes(let bytes):
            try check(
                bytes.withUnsafeBytes { library.appendArray(message, letter("y"), $0.baseAddress, $0.count) }, value)
        case .array(let elements, let element):
            try container("a", element, value) { () throws(DBusError) in
                for each in elements { try append(each, depth: depth + 1) }
            }
        case .dictionary(let entries, let key, let content):
            let entry = key + content
            try container("a", "{" + entry + "}", value) { () throws(DBusError) in
                for each in entries {
                    try container("e", entry, value) { () throws(DBusError) in
                        try append(each.key, depth: depth + 1)
                        try append(each.value, depth: depth + 1)
                    }
                }
            }
        case .structure(let members):
            try container("r", members.map(\.signature).joined(), value) { () throws(DBusError) in
                for each in members { try append(each, depth: depth + 1) }
            }
        case .variant(let inner):
            try container("v", inner.signature, value) { () throws(DBusError) in
                try append(inner, depth: depth + 1)
            }
        }
    }

    private func basic<Number: BitwiseCopyable>(_ type: Unicode.Scalar, _ number: Number) throws(DBusError) {
        var number = number
        try check(withUnsafeBytes(of: &number) { library.appendBasic(message, letter(type), $0.baseAddress) }, nil)
    }

    private func text(_ type: Unicode.Scalar, _ text: String) throws(DBusError) {
        try check(text.withCString { library.appendBasic(message, letter(type), $0) }, .string(text))
    }

    private func container(
        _ type: Unicode.Scalar, _ contents: String, _ value: DBusValue, _ body: () throws(DBusError) -> Void
    ) throws(DBusError) {
        try check(contents.withCString { library.openContainer(message, letter(type), $0) }, value)
        try body()
        try check(library.closeContainer(message), value)
    }

    private func letter(_ type: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: type.value) }

    private func check(_ result: Int32, _ value: DBusValue?) throws(DBusError) {
        guard result < 0 else { return }
        throw DBusError(
            .malformed, message: "a value of type \(value?.signature ?? "?") cannot be sent: \(reason(-result))")
    }
}

/// What the system says about an error number.
func reason(_ number: Int32) -> String { String(cString: strerror(number)) }
