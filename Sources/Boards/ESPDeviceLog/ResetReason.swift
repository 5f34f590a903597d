// SPDX-License-Identifier: Apache-2.0

/// Why the chip started, as its ROM says: `rst:0x1 (POWERON),boot:0xc (SPI_FAST_FLASH_BOOT)`.
///
/// The numbers are those of an ESP32-C3 (`esp_rom/esp32c3/include/esp32c3/rom/rtc.h`); the words behind them differ between chips and are
/// not read.
public struct ResetReason: Sendable, Equatable {
    /// The number behind `rst:`.
    public var number: Int
    /// The strapping pins behind `boot:`.
    public var straps: Int

    public init(number: Int, straps: Int) {
        self.number = number
        self.straps = straps
    }

    /// - Parameter line: nil unless it begins as the ROM's line does.
    public init?(_ line: String) {
        guard line.hasPrefix("rst:0x"), let number = Self.hexadecimal(line.dropFirst(6)) else { return nil }
        self.number = number
        let boot = Self.range(of: ",boot:0x", in: line).flatMap { Self.hexadecimal(line[$0...]) }
        straps = boot ?? 0x8
    }

    /// Whether the ROM waits for a new firmware over the cable, and starts none: the BOOT button was held, or GPIO9 is low.
    public var isDownload: Bool { straps & 0x8 == 0 }

    /// In plain words.
    public var words: String {
        switch number {
        case 0x1: "power on, or the reset button"
        case 0x3, 0xC: "restarted by its software"
        case 0x5: "woke from deep sleep"
        case 0x7, 0x8, 0xB, 0x11: "a watchdog found its software stuck"
        case 0x9, 0xD, 0x10: "a watchdog found that it did not start"
        case 0xF: "its supply voltage fell"
        case 0x12, 0x13, 0x17: "its power or clock was disturbed"
        case 0x14: "its eFuses are damaged"
        case 0x15: "reset over its USB port"
        case 0x16: "reset by a debugger"
        default: "reset, for reason \(number)"
        }
    }

    private static func hexadecimal(_ text: Substring) -> Int? {
        Int(text.prefix { $0.isHexDigit }.prefix(8), radix: 16)
    }

    private static func range(of mark: String, in line: String) -> String.Index? {
        var rest = line[...]
        while !rest.isEmpty {
            if rest.hasPrefix(mark) { return rest.index(rest.startIndex, offsetBy: mark.count) }
            rest = rest.dropFirst()
        }
        return nil
    }
}
