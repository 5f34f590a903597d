// SPDX-License-Identifier: Apache-2.0

/// Writes protobuf fields in the canonical form that the firmware's encoder (protobuf-c) produces.
///
/// The plain methods omit zero values, as proto3 does outside a `oneof`; the `…InOneof` ones always write.
public struct WireWriter {
    /// What was written so far.
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

    /// A negative `int32` is sign-extended and takes ten bytes.
    public mutating func int32(_ value: Int32, field: UInt32) { int64(Int64(value), field: field) }

    /// Writes `bytes` or a `string`.
    public mutating func byteString(_ value: [UInt8], field: UInt32) {
        if !value.isEmpty { lengthDelimited(value, field: field) }
    }

    /// Writes an `int32`, 0 as well.
    public mutating func int32InOneof(_ value: Int32, field: UInt32) {
        uint64InOneof(UInt64(bitPattern: Int64(value)), field: field)
    }

    /// Writes a `uint64`, 0 as well.
    public mutating func uint64InOneof(_ value: UInt64, field: UInt32) {
        key(field, WireType.varint)
        varint(value)
    }

    /// A sub-message is written even when it is empty: its presence is what it says.
    public mutating func message<Message: WireMessage>(_ message: Message, field: UInt32) {
        lengthDelimited(message.encoded(), field: field)
    }

    /// A member of a `oneof` that has no fields of its own.
    public mutating func emptyMember(field: UInt32) { lengthDelimited([], field: field) }

    /// Writes the entries of a repeated message.
    public mutating func repeated<Message: WireMessage>(_ entries: [Message], field: UInt32) {
        for entry in entries { message(entry, field: field) }
    }

    /// A repeated `uint32` in proto3's packed form.
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
