// SPDX-License-Identifier: Apache-2.0

/// How far a scan has got. `isFinished` is true before any scan, too.
public struct ScanStatusResponse: WireMessage {
    /// Whether no scan goes on.
    public var isFinished: Bool
    /// Results that can be asked for already.
    public var resultCount: UInt32

    public init() { self.init(isFinished: false) }

    public init(isFinished: Bool = false, resultCount: UInt32 = 0) {
        self.isFinished = isFinished
        self.resultCount = resultCount
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: isFinished = try reader.bool()
        case 2: resultCount = try reader.uint32()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.bool(isFinished, field: 1)
        writer.uint32(resultCount, field: 2)
    }
}

/// Asks for a page of the results. Asking beyond the results' end makes a board drop the connection.
public struct ScanResultCommand: WireMessage {
    public var startIndex: UInt32
    /// How many results the page holds at most.
    public var count: UInt32

    public init() { self.init(startIndex: 0) }

    public init(startIndex: UInt32 = 0, count: UInt32 = 0) {
        self.startIndex = startIndex
        self.count = count
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: startIndex = try reader.uint32()
        case 2: count = try reader.uint32()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.uint32(startIndex, field: 1)
        writer.uint32(count, field: 2)
    }
}
