// SPDX-License-Identifier: Apache-2.0

/// A message on `get_params` and `get_config` (`RMakerLocalCtrlPayload`): the node's parameters or configuration, in fragments.
public struct LocalDataPayload: WireMessage {
    /// A message's payload.
    public enum Payload: Sendable, Equatable {
        /// Asks for a fragment of the node's configuration or parameters.
        case commandGetData(GetDataCommand)
        /// The answer to ``commandGetData``.
        case responseGetData(PayloadResponse<LocalDataStatus>)
    }

    /// The message's type.
    public struct MessageType: WireEnum {
        public var rawValue: Int32
        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// Asks for a fragment of the node's configuration or parameters.
        public static let commandGetData = MessageType(rawValue: 0)
        /// The answer to ``commandGetData``.
        public static let responseGetData = MessageType(rawValue: 1)
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
        case .commandGetData: message = .commandGetData
        case .responseGetData: message = .responseGetData
        }
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch (reader.field, payload) {
        case (1, _): message = try reader.enumeration(MessageType.self)
        case (10, .commandGetData(let earlier)?): payload = .commandGetData(try reader.member(earlier))
        case (10, _): payload = .commandGetData(try reader.member())
        case (11, .responseGetData(let earlier)?): payload = .responseGetData(try reader.member(earlier))
        case (11, _): payload = .responseGetData(try reader.member())
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.enumeration(message, field: 1)
        switch payload {
        case .commandGetData(let inner): writer.message(inner, field: 10)
        case .responseGetData(let inner): writer.message(inner, field: 11)
        case nil: break
        }
    }
}

/// Asks for the fragment at an offset.
public struct GetDataCommand: WireMessage {
    /// The requested text.
    public var dataType: LocalDataType
    /// The fragment's offset in bytes.
    public var offset: UInt32
    /// Unix seconds; valid if `hasTimestamp` is set.
    public var timestamp: Int64
    /// Whether ``timestamp`` is set.
    public var hasTimestamp: Bool

    public init() { self.init(dataType: .parameters) }

    public init(
        dataType: LocalDataType = .parameters, offset: UInt32 = 0, timestamp: Int64 = 0, hasTimestamp: Bool = false
    ) {
        self.dataType = dataType
        self.offset = offset
        self.timestamp = timestamp
        self.hasTimestamp = hasTimestamp
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: dataType = try reader.enumeration(LocalDataType.self)
        case 2: offset = try reader.uint32()
        case 3: timestamp = try reader.int64()
        case 4: hasTimestamp = try reader.bool()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.enumeration(dataType, field: 1)
        writer.uint32(offset, field: 2)
        writer.int64(timestamp, field: 3)
        writer.bool(hasTimestamp, field: 4)
    }
}

/// `RMakerLocalCtrlDataType`.
public struct LocalDataType: WireEnum {
    public var rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The values of the node's parameters.
    public static let parameters = LocalDataType(rawValue: 0)
    /// The node's configuration: its devices and their parameters.
    public static let configuration = LocalDataType(rawValue: 1)
}

/// `RMakerLocalCtrlStatus`.
public struct LocalDataStatus: PayloadStatus {
    public var rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The response contains the fragment.
    public static let success = LocalDataStatus(rawValue: 0)
    /// The board failed to read it.
    public static let fail = LocalDataStatus(rawValue: 1)
    /// The board does not accept an argument of the request.
    public static let invalidParameter = LocalDataStatus(rawValue: 2)
    /// The board has not enough memory.
    public static let noMemory = LocalDataStatus(rawValue: 3)
}
