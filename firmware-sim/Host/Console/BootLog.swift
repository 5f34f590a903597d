// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// What an ESP32-C3 says from reset until its application waits: the ROM, the second stage, the application, the QR code.
///
/// The words are those of the sources: esp-rainmaker's `rmaker_app_network` (component 1.16), and `app_wifi` before August 2024; the wifi_prov
/// example of idf-extra-components; ESP-IDF 5.5's `bootloader_init.c`, `esp_app_desc.c`, `panic.c`, `brownout.c`. Colours are off from
/// ESP-IDF 5.4 on; here they are on, so that a client has to bear them.
struct BootLog {
    let style: BootLogOption
    let identity: BoardIdentity
    let qrCode: JSONValue
    let hasConsole: Bool
    let isSecurity2: Bool

    /// What comes at once after a reset.
    var rom: [UInt8] {
        switch style {
        case .silent: []
        case .unreadable: BootNoise.bytes
        case .download:
            Self.lines(Self.head("rst:0x1 (POWERON),boot:0x5 (DOWNLOAD(USB/UART0/1))") + ["waiting for download"])
        case .emptyFlash:
            Self.lines(
                Self.head("rst:0x7 (TG0WDT_SYS_RST),boot:0xc (SPI_FAST_FLASH_BOOT)")
                    + Array(repeating: "invalid header: 0xffffffff", count: 6))
        case .brownOut: Self.lines(Self.head("rst:0xf (BROWNOUT_RST),boot:0xc (SPI_FAST_FLASH_BOOT)") + Self.load)
        case .crashLoop: Self.lines(Self.head("rst:0x3 (RTC_SW_SYS_RST),boot:0xc (SPI_FAST_FLASH_BOOT)") + Self.load)
        default: Self.lines(Self.head("rst:0x1 (POWERON),boot:0xc (SPI_FAST_FLASH_BOOT)") + Self.load)
        }
    }

    /// What the boot loader and the application say then.
    func rest(_ log: BoardLog) -> [UInt8] {
        switch style {
        case .silent, .unreadable, .download, .emptyFlash: []
        case .noApplication:
            Self.lines(Self.secondStage)
                + log.line(.error, "esp_image", "image at 0x20000 has invalid magic byte (nothing flashed here?)")
                + log.line(.error, "boot", "Factory app partition is not bootable")
                + log.line(.error, "boot", "No bootable app partitions in the partition table")
        case .wrongChip:
            Self.lines(Self.secondStage) + log.line(.error, "boot_comm", "mismatch chip ID, expected 5, found 9")
        case .brownOut: Self.lines(Self.secondStage) + Array("E BOD: Brownout detector was triggered\r\n\r\n".utf8)
        case .crashLoop: Self.lines(Self.secondStage) + application(log) + Self.lines(Self.panic)
        default: Self.lines(Self.secondStage) + application(log) + service(log)
        }
    }

    private func application(_ log: BoardLog) -> [UInt8] {
        var text: [UInt8] = []
        func add(_ tag: String, _ line: String) { text += log.line(.info, tag, line) }
        add("cpu_start", "Unicore app")
        add("app_init", "Application information:")
        add("app_init", "Project name:     \(project)")
        add("app_init", "App version:      v1.0")
        add("app_init", "ESP-IDF:          v5.5.1")
        add("main_task", "Calling app_main()")
        if hasConsole {
            add("rmaker_console", "Initialising UART on port 0")
            for command in ["add-user", "get-node-id", "wifi-prov", "cmd", "sign-data"] {
                add("esp_rmaker_commands", "Registering command: \(command)")
            }
        }
        add("wifi", "mode : sta (7c:df:a1:00:00:01) + softAP (7c:df:a1:00:00:02)")
        if style != .wifiProv { add("esp_rmaker_node", "Node ID ----- \(identity.nodeID)") }
        return text
    }

    private var project: String {
        switch style {
        case .switch: "switch"
        case .wifiProv: "wifi_prov"
        default: "led_light"
        }
    }

    private func service(_ log: BoardLog) -> [UInt8] {
        var text: [UInt8] = []
        func add(_ tag: String, _ line: String) { text += log.line(.info, tag, line) }
        if style == .plain { return [] }
        if style == .provisioned {
            add("app_wifi", "Already provisioned, starting Wi-Fi STA")
            return text
        }
        let code = String(decoding: qrCode.serialized(), as: UTF8.self)
        let manager = style == .older || style == .wifiProv ? "wifi_prov_mgr" : "network_prov_mgr"
        if style != .older, style != .wifiProv {
            add("app_wifi", "Starting provisioning")
            if isSecurity2 { add("app_network", "Reusing cached sec2 salt-verifier from NVS") }
        }
        add(manager, "Provisioning started with service name : \(identity.name) ")
        switch style {
        case .older:
            let proof = identity.proofOfPossession
            add("app_wifi", "Provisioning Started. Name : \(identity.name), POP : \(proof.isEmpty ? "<null>" : proof)")
        case .wifiProv:
            add("app", "Scan this QR code from the provisioning application for Provisioning.")
            text += BootNoise.drawing
            add(
                "app",
                "If QR code is not visible, copy paste the below URL in a browser.\n" + Self.page(.wifiProv) + code)
        default:
            add("app_wifi", "Provisioning started")
            if style == .switch { add("app_main", "Provisioning QR : \(code)") }
            add("app_network", "Scan this QR code from the ESP RainMaker phone app for Provisioning.")
            text += BootNoise.drawing
            add(
                "app_network",
                "If QR code is not visible, copy paste the below URL in a browser.\n" + Self.page(style) + code)
            add("app_network", "Provisioning will auto stop after 30 minute(s).")
        }
        return text
    }

    private static func page(_ style: BootLogOption) -> String {
        style == .wifiProv
            ? "https://espressif.github.io/esp-jumpstart/qrcode.html?data="
            : "https://rainmaker.espressif.com/qrcode.html?data="
    }

    private static func lines(_ lines: [String]) -> [UInt8] { Array(lines.map { $0 + "\r\n" }.joined().utf8) }

    private static func head(_ reset: String) -> [String] {
        ["ESP-ROM:esp32c3-api1-20210207", "Build:Feb  7 2021", reset]
    }

    private static let load = [
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

    private static let panic = [
        "Guru Meditation Error: Core  0 panic'ed (Load access fault). Exception was unhandled.", "",
        "Core  0 register dump:",
        "MEPC    : 0x42007a3e  RA      : 0x42007a30  SP      : 0x3fc98f10  GP      : 0x3fc8f800  ",
        "TP      : 0x3fc99000  T0      : 0x40056f68  T1      : 0x00000000  T2      : 0x00000000  ", "",
        "ELF file SHA256: 6f0c1d2e3", "", "Rebooting...",
    ]
}

/// What is no line of text in a boot log.
enum BootNoise {
    /// 115,200 baud read at another speed: the same bytes each time.
    static let bytes = (0..<2048).map { index -> UInt8 in
        index % 61 == 60 ? 0x0A : UInt8(truncatingIfNeeded: 0x80 | (index &* 37 &+ index / 7))
    }

    /// Two rows in the characters in which firmware draws a QR code (`esp_qrcode`).
    static let drawing = Array(
        "  \u{2588}\u{2580}\u{2580}\u{2588} \u{2584}\u{2580}\u{2588}\u{2580}\u{2584} \u{2588}\u{2580}\u{2580}\u{2588}  \r\n"
            .utf8)
}
