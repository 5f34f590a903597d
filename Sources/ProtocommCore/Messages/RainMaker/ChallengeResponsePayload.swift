// SPDX-License-Identifier: Apache-2.0

/// A message on `ch_resp` (`RMakerChRespPayload`): the board signs the cloud's challenge.
///
/// A board with challenge-response switched off answers every request with status `disabled` and message type 1.
public struct ChallengeResponsePayload: WireMessage {
    /// A message's payload.
    public enum Payload: Sendable, Equatable {
        /// Asks the board to sign a challenge.
        case commandChallengeResponse(ChallengeCommand)
        /// The answer to ``commandChallengeResponse``.
        case responseChallengeResponse(ChallengeResponse)
        /// Asks for the board's node id.
        case commandGetNodeID
        /// The answer to ``commandGetNodeID``.
        case responseGetNodeID(NodeIDResponse)
        /// Switches challenge-response off.
        case commandDisableChallengeResponse
        /// The answer to ``commandDisableChallengeResponse``.
        case responseDisableChallengeResponse
    }

    /// The message's type.
    public struct MessageType: WireEnum {
        public var rawValue: Int32
        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// Asks the board to sign a challenge.
        public static let commandChallengeResponse = MessageType(rawValue: 0)
        /// The answer to ``commandChallengeResponse``.
        public static let responseChallengeResponse = MessageType(rawValue: 1)
        /// Asks for the board's node id.
        public static let commandGetNodeID = MessageType(rawValue: 2)
        /// The answer to ``commandGetNodeID``.
        public static let responseGetNodeID = MessageType(rawValue: 3)
        /// Switches challenge-response off.
        public static let commandDisableChallengeResponse = MessageType(rawValue: 4)
        /// The answer to ``commandDisableChallengeResponse``.
        public static let responseDisableChallengeResponse = MessageType(rawValue: 5)
    }

    /// The message's type. Firmware accepts some requests with the type alone, without their empty member.
    public var message: MessageType
    /// The result of the request; only responses have one.
    public var status: ChallengeResponseStatus
    /// The message's payload; nil if it has none, or one that this version does not know.
    public var payload: Payload?

    public init() {
        message = MessageType(rawValue: 0)
        status = .success
        payload = nil
    }

    /// Sets the message type and the member.
    public init(_ payload: Payload, status: ChallengeResponseStatus = .success) {
        self.payload = payload
        self.status = status
        switch payload {
        case .commandChallengeResponse: message = .commandChallengeResponse
        case .responseChallengeResponse: message = .responseChallengeResponse
        case .commandGetNodeID: message = .commandGetNodeID
        case .responseGetNodeID: message = .responseGetNodeID
        case .commandDisableChallengeResponse: message = .commandDisableChallengeResponse
        case .responseDisableChallengeResponse: message = .responseDisableChallengeResponse
        }
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch (reader.field, payload) {
        case (1, _): message = try reader.enumeration(MessageType.self)
        case (2, _): status = try reader.enumeration(ChallengeResponseStatus.self)
        case (10, .commandChallengeResponse(let earlier)?):
            payload = .commandChallengeResponse(try reader.member(earlier))
        case (10, _): payload = .commandChallengeResponse(try reader.member())
        case (11, .responseChallengeResponse(let earlier)?):
            payload = .responseChallengeResponse(try reader.member(earlier))
        case (11, _): payload = .responseChallengeResponse(try reader.member())
        case (12, _):
            try reader.emptyMember()
            payload = .commandGetNodeID
        case (13, .responseGetNodeID(let earlier)?): payload = .responseGetNodeID(try reader.member(earlier))
        case (13, _): payload = .responseGetNodeID(try reader.member())
        case (14, _):
            try reader.emptyMember()
            payload = .commandDisableChallengeResponse
        case (15, _):
            try reader.emptyMember()
            payload = .responseDisableChallengeResponse
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.enumeration(message, field: 1)
        writer.enumeration(status, field: 2)
        switch payload {
        case .commandChallengeResponse(let inner): writer.message(inner, field: 10)
        case .responseChallengeResponse(let inner): writer.message(inner, field: 11)
        case .commandGetNodeID: writer.emptyMember(field: 12)
        case .responseGetNodeID(let inner): writer.message(inner, field: 13)
        case .commandDisableChallengeResponse: writer.emptyMember(field: 14)
        case .responseDisableChallengeResponse: writer.emptyMember(field: 15)
        case nil: break
        }
    }
}

/// The challenge to sign.
public struct ChallengeCommand: WireMessage {
    /// The cloud's challenge as UTF-8.
    public var payload: [UInt8]

    public init() { self.init(payload: []) }

    public init(payload: [UInt8] = []) {
        self.payload = payload
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: payload = try reader.byteString()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.byteString(payload, field: 1)
    }
}

/// The signed challenge, and the node that signed it.
public struct ChallengeResponse: WireMessage {
    /// ECDSA (ASN.1 DER, 70 to 72 bytes) or RSASSA-PSS (256 bytes) over SHA-256.
    public var payload: [UInt8]
    /// Text.
    public var nodeID: [UInt8]

    public init() { self.init(payload: []) }

    public init(payload: [UInt8] = [], nodeID: [UInt8] = []) {
        self.payload = payload
        self.nodeID = nodeID
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: payload = try reader.byteString()
        case 2: nodeID = try reader.byteString()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.byteString(payload, field: 1)
        writer.byteString(nodeID, field: 2)
    }
}

/// The board's node id. Firmware does not implement the command.
public struct NodeIDResponse: WireMessage {
    /// Text.
    public var nodeID: [UInt8]

    public init() { self.init(nodeID: []) }

    public init(nodeID: [UInt8] = []) {
        self.nodeID = nodeID
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: nodeID = try reader.byteString()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.byteString(nodeID, field: 1)
    }
}

/// `RMakerChRespStatus`.
public struct ChallengeResponseStatus: WireEnum {
    public var rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The request was carried out.
    public static let success = ChallengeResponseStatus(rawValue: 0)
    /// The board failed to carry out the request.
    public static let fail = ChallengeResponseStatus(rawValue: 1)
    /// The board does not accept an argument of the request.
    public static let invalidParameter = ChallengeResponseStatus(rawValue: 2)
    /// Challenge-response is switched off.
    public static let disabled = ChallengeResponseStatus(rawValue: 3)
}
