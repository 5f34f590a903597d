// SPDX-License-Identifier: Apache-2.0

/// What travels on `prov-session`: one step of a handshake, in either direction (`session.proto`).
public struct SessionData: WireMessage {
    /// What the message carries.
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
    /// What the message carries; nil where it carries nothing that is known here.
    public var payload: Payload?

    public init() {
        version = .security0
        payload = nil
    }

    /// Both the version and the member are set, as every board expects.
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
