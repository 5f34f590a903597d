// SPDX-License-Identifier: Apache-2.0

/// The partition table of an ESP chip, in the format of its flash.
///
/// Source: ESP-IDF's `esp_flash_partitions.h`. The table has rows of 32 bytes: `AA 50`, type, subtype, offset, size, a label of 16 bytes,
/// flags. Then a row `EB EB` with an MD5 checksum follows, and bytes FF.
public struct PartitionTable: Sendable, Equatable {
    /// One partition of the flash.
    public struct Partition: Sendable, Equatable {
        /// Its name.
        public var label: String
        /// 0 for applications, 1 for data.
        public var type: UInt8
        /// The kind of data or application: 2 for key-value pairs.
        public var subtype: UInt8
        /// The offset in the flash, in bytes.
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

    /// The partitions, in the order of the table.
    public var partitions: [Partition]

    /// The offset at which ESP-IDF puts the table by default.
    public static let defaultOffset: UInt32 = 0x8000
    /// The number of bytes that are reserved for the table.
    public static let length = 0xC00

    /// Reads a table. Returns nil for bytes without a table, such as erased or encrypted flash.
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

    /// The name of the partition with RainMaker's credentials (`CONFIG_ESP_RMAKER_FACTORY_PARTITION_NAME`).
    public static let factoryLabel = "fctry"

    /// The partition for the credentials; nil if no partition can hold them.
    public var factory: Partition? { partitions.first { $0.label == Self.factoryLabel && $0.isKeyValue } }
}
