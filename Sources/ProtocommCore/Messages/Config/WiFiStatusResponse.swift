// SPDX-License-Identifier: Apache-2.0

/// Where the board's attempt to join a network stands.
///
/// A board reports ``WiFiStationState/connecting`` before any attempt, and after a reset it repeats the failure of the
/// attempt before until new credentials are applied.
public struct WiFiStatusResponse: WireMessage {
    /// What belongs to the state.
    public enum Detail: Sendable, Equatable {
        /// Why the board could not join.
        case failed(WiFiConnectFailure)
        /// The network, where the board has joined it.
        case connected(WiFiConnection)
        /// One attempt failed, and the board goes on.
        case attemptFailed(WiFiAttemptFailed)
    }

    /// Whether the board could say.
    public var status: Status
    /// How far the board has come.
    public var state: WiFiStationState
    /// What belongs to the state, where there is anything.
    public var detail: Detail?

    public init() { self.init(state: WiFiStationState(rawValue: 0)) }

    public init(status: Status = .success, state: WiFiStationState, detail: Detail? = nil) {
        self.status = status
        self.state = state
        self.detail = detail
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch (reader.field, detail) {
        case (1, _): status = try reader.enumeration(Status.self)
        case (2, _): state = try reader.enumeration(WiFiStationState.self)
        case (10, _): detail = .failed(try reader.enumeration(WiFiConnectFailure.self))
        case (11, .connected(let earlier)?): detail = .connected(try reader.member(earlier))
        case (11, _): detail = .connected(try reader.member())
        case (12, .attemptFailed(let earlier)?): detail = .attemptFailed(try reader.member(earlier))
        case (12, _): detail = .attemptFailed(try reader.member())
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.enumeration(status, field: 1)
        writer.enumeration(state, field: 2)
        switch detail {
        case .failed(let reason): writer.int32InOneof(reason.rawValue, field: 10)
        case .connected(let inner): writer.message(inner, field: 11)
        case .attemptFailed(let inner): writer.message(inner, field: 12)
        case nil: break
        }
    }
}

/// `WifiStationState`.
public struct WiFiStationState: WireEnum {
    public var rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The board has joined its network.
    public static let connected = WiFiStationState(rawValue: 0)
    /// The board tries to join, or has not begun.
    public static let connecting = WiFiStationState(rawValue: 1)
    /// Never sent by current firmware.
    public static let disconnected = WiFiStationState(rawValue: 2)
    /// The board could not join; the detail says why.
    public static let connectionFailed = WiFiStationState(rawValue: 3)
}

/// `WifiConnectFailedReason`.
public struct WiFiConnectFailure: WireEnum {
    public var rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The access point did not take the password.
    public static let authenticationError = WiFiConnectFailure(rawValue: 0)
    /// No such network is in reach.
    public static let networkNotFound = WiFiConnectFailure(rawValue: 1)
}
