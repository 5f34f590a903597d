// SPDX-License-Identifier: Apache-2.0

/// A fragment of a longer text, and its place in the text (`PayloadBuf`).
public struct PayloadBuffer: WireMessage {
    /// The fragment's offset in the text, in bytes.
    public var offset: UInt32
    /// The fragment.
    public var payload: [UInt8]
    /// The length of the whole text, in bytes.
    public var totalLength: UInt32

    public init() { self.init(offset: 0) }

    public init(offset: UInt32 = 0, payload: [UInt8] = [], totalLength: UInt32 = 0) {
        self.offset = offset
        self.payload = payload
        self.totalLength = totalLength
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: offset = try reader.uint32()
        case 2: payload = try reader.byteString()
        case 3: totalLength = try reader.uint32()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.uint32(offset, field: 1)
        writer.byteString(payload, field: 2)
        writer.uint32(totalLength, field: 3)
    }
}

/// A fragment with a result. Firmware always sends ``buffer``, possibly empty.
public struct PayloadResponse<Verdict: PayloadStatus>: WireMessage {
    /// Whether the request was carried out.
    public var status: Verdict
    /// The fragment.
    public var buffer: PayloadBuffer?

    public init() { self.init(status: .success, buffer: nil) }

    public init(status: Verdict = .success, buffer: PayloadBuffer? = PayloadBuffer()) {
        self.status = status
        self.buffer = buffer
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: status = try reader.enumeration(Verdict.self)
        case 2: buffer = try reader.member(buffer ?? PayloadBuffer())
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.enumeration(status, field: 1)
        if let buffer { writer.message(buffer, field: 2) }
    }
}

/// The result in a ``PayloadResponse``. The two schemas that use one have different numbers for it.
public protocol PayloadStatus: WireEnum {
    /// The request was carried out.
    static var success: Self { get }
}
