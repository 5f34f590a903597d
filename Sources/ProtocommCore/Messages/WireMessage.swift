// SPDX-License-Identifier: Apache-2.0

/// A protobuf message as a value.
///
/// Decoding tolerates unknown fields and unknown enum values, and merges repeated fields the way protobuf prescribes: the
/// last scalar wins, sub-messages merge, another member of a `oneof` replaces the one before.
public protocol WireMessage: Sendable, Equatable {
    init()
    /// Takes the field that `reader` stands on, or skips it.
    mutating func mergeField(from reader: inout WireReader) throws(WireError)
    /// Writes the fields.
    func encode(into writer: inout WireWriter)
}

extension WireMessage {
    /// Reads a whole message.
    public init(decoding bytes: [UInt8]) throws(WireError) {
        self.init()
        var reader = WireReader(bytes)
        try reader.mergeAll(into: &self)
    }

    /// The message as bytes.
    public func encoded() -> [UInt8] {
        var writer = WireWriter()
        encode(into: &writer)
        return writer.bytes
    }
}

/// A message without fields: its presence is all it says.
public struct EmptyMessage: WireMessage {
    public init() {}
    public mutating func mergeField(from reader: inout WireReader) throws(WireError) { try reader.skip() }
    public func encode(into writer: inout WireWriter) {}
}

/// A protobuf enum as its number: values that this version does not know survive.
public protocol WireEnum: RawRepresentable, Hashable, Sendable where RawValue == Int32 {
    /// Any number is a value, known or not.
    init(rawValue: Int32)
}

extension WireReader {
    /// The value of an enum field; unknown numbers are kept.
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
