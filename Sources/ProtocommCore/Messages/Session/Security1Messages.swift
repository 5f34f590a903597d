// SPDX-License-Identifier: Apache-2.0

/// The client opens with its X25519 public key.
public struct Security1Command0: WireMessage {
    /// 32 bytes, little-endian as in RFC 7748.
    public var clientPublicKey: [UInt8]

    public init() { self.init(clientPublicKey: []) }

    public init(clientPublicKey: [UInt8] = []) {
        self.clientPublicKey = clientPublicKey
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: clientPublicKey = try reader.byteString()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.byteString(clientPublicKey, field: 1)
    }
}

/// The board answers with its own key and the first counter block.
public struct Security1Response0: WireMessage {
    /// Whether the board goes on.
    public var status: Status
    /// 32 bytes.
    public var devicePublicKey: [UInt8]
    /// 16 bytes: the initial counter block of AES-CTR.
    public var deviceRandom: [UInt8]

    public init() { self.init(status: .success) }

    public init(status: Status = .success, devicePublicKey: [UInt8] = [], deviceRandom: [UInt8] = []) {
        self.status = status
        self.devicePublicKey = devicePublicKey
        self.deviceRandom = deviceRandom
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: status = try reader.enumeration(Status.self)
        case 2: devicePublicKey = try reader.byteString()
        case 3: deviceRandom = try reader.byteString()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.enumeration(status, field: 1)
        writer.byteString(devicePublicKey, field: 2)
        writer.byteString(deviceRandom, field: 3)
    }
}

/// The client proves that it has the key. The field number is 2; there is no field 1.
public struct Security1Command1: WireMessage {
    /// 32 bytes: the board's public key, encrypted.
    public var clientVerifyData: [UInt8]

    public init() { self.init(clientVerifyData: []) }

    public init(clientVerifyData: [UInt8] = []) {
        self.clientVerifyData = clientVerifyData
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 2: clientVerifyData = try reader.byteString()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.byteString(clientVerifyData, field: 2)
    }
}

/// The board proves that it has the key. The field number is 3; there is no field 2.
public struct Security1Response1: WireMessage {
    /// Whether the board goes on.
    public var status: Status
    /// 32 bytes: the client's public key, encrypted.
    public var deviceVerifyData: [UInt8]

    public init() { self.init(status: .success) }

    public init(status: Status = .success, deviceVerifyData: [UInt8] = []) {
        self.status = status
        self.deviceVerifyData = deviceVerifyData
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: status = try reader.enumeration(Status.self)
        case 3: deviceVerifyData = try reader.byteString()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.enumeration(status, field: 1)
        writer.byteString(deviceVerifyData, field: 3)
    }
}
