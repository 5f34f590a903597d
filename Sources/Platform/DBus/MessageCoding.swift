// SPDX-License-Identifier: Apache-2.0
import RainCore
import Glibc

/// Reads the values of an sd-bus message, within ``DBusLimits``.
struct MessageReader {
    let library: SystemdLibrary
    let message: SystemdLibrary.Object
    private var count = 0

    init(_ library: SystemdLibrary, _ message: SystemdLibrary.Object) {
        self.library = library
        self.message = message
    }

    mutating func values() throws(DBusError) -> [DBusValue] {
        var values: [DBusValue] = []
        while let (type, contents) = try next() { values.append(try value(type, contents, depth: 0)) }
        return values
    }

    /// Returns the type of the next value in this container; nil at its end.
    private func next() throws(DBusError) -> (type: Unicode.Scalar, contents: String)? {
        var type: CChar = 0
        var contents: SystemdLibrary.Text?
        let result = library.peekType(message, &type, &contents)
        try check(result)
        guard result > 0 else { return nil }
        return (Unicode.Scalar(UInt8(bitPattern: type)), contents.map { String(cString: $0) } ?? "")
    }

    private mutating func value(
        _ type: Unicode.Scalar, _ contents: String, depth: Int
    ) throws(DBusError) -> DBusValue {
        count += 1
        guard count <= DBusLimits.values, depth <= DBusLimits.depth else {
            throw DBusError(
                .tooLarge,
                message: "a message exceeds the limit of \(DBusLimits.values) values or of \(DBusLimits.depth) levels")
        }
        switch type {
        case "y": return .byte(try basic(type, UInt8(0)))
        case "b": return .bool(try basic(type, Int32(0)) != 0)
        case "n": return .int16(try basic(type, Int16(0)))
        case "q": return .uint16(try basic(type, UInt16(0)))
        case "i": return .int32(try basic(type, Int32(0)))
        case "u": return .uint32(try basic(type, UInt32(0)))
        case "x": return .int64(try basic(type, Int64(0)))
        case "t": return .uint64(try basic(type, UInt64(0)))
        case "d": return .double(try basic(type, Double(0)))
        case "s": return .string(try text(type))
        case "o": return .objectPath(try text(type))
        case "g": return .signature(try text(type))
        case "a" where contents == "y": return .bytes(try bytes())
        case "a" where contents.utf8.first == UInt8(ascii: "{"): return try dictionary(contents, depth: depth)
        case "a":
            let elements = try inside("a", contents, depth: depth)
            return .array(elements, of: contents)
        case "r": return .structure(try inside("r", contents, depth: depth))
        case "v":
            let inner = try inside("v", contents, depth: depth)
            guard let inner = inner.first else { throw Self.unreadable("an empty variant") }
            return .variant(inner)
        default:
            throw Self.unreadable("a value of the unsupported type \(type)")
        }
    }

    private mutating func dictionary(_ contents: String, depth: Int) throws(DBusError) -> DBusValue {
        // `{` key value `}`; a key is always a basic type of one letter.
        let entry = String(contents.dropFirst().dropLast())
        try check(contents.withCString { library.enterContainer(message, 0x61, $0) })
        var entries: [DBusEntry] = []
        while try next() != nil {
            let pair = try inside("e", entry, depth: depth)
            guard pair.count == 2 else { throw Self.unreadable("an entry that is not a pair") }
            entries.append(DBusEntry(pair[0], pair[1]))
        }
        try check(library.exitContainer(message))
        return .dictionary(entries, key: String(entry.prefix(1)), value: String(entry.dropFirst()))
    }

    private mutating func inside(
        _ type: Unicode.Scalar, _ contents: String, depth: Int
    ) throws(DBusError) -> [DBusValue] {
        try check(
            contents.withCString { library.enterContainer(message, CChar(truncatingIfNeeded: type.value), $0) })
        var values: [DBusValue] = []
        while let (type, contents) = try next() { values.append(try value(type, contents, depth: depth + 1)) }
        try check(library.exitContainer(message))
        return values
    }

    private func basic<Number: BitwiseCopyable>(_ type: Unicode.Scalar, _ zero: Number) throws(DBusError) -> Number {
        var number = zero
        try check(
            withUnsafeMutableBytes(of: &number) {
                library.readBasic(message, CChar(truncatingIfNeeded: type.value), $0.baseAddress!)
            })
        return number
    }

    private func text(_ type: Unicode.Scalar) throws(DBusError) -> String {
        let pointer: SystemdLibrary.Text? = try basic(type, SystemdLibrary.Text?.none)
        return pointer.map { String(cString: $0) } ?? ""
    }

    private func bytes() throws(DBusError) -> [UInt8] {
        var start: UnsafeRawPointer?
        var size = 0
        try check(library.readArray(message, 0x79, &start, &size))
        return Array(UnsafeRawBufferPointer(start: start, count: size))
    }

    private func check(_ result: Int32) throws(DBusError) {
        if result < 0 { throw Self.unreadable(systemErrorText(-result)) }
    }

    private static func unreadable(_ why: String) -> DBusError {
        DBusError(.malformed, message: "a message cannot be read: \(why)")
    }
}

/// Writes values into an sd-bus message.
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
        // sd-bus expects an int for a boolean.
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
            .malformed,
            message: "a value of type \(value?.signature ?? "?") cannot be sent: \(systemErrorText(-result))")
    }
}
