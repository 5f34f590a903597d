// SPDX-License-Identifier: Apache-2.0

/// Security 1: one of the four steps of its handshake (`sec1.proto`).
public struct Security1Payload: WireMessage {
    /// A message's payload.
    public enum Payload: Sendable, Equatable {
        /// The client's first message.
        case command0(Security1Command0)
        /// The board's answer to the client's first message.
        case response0(Security1Response0)
        /// The client's second message.
        case command1(Security1Command1)
        /// The board's answer to the client's second message.
        case response1(Security1Response1)
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

/// The client's first message: its X25519 public key.
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

/// The board's first answer: its public key and the first counter block.
public struct Security1Response0: WireMessage {
    /// Whether the board continues.
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
    /// Whether the board continues.
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
