// SPDX-License-Identifier: Apache-2.0
import RainMaker
import Testing

@testable import RainKit

@Suite("An image of a whole flash")
struct MergedImageTests {
    /// A flash with a partition table, as `esptool merge_bin` writes it.
    private static func flash(start: [UInt8], table: Int) -> [UInt8] {
        var bytes = start + [UInt8](repeating: 0xFF, count: 0x11000 - start.count)
        bytes.replaceSubrange(table..<table + 2, with: [0xAA, 0x50])
        return bytes
    }

    static let flashes: [(first: UInt8, table: Int)] = [(0xE9, 0x8000), (0xFF, 0x8000), (0xE9, 0x10000)]

    @Test("is named as one, with the boot loader at its start or behind erased flash", arguments: flashes)
    func merged(first: UInt8, table: Int) {
        let bytes = Self.flash(start: [first], table: table)
        let failure = #expect(throws: FirmwareImage.Failure.self) { try FirmwareImage(bytes) }
        #expect(
            failure?.problem(bytes).hasPrefix("is a merged image (boot loader, partition table and application)")
                == true)
    }

    @Test("other bytes are not named as one", arguments: [UInt8(0xE9), 0xFF])
    func other(first: UInt8) {
        let bytes = [first] + [UInt8](repeating: 0xFF, count: 0x11000)
        let failure = #expect(throws: FirmwareImage.Failure.self) { try FirmwareImage(bytes) }
        #expect(failure?.problem(bytes).hasPrefix("is not the image of an application") == true)
    }
}
