// SPDX-License-Identifier: Apache-2.0

/// A message on `prov-session`: one step of a handshake, in either direction (`session.proto`).
public struct SessionData: WireMessage {
    /// A message's payload.
    public enum Payload: Sendable, Equatable {
        /// A message of Security 0.
        case security0(Security0Payload)
        /// A message of Security 1.
        case security1(Security1Payload)
        /// A message of Security 2.
        case security2(Security2Payload)
    }

    /// The scheme of the handshake.
    public var version: SecurityVersion
    /// The message's payload; nil if it has none, or one that this version does not know.
    public var payload: Payload?

    public init() {
        version = .security0
        payload = nil
    }

    /// Sets the version and the member; every board expects both.
    public init(_ payload: Payload) {
        self.payload = payload
        switch payload {
        case .security0: version = .security0
        case .security1: version = .security1
        case .security2: version = .security2
        }
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch (reader.field, payload) {
        case (2, _): version = try reader.enumeration(SecurityVersion.self)
        case (10, .security0(let earlier)?): payload = .security0(try reader.member(earlier))
        case (10, _): payload = .security0(try reader.member())
        case (11, .security1(let earlier)?): payload = .security1(try reader.member(earlier))
        case (11, _): payload = .security1(try reader.member())
        case (12, .security2(let earlier)?): payload = .security2(try reader.member(earlier))
        case (12, _): payload = .security2(try reader.member())
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.enumeration(version, field: 2)
        switch payload {
        case .security0(let inner): writer.message(inner, field: 10)
        case .security1(let inner): writer.message(inner, field: 11)
        case .security2(let inner): writer.message(inner, field: 12)
        case nil: break
        }
    }
}

/// `SecSchemeVersion`: the number that `proto-ver` calls `sec_ver`.
public struct SecurityVersion: WireEnum {
    public var rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// No encryption.
    public static let security0 = SecurityVersion(rawValue: 0)
    /// X25519 and AES-CTR, with a proof of possession.
    public static let security1 = SecurityVersion(rawValue: 1)
    /// SRP6a and AES-GCM, with a user name and a password.
    public static let security2 = SecurityVersion(rawValue: 2)
}

/// The step of a two-round handshake, for Security 1 and Security 2 payloads.
public struct HandshakeMessageType: WireEnum {
    public var rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The client's first message.
    public static let command0 = HandshakeMessageType(rawValue: 0)
    /// The board's answer to the client's first message.
    public static let response0 = HandshakeMessageType(rawValue: 1)
    /// The client's second message.
    public static let command1 = HandshakeMessageType(rawValue: 2)
    /// The board's answer to the client's second message.
    public static let response1 = HandshakeMessageType(rawValue: 3)
}

/// Security 0: one exchange that agrees on having no security (`sec0.proto`).
public struct Security0Payload: WireMessage {
    /// A message's payload.
    public enum Payload: Sendable, Equatable {
        /// The client's message; it has no fields.
        case command
        /// The board's answer.
        case response(StatusResponse)
    }

    /// The message's type.
    public struct MessageType: WireEnum {
        public var rawValue: Int32
        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// The client's message.
        public static let command = MessageType(rawValue: 0)
        /// The board's answer.
        public static let response = MessageType(rawValue: 1)
    }

    /// The message's type.
    public var message: MessageType
    /// The message's payload; nil if it has none, or one that this version does not know.
    public var payload: Payload?

    public init() {
        message = .command
        payload = nil
    }

    public init(_ payload: Payload) {
        self.payload = payload
        switch payload {
        case .command: message = .command
        case .response: message = .response
        }
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch (reader.field, payload) {
        case (1, _): message = try reader.enumeration(MessageType.self)
        case (20, _):
            try reader.emptyMember()
            payload = .command
        case (21, .response(let earlier)?): payload = .response(try reader.member(earlier))
        case (21, _): payload = .response(try reader.member())
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.enumeration(message, field: 1)
        switch payload {
        case .command: writer.emptyMember(field: 20)
        case .response(let inner): writer.message(inner, field: 21)
        case nil: break
        }
    }
}
