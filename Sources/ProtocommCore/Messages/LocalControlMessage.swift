// SPDX-License-Identifier: Apache-2.0

/// A message on `esp_local_ctrl/control` (`LocalCtrlMessage`): a node's properties on the local network.
///
/// A RainMaker node has two: 0 is `config` (read-only), 1 is `params`.
public struct LocalControlMessage: WireMessage {
    /// A message's payload.
    public enum Payload: Sendable, Equatable {
        /// Asks how many properties there are.
        case commandGetPropertyCount
        /// The answer to ``commandGetPropertyCount``.
        case responseGetPropertyCount(PropertyCountResponse)
        /// Asks for properties by their indices.
        case commandGetPropertyValues(GetPropertyValuesCommand)
        /// The answer to ``commandGetPropertyValues``.
        case responseGetPropertyValues(PropertyValuesResponse)
        /// Sets new values of properties.
        case commandSetPropertyValues(SetPropertyValuesCommand)
        /// The answer to ``commandSetPropertyValues``.
        case responseSetPropertyValues(StatusResponse)
    }

    /// The message's type.
    public struct MessageType: WireEnum {
        public var rawValue: Int32
        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// Asks how many properties there are.
        public static let commandGetPropertyCount = MessageType(rawValue: 0)
        /// The answer to ``commandGetPropertyCount``.
        public static let responseGetPropertyCount = MessageType(rawValue: 1)
        /// Asks for properties by their indices.
        public static let commandGetPropertyValues = MessageType(rawValue: 4)
        /// The answer to ``commandGetPropertyValues``.
        public static let responseGetPropertyValues = MessageType(rawValue: 5)
        /// Sets new values of properties.
        public static let commandSetPropertyValues = MessageType(rawValue: 6)
        /// The answer to ``commandSetPropertyValues``.
        public static let responseSetPropertyValues = MessageType(rawValue: 7)
    }

    /// The message's type. Firmware accepts some requests with the type alone, without their empty member.
    public var message: MessageType
    /// The message's payload; nil if it has none, or one that this version does not know.
    public var payload: Payload?

    public init() {
        message = MessageType(rawValue: 0)
        payload = nil
    }

    /// Sets the message type and the member.
    public init(_ payload: Payload) {
        self.payload = payload
        switch payload {
        case .commandGetPropertyCount: message = .commandGetPropertyCount
        case .responseGetPropertyCount: message = .responseGetPropertyCount
        case .commandGetPropertyValues: message = .commandGetPropertyValues
        case .responseGetPropertyValues: message = .responseGetPropertyValues
        case .commandSetPropertyValues: message = .commandSetPropertyValues
        case .responseSetPropertyValues: message = .responseSetPropertyValues
        }
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch (reader.field, payload) {
        case (1, _): message = try reader.enumeration(MessageType.self)
        case (10, _):
            try reader.emptyMember()
            payload = .commandGetPropertyCount
        case (11, .responseGetPropertyCount(let earlier)?):
            payload = .responseGetPropertyCount(try reader.member(earlier))
        case (11, _): payload = .responseGetPropertyCount(try reader.member())
        case (12, .commandGetPropertyValues(let earlier)?):
            payload = .commandGetPropertyValues(try reader.member(earlier))
        case (12, _): payload = .commandGetPropertyValues(try reader.member())
        case (13, .responseGetPropertyValues(let earlier)?):
            payload = .responseGetPropertyValues(try reader.member(earlier))
        case (13, _): payload = .responseGetPropertyValues(try reader.member())
        case (14, .commandSetPropertyValues(let earlier)?):
            payload = .commandSetPropertyValues(try reader.member(earlier))
        case (14, _): payload = .commandSetPropertyValues(try reader.member())
        case (15, .responseSetPropertyValues(let earlier)?):
            payload = .responseSetPropertyValues(try reader.member(earlier))
        case (15, _): payload = .responseSetPropertyValues(try reader.member())
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.enumeration(message, field: 1)
        switch payload {
        case .commandGetPropertyCount: writer.emptyMember(field: 10)
        case .responseGetPropertyCount(let inner): writer.message(inner, field: 11)
        case .commandGetPropertyValues(let inner): writer.message(inner, field: 12)
        case .responseGetPropertyValues(let inner): writer.message(inner, field: 13)
        case .commandSetPropertyValues(let inner): writer.message(inner, field: 14)
        case .responseSetPropertyValues(let inner): writer.message(inner, field: 15)
        case nil: break
        }
    }
}

/// How many properties there are.
public struct PropertyCountResponse: WireMessage {
    /// Whether the board could answer.
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
    /// The properties' indices, counted from 0.
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

/// The requested values.
public struct PropertyValuesResponse: WireMessage {
    /// Whether the board could answer.
    public var status: Status
    /// The requested properties.
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
    /// The properties and their new values.
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

/// ESP-IDF's services register about ten. A message with more than this is rejected as garbage.
private let maximumProperties = 64

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
    /// The property's value, in the application's own format.
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
    /// The property's index, counted from 0.
    public var index: UInt32
    /// The new value, in the application's own format.
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
