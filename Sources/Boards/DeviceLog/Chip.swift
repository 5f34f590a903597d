// SPDX-License-Identifier: Apache-2.0

/// A chip of the ESP32 family by the name in its ROM's log, such as `esp32c3`, with the differences that decide what a boot log means.
public struct Chip: Sendable, Hashable {
    /// As the ROM prints it, such as `esp32c3`.
    public let name: String

    public init(_ name: String) { self.name = name }

    /// As its maker writes it, such as `ESP32-C3`.
    public var title: String {
        let family = "esp32"
        guard let rest = name.after(family), !rest.isEmpty else { return name.uppercased() }
        return "ESP32-\(rest.uppercased())"
    }

    /// Where the ROM looks for the boot loader in the flash (esptool's `BOOTLOADER_FLASH_OFFSET`); nil for a chip that is not known here.
    public var bootLoaderOffset: String? {
        switch name {
        case "esp32", "esp32s2": "0x1000"
        case "esp32c2", "esp32c3", "esp32s3", "esp32c6", "esp32c61", "esp32h2": "0x0"
        case "esp32c5", "esp32p4": "0x2000"
        default: nil
        }
    }

    /// The bit behind `boot:` that is clear while the BOOT button is held: GPIO0 on an ESP32, and bit 3 on all later chips (esptool's
    /// boot-mode-selection.rst).
    var bootButton: Int { name == "esp32" ? 0x10 : 0x08 }

    /// The chip that a ROM's first line names: `ESP-ROM:esp32c3-api1-20210207`, and on an ESP32, whose ROM does not name itself,
    /// `ets Jul 29 2019 12:21:46`.
    init?(firstLine line: String) {
        if let rest = line.after("ESP-ROM:") {
            self.init(rest.split(separator: "-").first.map { String($0.prefix(16)) } ?? "")
            return
        }
        guard let rest = line.after("ets ") else { return nil }
        let words = rest.split(separator: " ")
        // An ESP8266 goes on in the same line, `…2013,rst cause:2, boot mode:(3,6)`.
        guard words.count == 4, words[0].utf8.count == 3, words[3].split(separator: ":").count == 3 else { return nil }
        self.init("esp32")
    }
}
