// SPDX-License-Identifier: Apache-2.0
import RainMaker
import TestSupport
import Testing

@Suite("Partition tables")
struct PartitionTableTests {
    typealias Partition = PartitionTable.Partition

    private static let partitions = [
        Partition(label: "nvs", type: 1, subtype: 2, offset: 0x9000, size: 0x6000),
        Partition(label: "ota_0", type: 0, subtype: 0x10, offset: 0x2_0000, size: 0x19_0000),
        Partition(label: "fctry", type: 1, subtype: 2, offset: 0x34_0000, size: 0x6000),
    ]
    /// The form that `gen_esp32part.py` writes, with the checksum's row at the end.
    private static let table: [UInt8] =
        partitions.flatMap(row) + [0xEB, 0xEB] + [UInt8](repeating: 0xFF, count: PartitionTable.length - 98)

    private static func row(_ partition: Partition) -> [UInt8] {
        func bytes(_ number: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
        let label = Array(partition.label.utf8) + [UInt8](repeating: 0, count: 16 - partition.label.utf8.count)
        return [0xAA, 0x50, partition.type, partition.subtype] + bytes(partition.offset) + bytes(partition.size) + label
            + bytes(0)
    }

    @Test("are read to the row of the checksum")
    func read() throws {
        let table = try #require(PartitionTable(Self.table))
        #expect(table.partitions == Self.partitions)
        #expect(table.factory == Self.partitions[2])
    }

    @Test("that are truncated have only their complete rows")
    func truncated() {
        for count in 0..<Self.table.count {
            let rows = min(count / 32, 3)
            #expect(PartitionTable(Array(Self.table.prefix(count)))?.partitions.count ?? 0 == rows, "\(count)")
        }
    }

    @Test("are not found in erased, encrypted or other bytes")
    func none() {
        #expect(PartitionTable([UInt8](repeating: 0xFF, count: PartitionTable.length)) == nil)
        #expect(PartitionTable([0xE9] + [UInt8](repeating: 0x5A, count: 200)) == nil)
        var random = SeededGenerator(seed: 7)
        for _ in 0..<200 {
            let bytes = (0..<Int.random(in: 0...200, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            if !bytes.starts(with: [0xAA, 0x50]) { #expect(PartitionTable(bytes) == nil) }
        }
    }

    @Test("have a factory partition only if it holds key-value pairs")
    func factory() {
        let application = Partition(label: "fctry", type: 0, subtype: 2, offset: 0x1_0000, size: 0x6000)
        #expect(PartitionTable(Self.row(application))?.factory == nil)
        #expect(PartitionTable(Self.row(Self.partitions[0]))?.factory == nil)
    }

    @Test("are bounded: bytes after the table's place are not read")
    func bound() {
        let rows = [UInt8]((0..<200).flatMap { _ in Self.row(Self.partitions[0]) })
        #expect(PartitionTable(rows)?.partitions.count == PartitionTable.length / 32)
    }
}
