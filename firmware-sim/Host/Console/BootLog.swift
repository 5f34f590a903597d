// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// What an ESP32-C3 says from reset until its application waits: the ROM, the second stage, the application, the QR code.
enum BootLog {
    static func text(identity: BoardIdentity, qrCode: JSONValue, dialect: ConsoleDialect, log: BoardLog) -> [UInt8] {
        let qrCode = String(decoding: qrCode.serialized(), as: UTF8.self)
        var text = Array((rom + secondStage).joined(separator: "\r\n").utf8) + ConsoleText.lineEnd
        func add(_ tag: String, _ line: String) { text += log.line(.info, tag, line) }
        add("cpu_start", "Unicore app")
        add("app_init", "Application information:")
        add("app_init", "Project name:     led_light")
        add("main_task", "Calling app_main()")
        if dialect == .rainmaker {
            add("rmaker_console", "Initialising UART on port 0")
            for command in ["add-user", "get-node-id", "wifi-prov", "cmd", "sign-data"] {
                add("esp_rmaker_commands", "Registering command: \(command)")
            }
        }
        add("wifi", "mode : sta (7c:df:a1:00:00:01) + softAP (7c:df:a1:00:00:02)")
        add("esp_rmaker_core", "Node ID ----- \(identity.nodeID)")
        add("network_prov_mgr", "Provisioning started with service name : \(identity.name) ")
        add("app_network", "Provisioning started")
        add("app_main", "Provisioning QR : \(qrCode)")
        add(
            "app_network",
            "If QR code is not visible, copy paste the below URL in a browser.\n"
                + "https://rainmaker.espressif.com/qrcode.html?data=\(qrCode)")
        return text
    }

    private static let rom = [
        "ESP-ROM:esp32c3-api1-20210207", "Build:Feb  7 2021", "rst:0x1 (POWERON),boot:0xc (SPI_FAST_FLASH_BOOT)",
        "SPIWP:0xee", "mode:DIO, clock div:1", "load:0x3fcd5820,len:0x1714", "load:0x403cc710,len:0x968",
        "load:0x403ce710,len:0x2f68", "entry 0x403cc710",
    ]

    private static let secondStage = [
        "\u{1B}[0;32mI (24) boot: ESP-IDF v5.5.1 2nd stage bootloader\u{1B}[0m",
        "\u{1B}[0;32mI (24) boot: compile time Nov 20 2026 10:00:00\u{1B}[0m",
        "\u{1B}[0;32mI (25) boot: chip revision: v0.4\u{1B}[0m",
        "\u{1B}[0;32mI (28) boot.esp32c3: SPI Speed      : 80MHz\u{1B}[0m",
        "\u{1B}[0;32mI (41) boot: Partition Table:\u{1B}[0m",
        "\u{1B}[0;32mI (79) boot:  4 fctry            WiFi data        01 02 00340000 00006000\u{1B}[0m",
        "\u{1B}[0;32mI (286) boot: Loaded app from partition at offset 0x20000\u{1B}[0m",
    ]
}
