// SPDX-License-Identifier: Apache-2.0

/// The client opens with its name and its SRP public key A.
public struct Security2Command0: WireMessage {
    /// The user name that the board's verifier was made for.
    public var clientUsername: [UInt8]
    /// A, left-padded to exactly 384 bytes: boards refuse any other length.
    public var clientPublicKey: [UInt8]

    public init() { self.init(clientUsername: []) }

    public init(clientUsername: [UInt8] = [], clientPublicKey: [UInt8] = []) {
        self.clientUsername = clientUsername
        self.clientPublicKey = clientPublicKey
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: clientUsername = try reader.byteString()
        case 2: clientPublicKey = try reader.byteString()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.byteString(clientUsername, field: 1)
        writer.byteString(clientPublicKey, field: 2)
    }
}

/// The board answers with its SRP public key B and the salt of its verifier.
public struct Security2Response0: WireMessage {
    /// Whether the board goes on.
    public var status: Status
    /// B without leading zero bytes: 384 bytes, rarely fewer.
    public var devicePublicKey: [UInt8]
    /// Any length; 16 bytes on RainMaker boards.
    public var deviceSalt: [UInt8]

    public init() { self.init(status: .success) }

    public init(status: Status = .success, devicePublicKey: [UInt8] = [], deviceSalt: [UInt8] = []) {
        self.status = status
        self.devicePublicKey = devicePublicKey
        self.deviceSalt = deviceSalt
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: status = try reader.enumeration(Status.self)
        case 2: devicePublicKey = try reader.byteString()
        case 3: deviceSalt = try reader.byteString()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.enumeration(status, field: 1)
        writer.byteString(devicePublicKey, field: 2)
        writer.byteString(deviceSalt, field: 3)
    }
}

/// The client proves that it knows the password.
public struct Security2Command1: WireMessage {
    /// M1, 64 bytes.
    public var clientProof: [UInt8]

    public init() { self.init(clientProof: []) }

    public init(clientProof: [UInt8] = []) {
        self.clientProof = clientProof
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: clientProof = try reader.byteString()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.byteString(clientProof, field: 1)
    }
}

/// The board proves that it has the verifier, and names the first nonce.
public struct Security2Response1: WireMessage {
    /// Whether the board goes on.
    public var status: Status
    /// M2, 64 bytes.
    public var deviceProof: [UInt8]
    /// 12 bytes under patch version 1, 16 under patch version 0.
    public var deviceNonce: [UInt8]

    public init() { self.init(status: .success) }

    public init(status: Status = .success, deviceProof: [UInt8] = [], deviceNonce: [UInt8] = []) {
        self.status = status
        self.deviceProof = deviceProof
        self.deviceNonce = deviceNonce
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: status = try reader.enumeration(Status.self)
        case 2: deviceProof = try reader.byteString()
        case 3: deviceNonce = try reader.byteString()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.enumeration(status, field: 1)
        writer.byteString(deviceProof, field: 2)
        writer.byteString(deviceNonce, field: 3)
    }
}
