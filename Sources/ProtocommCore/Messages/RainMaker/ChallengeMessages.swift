// SPDX-License-Identifier: Apache-2.0

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

/// The signed challenge, and who signed it.
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

/// Who the board is. Firmware does not implement the command.
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
    /// The board failed in carrying it out.
    public static let fail = ChallengeResponseStatus(rawValue: 1)
    /// The board does not take what it was asked.
    public static let invalidParameter = ChallengeResponseStatus(rawValue: 2)
    /// Challenge-response is switched off.
    public static let disabled = ChallengeResponseStatus(rawValue: 3)
}
