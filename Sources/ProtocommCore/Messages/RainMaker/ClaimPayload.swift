// SPDX-License-Identifier: Apache-2.0

/// A message on `rmaker_claim` (`RMakerClaimPayload`): the steps of assisted claiming.
///
/// Four steps share two members, so the step is named beside the payload.
public struct ClaimPayload: WireMessage {
    /// A message's payload.
    public enum Payload: Sendable, Equatable {
        /// Data for the board.
        case command(PayloadBuffer)
        /// Data from the board.
        case response(PayloadResponse<ClaimStatus>)
    }

    /// The step of the claim.
    public var message: ClaimMessageType
    /// The message's payload; nil if it has none, or one that this version does not know.
    public var payload: Payload?

    public init() {
        message = .commandStart
        payload = nil
    }

    public init(_ message: ClaimMessageType, _ payload: Payload) {
        self.message = message
        self.payload = payload
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch (reader.field, payload) {
        case (1, _): message = try reader.enumeration(ClaimMessageType.self)
        case (10, .command(let earlier)?): payload = .command(try reader.member(earlier))
        case (10, _): payload = .command(try reader.member())
        case (11, .response(let earlier)?): payload = .response(try reader.member(earlier))
        case (11, _): payload = .response(try reader.member())
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.enumeration(message, field: 1)
        switch payload {
        case .command(let inner): writer.message(inner, field: 10)
        case .response(let inner): writer.message(inner, field: 11)
        case nil: break
        }
    }
}

/// `RMakerClaimMsgType`: a response is its command plus one.
public struct ClaimMessageType: WireEnum {
    public var rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// Begins a claim.
    public static let commandStart = ClaimMessageType(rawValue: 0)
    /// The board's description of itself, for the claim service.
    public static let responseStart = ClaimMessageType(rawValue: 1)
    /// The claim service's first reply, or a part of it.
    public static let commandInit = ClaimMessageType(rawValue: 2)
    /// The board's request for a certificate, or a part of it.
    public static let responseInit = ClaimMessageType(rawValue: 3)
    /// The claim service's second reply with the certificate, or a part of it.
    public static let commandVerify = ClaimMessageType(rawValue: 4)
    /// Whether the board has stored its certificate.
    public static let responseVerify = ClaimMessageType(rawValue: 5)
    /// Ends a claim that failed.
    public static let commandAbort = ClaimMessageType(rawValue: 6)
    /// The answer to ``commandAbort``.
    public static let responseAbort = ClaimMessageType(rawValue: 7)
}

/// `RMakerClaimStatus`.
public struct ClaimStatus: PayloadStatus {
    public var rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The board performed the step.
    public static let success = ClaimStatus(rawValue: 0)
    /// The board could not perform the step.
    public static let fail = ClaimStatus(rawValue: 1)
    /// The board does not accept the data.
    public static let invalidParameter = ClaimStatus(rawValue: 2)
    /// The step does not follow the previous one.
    public static let invalidState = ClaimStatus(rawValue: 3)
    /// The board has not enough memory.
    public static let noMemory = ClaimStatus(rawValue: 4)
}
