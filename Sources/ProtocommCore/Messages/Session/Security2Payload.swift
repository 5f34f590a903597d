// SPDX-License-Identifier: Apache-2.0

/// Security 2: one of the four steps of its handshake (`sec2.proto`).
public struct Security2Payload: WireMessage {
    /// A message's payload.
    public enum Payload: Sendable, Equatable {
        /// The client's first message.
        case command0(Security2Command0)
        /// The board's answer to the client's first message.
        case response0(Security2Response0)
        /// The client's second message.
        case command1(Security2Command1)
        /// The board's answer to the client's second message.
        case response1(Security2Response1)
    }

    /// The message's type.
    public var message: HandshakeMessageType
    /// The message's payload; nil if it has none, or one that this version does not know.
    public var payload: Payload?

    public init() {
        message = .command0
        payload = nil
    }

    /// Sets the message type and the member; boards check both.
    public init(_ payload: Payload) {
        self.payload = payload
        switch payload {
        case .command0: message = .command0
        case .response0: message = .response0
        case .command1: message = .command1
        case .response1: message = .response1
        }
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch (reader.field, payload) {
        case (1, _): message = try reader.enumeration(HandshakeMessageType.self)
        case (20, .command0(let earlier)?): payload = .command0(try reader.member(earlier))
        case (20, _): payload = .command0(try reader.member())
        case (21, .response0(let earlier)?): payload = .response0(try reader.member(earlier))
        case (21, _): payload = .response0(try reader.member())
        case (22, .command1(let earlier)?): payload = .command1(try reader.member(earlier))
        case (22, _): payload = .command1(try reader.member())
        case (23, .response1(let earlier)?): payload = .response1(try reader.member(earlier))
        case (23, _): payload = .response1(try reader.member())
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.enumeration(message, field: 1)
        switch payload {
        case .command0(let inner): writer.message(inner, field: 20)
        case .response0(let inner): writer.message(inner, field: 21)
        case .command1(let inner): writer.message(inner, field: 22)
        case .response1(let inner): writer.message(inner, field: 23)
        case nil: break
        }
    }
}

/// The client's first message: its user name and its SRP public key A.
public struct Security2Command0: WireMessage {
    /// The user name of the board's verifier.
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

/// The board's first answer: its SRP public key B and the salt of its verifier.
public struct Security2Response0: WireMessage {
    /// Whether the board continues.
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
    /// Whether the board continues.
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
