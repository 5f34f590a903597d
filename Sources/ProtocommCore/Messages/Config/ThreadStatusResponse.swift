// SPDX-License-Identifier: Apache-2.0

/// Where the board's attempt to join a Thread network stands.
public struct ThreadStatusResponse: WireMessage {
    /// What belongs to the state.
    public enum Detail: Sendable, Equatable {
        /// Why the board could not attach.
        case failed(ThreadAttachFailure)
        /// The network, where the board is attached.
        case attached(ThreadAttachment)
    }

    /// Whether the board could say.
    public var status: Status
    /// How far the board has come.
    public var state: ThreadNetworkState
    /// What belongs to the state, where there is anything.
    public var detail: Detail?

    public init() { self.init(state: ThreadNetworkState(rawValue: 0)) }

    public init(status: Status = .success, state: ThreadNetworkState, detail: Detail? = nil) {
        self.status = status
        self.state = state
        self.detail = detail
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch (reader.field, detail) {
        case (1, _): status = try reader.enumeration(Status.self)
        case (2, _): state = try reader.enumeration(ThreadNetworkState.self)
        case (10, _): detail = .failed(try reader.enumeration(ThreadAttachFailure.self))
        case (11, .attached(let earlier)?): detail = .attached(try reader.member(earlier))
        case (11, _): detail = .attached(try reader.member())
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.enumeration(status, field: 1)
        writer.enumeration(state, field: 2)
        switch detail {
        case .failed(let reason): writer.int32InOneof(reason.rawValue, field: 10)
        case .attached(let inner): writer.message(inner, field: 11)
        case nil: break
        }
    }
}

/// `ThreadNetworkState`.
public struct ThreadNetworkState: WireEnum {
    public var rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The board is attached.
    public static let attached = ThreadNetworkState(rawValue: 0)
    /// The board tries to attach.
    public static let attaching = ThreadNetworkState(rawValue: 1)
    /// The board is not attached.
    public static let detached = ThreadNetworkState(rawValue: 2)
    /// The board could not attach; the detail says why.
    public static let attachingFailed = ThreadNetworkState(rawValue: 3)
}

/// `ThreadAttachFailedReason`.
public struct ThreadAttachFailure: WireEnum {
    public var rawValue: Int32
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// The operational dataset is not one.
    public static let datasetInvalid = ThreadAttachFailure(rawValue: 0)
    /// No such network is in reach.
    public static let networkNotFound = ThreadAttachFailure(rawValue: 1)
}
