// SPDX-License-Identifier: Apache-2.0

/// The Thread network that the board is to join.
public struct SetThreadConfigCommand: WireMessage {
    /// The active operational dataset as TLVs, up to 254 bytes.
    public var dataset: [UInt8]

    public init() { self.init(dataset: []) }

    public init(dataset: [UInt8] = []) {
        self.dataset = dataset
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: dataset = try reader.byteString()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.byteString(dataset, field: 1)
    }
}

/// The Thread network that the board is attached to (`ThreadAttachState`).
public struct ThreadAttachment: WireMessage {
    /// 16 bits.
    public var panID: UInt32
    /// 8 bytes.
    public var extendedPANID: [UInt8]
    /// The radio channel.
    public var channel: UInt32
    /// UTF-8.
    public var name: [UInt8]

    public init() { self.init(panID: 0) }

    public init(panID: UInt32 = 0, extendedPANID: [UInt8] = [], channel: UInt32 = 0, name: [UInt8] = []) {
        self.panID = panID
        self.extendedPANID = extendedPANID
        self.channel = channel
        self.name = name
    }

    public mutating func mergeField(from reader: inout WireReader) throws(WireError) {
        switch reader.field {
        case 1: panID = try reader.uint32()
        case 2: extendedPANID = try reader.byteString()
        case 3: channel = try reader.uint32()
        case 4: name = try reader.byteString()
        default: try reader.skip()
        }
    }

    public func encode(into writer: inout WireWriter) {
        writer.uint32(panID, field: 1)
        writer.byteString(extendedPANID, field: 2)
        writer.uint32(channel, field: 3)
        writer.byteString(name, field: 4)
    }
}
