// SPDX-License-Identifier: Apache-2.0

/// A message on `cloud_user_assoc` (`RMakerConfigPayload`): the user that the board is to belong to.
public struct UserMappingPayload: WireMessage {
    /// A message's payload.
    public enum Payload: Sendable, Equatable {
        /// Sends the board a user id and a secret.
        case commandSetUserMapping(SetUserMappingCommand)
        /// The answer to ``commandSetUserMapping``.
        case responseSetUserMapping(SetUserMappingResponse)
    }

    /// The message's type.
    public struct MessageType: WireEnum {
        public var rawValue: Int32
        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// Sends the board a user id and a secret.
        public static let commandSetUserMapping = MessageType(rawValue: 0)
        /// The answer to ``commandSetUserMapping``.
        public static let responseSetUserMapping = MessageType(rawValue: 1)
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
        case .commandSetUserMapping: message = .commandSetUserMapping
        case .responseSetUserMapping: message = .responseSetUserMapping
        }
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch (reader.field, payload) {
        case (1, _): message = try reader.enumeration(MessageType.self)
        case (10, .commandSetUserMapping(let earlier)?): payload = .commandSetUserMapping(try reader.member(earlier))
        case (10, _): payload = .commandSetUserMapping(try reader.member())
        case (11, .responseSetUserMapping(let earlier)?): payload = .responseSetUserMapping(try reader.member(earlier))
        case (11, _): payload = .responseSetUserMapping(try reader.member())
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.enumeration(message, field: 1)
        switch payload {
        case .commandSetUserMapping(let inner): writer.message(inner, field: 10)
        case .responseSetUserMapping(let inner): writer.message(inner, field: 11)
        case nil: break
        }
    }
}

/// The user and secret of a mapping. Both are text in the schema. Together with the node id they must fit a 200-byte buffer on the board.
public struct SetUserMappingCommand: WireMessage {
    /// The future owner of the board.
    public var userID: [UInt8]
    /// The secret; the cloud gets the same one.
    public var secretKey: [UInt8]

    public init() { self.init(userID: []) }

    public init(userID: [UInt8] = [], secretKey: [UInt8] = []) {
        self.userID = userID
        self.secretKey = secretKey
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: userID = try reader.byteString()
        case 2: secretKey = try reader.byteString()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.byteString(userID, field: 1)
        writer.byteString(secretKey, field: 2)
    }
}

/// The result, and the board's node id.
public struct SetUserMappingResponse: WireMessage {
    /// Whether the board accepted the user and secret.
    public var status: UserMappingStatus
    /// Text.
    public var nodeID: [UInt8]

    public init() { self.init(status: .success) }

    public init(status: UserMappingStatus = .success, nodeID: [UInt8] = []) {
        self.status = status
        self.nodeID = nodeID
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: status = try reader.enumeration(UserMappingStatus.self)
        case 2: nodeID = try reader.byteString()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.enumeration(status, field: 1)
        writer.byteString(nodeID, field: 2)
    }
}

/// `RMakerConfigStatus`.
public struct UserMappingStatus: WireEnum {
    public var rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The board accepted the user and secret.
    public static let success = UserMappingStatus(rawValue: 0)
    /// The board does not accept the data.
    public static let invalidParameter = UserMappingStatus(rawValue: 1)
    /// The board cannot accept them now.
    public static let invalidState = UserMappingStatus(rawValue: 2)
}
