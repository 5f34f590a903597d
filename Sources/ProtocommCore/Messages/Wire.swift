// SPDX-License-Identifier: Apache-2.0

/// A protobuf message as a value.
///
/// Decoding tolerates unknown fields and unknown enum values. It merges repeated fields as protobuf prescribes: the last scalar wins,
/// sub-messages merge, and another member of a `oneof` replaces the previous one.
public protocol WireMessage: Sendable, Equatable {
    init()
    /// Reads the reader's current field, or skips it.
    mutating func mergeField(from reader: inout WireReader) throws(WireError)
    /// Writes the fields.
    func encode(into writer: inout WireWriter)
}

extension WireMessage {
    /// Decodes a whole message.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        self.init()
        var reader = WireReader(bytes)
        try reader.mergeAll(into: &self)
    }

    /// Returns the message as bytes.
    public func encoded() -> [UInt8] {
        var writer = WireWriter()
        encode(into: &writer)
        return writer.bytes
    }
}

/// A message without fields; only its presence has a meaning.
public struct EmptyMessage: WireMessage {
    public init() {}
    public mutating func mergeField(from reader: inout WireReader) throws(WireError) { try reader.skip() }
    public func encode(into writer: inout WireWriter) {}
}

/// A protobuf enum as its number. Values that this version does not know are kept.
public protocol WireEnum: RawRepresentable, Hashable, Sendable where RawValue == Int32 {
    /// Accepts any number, known or not.
    init(rawValue: Int32)
}

extension WireReader {
    /// Returns the value of an enum field; unknown numbers are kept.
    public mutating func enumeration<Value: WireEnum>(_: Value.Type) throws(WireError) -> Value {
        Value(rawValue: try int32())
    }
}

extension WireWriter {
    /// Writes an enum's number.
    public mutating func enumeration<Value: WireEnum>(_ value: Value, field: UInt32) {
        int32(value.rawValue, field: field)
    }
}

/// A reason why bytes are not a valid message.
public enum WireError: Error, Equatable, Sendable {
    /// The bytes end in the middle of a field.
    case truncated
    /// A varint has more than ten bytes or does not fit in 64 bits.
    case varintOverflow
    /// A field number of 0, or one beyond 2^29 - 1.
    case invalidFieldNumber
    /// A known field has a wire type that differs from the schema.
    case wrongWireType(field: UInt32)
    /// Groups (wire types 3 and 4) and the undefined types 6 and 7 are not supported.
    case unsupportedWireType
    /// A field has more repeated entries than its limit allows.
    case tooManyEntries(field: UInt32)
}

/// Reads the four protobuf wire types from unchecked bytes.
///
/// Source of the format: the protobuf encoding guide. Every read is bounded by the enclosing message, nothing is copied until a `bytes`
/// field is read, and an unknown field is skipped.
public struct WireReader {
    private let bytes: [UInt8]
    private var position: Int
    private var end: Int
    private var wireType: UInt8 = 0

    /// The number of the field that ``nextField()`` moved to.
    public private(set) var field: UInt32 = 0

    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
        position = 0
        end = bytes.count
    }

    /// Moves to the next field of this message; returns `false` at its end.
    public mutating func nextField() throws(WireError) -> Bool {
        guard position < end else { return false }
        let key = try rawVarint()
        let number = key >> 3
        guard number > 0, number < 1 << 29 else { throw .invalidFieldNumber }
        field = UInt32(number)
        wireType = UInt8(key & 7)
        return true
    }

    /// Returns the value of a `uint64` field.
    public mutating func uint64() throws(WireError) -> UInt64 {
        try expect(WireType.varint)
        return try rawVarint()
    }

    /// Returns a 32-bit value: the low bits if the varint is longer, as in every protobuf implementation.
    public mutating func uint32() throws(WireError) -> UInt32 { UInt32(truncatingIfNeeded: try uint64()) }
    /// Returns the value of an `int32` field; see ``uint32()`` for longer ones.
    public mutating func int32() throws(WireError) -> Int32 { Int32(truncatingIfNeeded: try uint64()) }
    /// Returns the value of an `int64` field.
    public mutating func int64() throws(WireError) -> Int64 { Int64(bitPattern: try uint64()) }
    /// Returns the value of a `bool` field.
    public mutating func bool() throws(WireError) -> Bool { try uint64() != 0 }

    /// Returns the value of a `bytes` or `string` field.
    public mutating func byteString() throws(WireError) -> [UInt8] {
        try expect(WireType.lengthDelimited)
        let range = try lengthDelimitedRange()
        return Array(bytes[range])
    }

    /// Merges the sub-message at this field into `message`.
    public mutating func message<Message: WireMessage>(into message: inout Message) throws(WireError) {
        try expect(WireType.lengthDelimited)
        let range = try lengthDelimitedRange()
        var inner = self
        inner.position = range.lowerBound
        inner.end = range.upperBound
        try inner.mergeAll(into: &message)
    }

    /// Returns the member of a `oneof` at this field. `earlier` is the same member's previous value: protobuf merges the two.
    public mutating func member<Message: WireMessage>(_ earlier: Message) throws(WireError) -> Message {
        var merged = earlier
        try message(into: &merged)
        return merged
    }

    /// Returns the member of a `oneof` at this field, without merging an earlier value.
    public mutating func member<Message: WireMessage>() throws(WireError) -> Message { try member(Message()) }

    /// Reads a member of a `oneof` that has no fields of its own.
    public mutating func emptyMember() throws(WireError) {
        let _: EmptyMessage = try member()
    }

    /// Reads one more entry of a repeated message.
    public mutating func append<Message: WireMessage>(
        to entries: inout [Message], limit: Int
    ) throws(WireError) {
        guard entries.count < limit else { throw .tooManyEntries(field: field) }
        entries.append(try member())
    }

    /// Reads a repeated `uint32`, packed or not.
    public mutating func repeatedUInt32(into values: inout [UInt32], limit: Int) throws(WireError) {
        guard wireType == WireType.lengthDelimited else {
            guard values.count < limit else { throw .tooManyEntries(field: field) }
            values.append(try uint32())
            return
        }
        let range = try lengthDelimitedRange()
        var inner = self
        inner.position = range.lowerBound
        inner.end = range.upperBound
        while inner.position < inner.end {
            guard values.count < limit else { throw .tooManyEntries(field: field) }
            values.append(UInt32(truncatingIfNeeded: try inner.rawVarint()))
        }
    }

    /// Skips the field, whatever its type.
    public mutating func skip() throws(WireError) {
        switch wireType {
        case WireType.varint: _ = try rawVarint()
        case WireType.fixed64: try advance(8)
        case WireType.lengthDelimited: _ = try lengthDelimitedRange()
        case WireType.fixed32: try advance(4)
        default: throw .unsupportedWireType
        }
    }

    mutating func mergeAll<Message: WireMessage>(into message: inout Message) throws(WireError) {
        while try nextField() { try message.mergeField(from: &self) }
    }

    private func expect(_ expected: UInt8) throws(WireError) {
        guard wireType == expected else { throw .wrongWireType(field: field) }
    }

    private mutating func advance(_ count: Int) throws(WireError) {
        guard count <= end - position else { throw .truncated }
        position += count
    }

    private mutating func lengthDelimitedRange() throws(WireError) -> Range<Int> {
        let length = try rawVarint()
        guard length <= UInt64(end - position) else { throw .truncated }
        let start = position
        position += Int(length)
        return start..<position
    }

    private mutating func rawVarint() throws(WireError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            guard position < end else { throw .truncated }
            let byte = bytes[position]
            position += 1
            // The tenth byte has room for one bit only.
            guard shift < 63 || byte <= 1 else { throw .varintOverflow }
            value |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return value }
            shift += 7
        }
    }
}

