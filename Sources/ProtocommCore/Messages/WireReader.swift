// SPDX-License-Identifier: Apache-2.0

/// Reads the four protobuf wire types from bytes that nobody has checked yet.
///
/// Source of the format: the protobuf encoding guide. Every read is bounded by the enclosing message, nothing is copied
/// until a `bytes` field is taken out, and an unknown field is skipped.
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

    /// Moves to the next field of this message; `false` at its end.
    public mutating func nextField() throws(WireError) -> Bool {
        guard position < end else { return false }
        let key = try rawVarint()
        let number = key >> 3
        guard number > 0, number < 1 << 29 else { throw .invalidFieldNumber }
        field = UInt32(number)
        wireType = UInt8(key & 7)
        return true
    }

    /// The value of a `uint64` field.
    public mutating func uint64() throws(WireError) -> UInt64 {
        try expect(WireType.varint)
        return try rawVarint()
    }

    /// A 32-bit value keeps the low bits of a longer varint, as every protobuf implementation does.
    public mutating func uint32() throws(WireError) -> UInt32 { UInt32(truncatingIfNeeded: try uint64()) }
    /// The value of an `int32` field; see ``uint32()`` for longer ones.
    public mutating func int32() throws(WireError) -> Int32 { Int32(truncatingIfNeeded: try uint64()) }
    /// The value of an `int64` field.
    public mutating func int64() throws(WireError) -> Int64 { Int64(bitPattern: try uint64()) }
    /// The value of a `bool` field.
    public mutating func bool() throws(WireError) -> Bool { try uint64() != 0 }

    /// The value of a `bytes` or `string` field.
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

    /// The member of a `oneof` at this field. Hand in what the same member held before: protobuf merges the two.
    public mutating func member<Message: WireMessage>(_ earlier: Message) throws(WireError) -> Message {
        var merged = earlier
        try message(into: &merged)
        return merged
    }

    /// The member of a `oneof` at this field, where no earlier value is to be merged.
    public mutating func member<Message: WireMessage>() throws(WireError) -> Message { try member(Message()) }

    /// A member of a `oneof` that has no fields of its own.
    public mutating func emptyMember() throws(WireError) {
        let _: EmptyMessage = try member()
    }

    /// One more entry of a repeated message.
    public mutating func append<Message: WireMessage>(
        to entries: inout [Message], limit: Int
    ) throws(WireError) {
        guard entries.count < limit else { throw .tooManyEntries(field: field) }
        entries.append(try member())
    }

    /// A repeated `uint32`, packed or not.
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

    /// Passes over the field, whatever it is.
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
