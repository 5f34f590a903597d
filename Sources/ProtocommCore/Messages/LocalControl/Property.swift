// SPDX-License-Identifier: Apache-2.0

/// A property with its value.
public struct PropertyInfo: WireMessage {
    /// Whether the property could be read.
    public var status: Status
    /// Text.
    public var name: [UInt8]
    /// Chosen by the application.
    public var type: UInt32
    /// Chosen by the application; bit 0 is read-only in a RainMaker node.
    public var flags: UInt32
    /// The property's value, in the form that its application chose.
    public var value: [UInt8]

    public init() { self.init(status: .success) }

    public init(status: Status = .success, name: [UInt8] = [], type: UInt32 = 0, flags: UInt32 = 0, value: [UInt8] = [])
    {
        self.status = status
        self.name = name
        self.type = type
        self.flags = flags
        self.value = value
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: status = try reader.enumeration(Status.self)
        case 2: name = try reader.byteString()
        case 3: type = try reader.uint32()
        case 4: flags = try reader.uint32()
        case 5: value = try reader.byteString()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.enumeration(status, field: 1)
        writer.byteString(name, field: 2)
        writer.uint32(type, field: 3)
        writer.uint32(flags, field: 4)
        writer.byteString(value, field: 5)
    }
}

/// A new value for a property.
public struct PropertyValue: WireMessage {
    /// The property's place, counted from 0.
    public var index: UInt32
    /// The new value, in the form that its application chose.
    public var value: [UInt8]

    public init() { self.init(index: 0) }

    public init(index: UInt32 = 0, value: [UInt8] = []) {
        self.index = index
        self.value = value
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: index = try reader.uint32()
        case 2: value = try reader.byteString()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.uint32(index, field: 1)
        writer.byteString(value, field: 2)
    }
}
