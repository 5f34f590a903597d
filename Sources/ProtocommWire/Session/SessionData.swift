/// What travels on `prov-session`: one step of a handshake, in either direction (`session.proto`).
public struct SessionData: WireMessage {
    public enum Payload: Sendable, Equatable {
        case security0(Security0Payload)
        case security1(Security1Payload)
        case security2(Security2Payload)
    }

    public var version: SecurityVersion
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
        switch reader.field {
        case 2: version = try reader.enumeration(SecurityVersion.self)
        case 10:
            var inner = Security0Payload()
            if case .security0(let earlier) = payload { inner = earlier }
            try reader.message(into: &inner)
            payload = .security0(inner)
        case 11:
            var inner = Security1Payload()
            if case .security1(let earlier) = payload { inner = earlier }
            try reader.message(into: &inner)
            payload = .security1(inner)
        case 12:
            var inner = Security2Payload()
            if case .security2(let earlier) = payload { inner = earlier }
            try reader.message(into: &inner)
            payload = .security2(inner)
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

    public static let security0 = SecurityVersion(rawValue: 0)
    public static let security1 = SecurityVersion(rawValue: 1)
    public static let security2 = SecurityVersion(rawValue: 2)
}
