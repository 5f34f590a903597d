// SPDX-License-Identifier: Apache-2.0

/// The partition table of an ESP chip, as it lies in its flash.
///
/// Source: ESP-IDF's `esp_flash_partitions.h`: rows of 32 bytes (`AA 50`, type, subtype, offset, size, a label of 16 bytes, flags), then a
/// row `EB EB` with an MD5 checksum, then bytes FF.
public struct PartitionTable: Sendable, Equatable {
    /// One part of the flash.
    public struct Partition: Sendable, Equatable {
        /// Its name.
        public var label: String
        /// 0 for applications, 1 for data.
        public var type: UInt8
        /// What kind of data or application: 2 for key-value pairs.
        public var subtype: UInt8
        /// Where it begins in the flash, in bytes.
        public var offset: UInt32
        /// Its length in bytes.
        public var size: UInt32

        public init(label: String, type: UInt8, subtype: UInt8, offset: UInt32, size: UInt32) {
            self.label = label
            self.type = type
            self.subtype = subtype
            self.offset = offset
            self.size = size
        }

        /// Whether it holds key-value pairs (`nvs`, which is data of subtype 2).
        public var isKeyValue: Bool { type == 1 && subtype == 2 }
    }

    /// In the order of the table.
    public var partitions: [Partition]

    /// Where ESP-IDF puts the table unless it is told otherwise.
    public static let defaultOffset: UInt32 = 0x8000
    /// How many bytes are kept for it.
    public static let length = 0xC00

    /// Reads a table; nil for bytes that hold none, such as erased flash or one that is encrypted.
    public init?(_ bytes: [UInt8]) {
        partitions = []
        var rest = bytes.prefix(Self.length)[...]
        while rest.count >= 32 {
            let row = Array(rest.prefix(32))
            rest = rest.dropFirst(32)
            guard row[0] == 0xAA, row[1] == 0x50 else { break }
            func number(_ offset: Int) -> UInt32 {
                (0..<4).reduce(0) { $0 | UInt32(row[offset + $1]) << (8 * UInt32($1)) }
            }
            partitions.append(
                Partition(
                    label: String(decoding: row[12..<28].prefix { $0 != 0 }, as: UTF8.self), type: row[2],
                    subtype: row[3], offset: number(4), size: number(8)))
        }
        if partitions.isEmpty { return nil }
    }

    /// The partition where firmware of RainMaker looks for its credentials (`CONFIG_ESP_RMAKER_FACTORY_PARTITION_NAME`).
    public static let factoryLabel = "fctry"

    /// That partition; nil where the table has none that could hold them.
    public var factory: Partition? { partitions.first { $0.label == Self.factoryLabel && $0.isKeyValue } }
}