enum WireType {
    static let varint: UInt8 = 0
    static let fixed64: UInt8 = 1
    static let lengthDelimited: UInt8 = 2
    static let fixed32: UInt8 = 5
}

/// Writes protobuf fields in the canonical form that the firmware's encoder (protobuf-c) produces.
///
/// The plain methods omit zero values, as proto3 does outside a `oneof`; the `…InOneof` methods always write.
public struct WireWriter {
    /// The bytes written so far.
    public private(set) var bytes: [UInt8] = []

    public init() {}

    /// Writes a `uint64`.
    public mutating func uint64(_ value: UInt64, field: UInt32) {
        if value != 0 { uint64InOneof(value, field: field) }
    }

    /// Writes a `uint32`.
    public mutating func uint32(_ value: UInt32, field: UInt32) { uint64(UInt64(value), field: field) }
    /// Writes a `bool`.
    public mutating func bool(_ value: Bool, field: UInt32) { uint64(value ? 1 : 0, field: field) }
    /// Writes an `int64`.
    public mutating func int64(_ value: Int64, field: UInt32) { uint64(UInt64(bitPattern: value), field: field) }

    /// Writes an `int32`. A negative value is sign-extended and takes ten bytes.
    public mutating func int32(_ value: Int32, field: UInt32) { int64(Int64(value), field: field) }

    /// Writes `bytes` or a `string`.
    public mutating func byteString(_ value: [UInt8], field: UInt32) {
        if !value.isEmpty { lengthDelimited(value, field: field) }
    }

    /// Writes an `int32`, even if it is 0.
    public mutating func int32InOneof(_ value: Int32, field: UInt32) {
        uint64InOneof(UInt64(bitPattern: Int64(value)), field: field)
    }

    /// Writes a `uint64`, even if it is 0.
    public mutating func uint64InOneof(_ value: UInt64, field: UInt32) {
        key(field, WireType.varint)
        varint(value)
    }

    /// Writes a sub-message, even if it is empty, because its presence has a meaning.
    public mutating func message<Message: WireMessage>(_ message: Message, field: UInt32) {
        lengthDelimited(message.encoded(), field: field)
    }

    /// Writes a member of a `oneof` that has no fields of its own.
    public mutating func emptyMember(field: UInt32) { lengthDelimited([], field: field) }

    /// Writes the entries of a repeated message.
    public mutating func repeated<Message: WireMessage>(_ entries: [Message], field: UInt32) {
        for entry in entries { message(entry, field: field) }
    }

    /// Writes a repeated `uint32` in proto3's packed form.
    public mutating func packed(_ values: [UInt32], field: UInt32) {
        guard !values.isEmpty else { return }
        var inner = WireWriter()
        for value in values { inner.varint(UInt64(value)) }
        lengthDelimited(inner.bytes, field: field)
    }

    private mutating func lengthDelimited(_ value: [UInt8], field: UInt32) {
        key(field, WireType.lengthDelimited)
        varint(UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    private mutating func key(_ field: UInt32, _ wireType: UInt8) {
        varint(UInt64(field) << 3 | UInt64(wireType))
    }

    private mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}
