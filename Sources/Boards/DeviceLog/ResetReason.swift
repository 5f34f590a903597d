// SPDX-License-Identifier: Apache-2.0

/// Why the chip started, as its ROM says: `rst:0x1 (POWERON),boot:0xc (SPI_FAST_FLASH_BOOT)`.
///
/// The numbers behind `rst:` mean the same on all chips that print them (`esp_rom/…/rom/rtc.h`). The strapping bits do not, so the words
/// behind them decide.
public struct ResetReason: Sendable, Equatable {
    /// The number behind `rst:`.
    public var number: Int
    /// The strapping pins behind `boot:`; nil if the line does not show them.
    public var straps: Int?
    /// The ROM's word for the strapping pins, such as `SPI_FAST_FLASH_BOOT`; nil if the line has none, or not all of it.
    public var mode: String?

    public init(number: Int, straps: Int?, mode: String? = nil) {
        self.number = number
        self.straps = straps
        self.mode = mode
    }

    /// - Parameter line: nil unless it begins as the ROM's line does.
    public init?(_ line: String) {
        guard let rest = line.after("rst:0x"), let number = Self.hexadecimal(rest) else { return nil }
        self.number = number
        guard let boot = line.behind(",boot:0x") else { return }
        straps = Self.hexadecimal(boot)
        // The word may have brackets of its own: `(DOWNLOAD(USB/UART0/1))`.
        guard let word = boot.behind("("), word.utf8.last == UInt8(ascii: ")") else { return }
        mode = String(word.dropLast().prefix(64))
    }

    /// Whether the ROM waits for new firmware and starts none, because the BOOT button was held or its pin is low.
    ///
    /// - Parameter chip: decides which bit is the BOOT button's, for a line without a word. Nil if it is not known: then nothing is decided.
    public func isDownload(on chip: Chip?) -> Bool {
        // `DOWNLOAD(USB/UART0/1)`, `DOWNLOAD_BOOT(UART0/…)`, `SPI_DOWNLOAD_BOOT`, `UART_BOOT(SDIO)`, `SDIO_REI_FEO_V1_BOOT`.
        if let mode {
            return mode.behind("DOWNLOAD") != nil || mode.after("UART_BOOT") != nil || mode.after("SDIO_") != nil
        }
        guard let chip, let straps else { return false }
        return straps & chip.bootButton == 0
    }

    /// Whether a watchdog restarted the chip.
    var isWatchdog: Bool {
        switch number {
        case 0x7, 0x8, 0x9, 0xB, 0xD, 0x10, 0x11: true
        default: false
        }
    }

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
}
