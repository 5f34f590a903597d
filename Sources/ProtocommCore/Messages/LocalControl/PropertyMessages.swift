// SPDX-License-Identifier: Apache-2.0

/// How many properties there are.
public struct PropertyCountResponse: WireMessage {
    /// Whether the board could say.
    public var status: Status
    /// How many properties there are.
    public var count: UInt32

    public init() { self.init(status: .success) }

    public init(status: Status = .success, count: UInt32 = 0) {
        self.status = status
        self.count = count
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: status = try reader.enumeration(Status.self)
        case 2: count = try reader.uint32()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.enumeration(status, field: 1)
        writer.uint32(count, field: 2)
    }
}

/// Asks for the values of some properties.
public struct GetPropertyValuesCommand: WireMessage {
    /// The properties' places, counted from 0.
    public var indices: [UInt32]

    public init() { self.init([]) }
    public init(_ indices: [UInt32]) { self.indices = indices }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: try reader.repeatedUInt32(into: &indices, limit: maximumProperties)
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) { writer.packed(indices, field: 1) }
}

/// The values asked for.
public struct PropertyValuesResponse: WireMessage {
    /// Whether the board could say.
    public var status: Status
    /// The properties that were asked for.
    public var properties: [PropertyInfo]

    public init() { self.init([]) }

    public init(status: Status = .success, _ properties: [PropertyInfo]) {
        self.status = status
        self.properties = properties
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: status = try reader.enumeration(Status.self)
        case 2: try reader.append(to: &properties, limit: maximumProperties)
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.enumeration(status, field: 1)
        writer.repeated(properties, field: 2)
    }
}

/// Sets some properties.
public struct SetPropertyValuesCommand: WireMessage {
    /// Which properties get which values.
    public var properties: [PropertyValue]

    public init() { self.init([]) }
    public init(_ properties: [PropertyValue]) { self.properties = properties }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: try reader.append(to: &properties, limit: maximumProperties)
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) { writer.repeated(properties, field: 1) }
}

/// ESP-IDF's services register about ten; more than this is taken for garbage.
private let maximumProperties = 64
