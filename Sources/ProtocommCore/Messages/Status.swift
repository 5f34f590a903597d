// SPDX-License-Identifier: Apache-2.0

/// `Status` of `constants.proto`: the result in most responses. Firmware sends only 0, 4 and 5.
public struct Status: WireEnum {
    public var rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The request was carried out.
    public static let success = Status(rawValue: 0)
    /// The board uses another security scheme.
    public static let invalidSecurityScheme = Status(rawValue: 1)
    /// The message does not belong to this protocol.
    public static let invalidProtocol = Status(rawValue: 2)
    /// The board cannot have another session.
    public static let tooManySessions = Status(rawValue: 3)
    /// The board does not accept an argument of the request.
    public static let invalidArgument = Status(rawValue: 4)
    /// The board failed to carry out the request.
    public static let internalError = Status(rawValue: 5)
    /// Encryption or decryption failed.
    public static let cryptoError = Status(rawValue: 6)
    /// There is no such session.
    public static let invalidSession = Status(rawValue: 7)
}

/// A response that contains only a status.
public struct StatusResponse: WireMessage {
    /// The result of the request.
    public var status: Status

    public init() { status = .success }
    public init(_ status: Status) { self.status = status }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: status = try reader.enumeration(Status.self)
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) { writer.enumeration(status, field: 1) }
}
