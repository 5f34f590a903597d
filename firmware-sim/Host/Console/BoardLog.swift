// SPDX-License-Identifier: Apache-2.0
import DeviceCore
import ProtocommCore
import RainCrypto
import RainJSON

/// The board's own log as the UART carries it: `I (ms) tag: text`, in colours.
struct BoardLog {
    enum Level { case info, warning, error }

    /// When the board was switched on.
    var bootTime: UInt64

    var uptime: UInt64 { MonotonicClock.now - min(bootTime, MonotonicClock.now) + 312 }

    func line(_ level: Level, _ tag: String, _ text: String) -> [UInt8] {
        let (letter, colour) =
            switch level {
            case .info: ("I", 32)
            case .warning: ("W", 33)
            case .error: ("E", 31)
            }
        let text = text.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")
        return Array("\u{1B}[0;\(colour)m\(letter) (\(uptime)) \(tag): \(text)\u{1B}[0m\r\n".utf8)
    }

    /// Returns the firmware's log lines for an event. The passphrase, which real firmware does print, is left out.
    func lines(for event: DeviceEvent, address: String) -> [UInt8] {
        func manager(_ level: Level, _ text: String) -> [UInt8] { line(level, "network_prov_mgr", text) }
        // Two files of one application, each with its own tag.
        func application(_ level: Level, _ text: String) -> [UInt8] { line(level, "app_wifi", text) }
        func network(_ level: Level, _ text: String) -> [UInt8] { line(level, "app_network", text) }
        func lost(_ reason: DisconnectReason) -> [UInt8] {
            manager(.error, "STA Disconnected") + manager(.error, "Disconnect reason : \(reason.rawValue)")
        }
        switch event {
        case .sessionOpened, .scanStarted, .scanFinished, .challengeSigned, .serviceStopping: return []
        case .sessionEstablished: return network(.info, "Secured session established!")
        case .wrongProof:
            return network(.error, "Received incorrect username and/or PoP for establishing secure session!")
        case .credentialsReceived(let ssid):
            return application(
                .info, "Received Wi-Fi credentials\n\tSSID     : \(String(decoding: ssid, as: UTF8.self))")
        // A manager that counts the attempts does not log them. One that does not count retries for ever, and logs the reason each time.
        case .attemptFailed(let reason, let remaining): return remaining > 0 ? [] : lost(reason)
        case .disconnected(let reason):
            return line(.info, "wifi", "state: run -> init (\(reason.rawValue))")
                + application(.info, "Disconnected. Connecting to the AP again...")
        case .joinFailed(let reason, let failure):
            let verdict = reason.failure.map {
                manager(.error, $0 == .networkNotFound ? "STA AP Not found" : "STA Auth Error")
            }
            // If the manager has no failure for this reason, the application gets the manager's previous failure.
            let told = failure == .networkNotFound ? "access-point not found" : "station authentication failed"
            return lost(reason) + (verdict ?? [])
                + application(
                    .error,
                    """
                    Provisioning failed!
                    \tReason : Wi-Fi \(told)
                    \tPlease reset to factory and retry provisioning
                    """)
        case .resetAfterFailure:
            return application(
                .info, "Failed to connect with provisioned AP, reseting provisioned credentials")
        case .joined(let ssid, let channel):
            let name = String(decoding: ssid, as: UTF8.self)
            let gateway = address.split(separator: ".").dropLast().joined(separator: ".") + ".1"
            return line(.info, "wifi", "connected with \(name), aid = 1, channel \(channel), BW20")
                + line(.info, "esp_netif_handlers", "sta ip: \(address), mask: 255.255.255.0, gw: \(gateway)")
                + manager(.info, "STA Got IP") + network(.info, "Connected with IP Address:\(address)")
                + application(.info, "Provisioning successful")
        case .customDataReceived(let data): return line(.info, "app", "Received \(data.count) bytes of custom data")
        case .parametersReceived: return line(.info, "esp_rmaker_prov_local_ctrl", "Set params handler invoked")
        case .userMappingReceived: return line(.info, "esp_rmaker_user_mapping", "User Node mapping data received.")
        case .claimStarted: return line(.info, "esp_claim", "Assisted Claiming Started.")
        case .certificateRequested: return []
        case .claimed: return line(.info, "esp_claim", "Assisted Claiming was Successful.")
        case .claimAborted: return line(.warning, "esp_claim", "Assisted Claiming Aborted.")
        case .claimRefused(let status):
            return line(.error, "esp_claim", "Claim step refused with status \(status.rawValue).")
        case .claimOver:
            return line(
                .error, "esp_claim", "Claim data cannot be NULL. Cannot proceed with Assisted Claiming.")
        case .rebooted: return Array("ESP-ROM:esp32c3-api1-20210207\r\nrst:0xc (RTC_SW_CPU_RST)\r\n".utf8)
        // From core/esp_rmaker_on_network_chal_resp.c of esp-rainmaker.
        case .onNetworkStarted:
            return line(.info, "on_network_chal_resp", "On-network challenge-response service started successfully")
        case .onNetworkProofRefused: return []
        case .onNetworkDisabled:
            return line(.info, "on_network_chal_resp", "Disabling challenge-response for on-network service")
                + line(.info, "on_network_chal_resp", "Service stop scheduled in 2000 ms")
        // From core/esp_rmaker_local_ctrl.c.
        case .localControlStarted:
            return line(.info, "esp_rmaker_local", "Local Control Service Enabled")
        case .onNetworkStopped:
            return line(.info, "on_network_chal_resp", "On-network challenge-response service stopped")
        case .serviceStopped:
            return manager(.info, "Provisioning stopped") + network(.info, "Provisioning ended")
        }
    }
}

/// The output of an ESP32-C3 from reset until its application waits: the ROM, the second stage, the application, the QR code.
///
/// The texts are those of the sources: esp-rainmaker's `rmaker_app_network` (component 1.16), and `app_wifi` before August 2024; the
/// wifi_prov example of idf-extra-components; ESP-IDF 5.5's `bootloader_init.c`, `esp_app_desc.c`, `panic.c`, `brownout.c`. Colours are off
/// from ESP-IDF 5.4 on. Here they are on, so that clients have to handle them.
struct BootLog {
    let style: BootLogOption
    let identity: BoardIdentity
    let qrCode: JSONValue
    let hasConsole: Bool
    let isSecurity2: Bool

    /// The output right after a reset.
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

    /// Returns the later output of the boot loader and the application.
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
        add(
            "wifi",
            "mode : sta (\(identity.stationAddress.lowercased())) + softAP (\(identity.accessPointAddress.lowercased()))"
        )
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

/// Bytes in a boot log that are not lines of text.
private enum BootNoise {
    /// 115,200 baud read at another speed: the same bytes each time.
    static let bytes = (0..<2048).map { index -> UInt8 in
        index % 61 == 60 ? 0x0A : UInt8(truncatingIfNeeded: 0x80 | (index &* 37 &+ index / 7))
    }

    /// Two rows in the characters with which firmware draws a QR code (`esp_qrcode`).
    static let drawing = Array(
        "  \u{2588}\u{2580}\u{2580}\u{2588} \u{2584}\u{2580}\u{2588}\u{2580}\u{2584} \u{2588}\u{2580}\u{2580}\u{2588}  \r\n"
            .utf8)
}

/// Log lines unrelated to requests, where a real board's other tasks would write them.
struct LogNoise {
    private let place: ConsoleNoise
    /// Lines per second, instead of one every two seconds; 0 for that default.
    private let storm: Int
    private var random: BoardRandom
    /// Storms up to this number of lines a second have a pause after each line.
    private static let linesOfTheirOwn = 1000
    private var lastBurst: UInt64?

    init(_ place: ConsoleNoise, storm: Int = 0, random: BoardRandom) {
        self.place = place
        self.storm = storm
        self.random = random
    }

    /// Returns randomness for other uses that is independent of this one's.
    mutating func fork() -> BoardRandom { random.fork() }

    /// Returns one or two lines, or none in two cases of three.
    mutating func lines(_ log: BoardLog) -> [UInt8] {
        guard place != .none else { return [] }
        return switch random.number() % 6 {
        case 0: line(log)
        case 1: line(log) + line(log)
        default: []
        }
    }

    private mutating func line(_ log: BoardLog) -> [UInt8] {
        let (level, tag, text) = Self.texts[Int(random.number()) % Self.texts.count]
        return log.line(level, tag, text)
    }

    /// Returns the pieces. If noise comes inside, a line separates them in two cases of three, and sometimes two lines.
    mutating func tearing(_ pieces: [[UInt8]], _ log: BoardLog) -> [UInt8] {
        guard place == .inside, pieces.count > 1 else { return Array(pieces.joined()) }
        var pieces = pieces
        for _ in 0..<random.number() % 3 {
            pieces.insert(line(log), at: 1 + Int(random.number()) % (pieces.count - 1))
        }
        return Array(pieces.joined())
    }

    /// Returns the board's own output after its pause: one line, or in a storm all lines since the last burst.
    ///
    /// - Parameter now: in milliseconds.
    mutating func burst(_ log: BoardLog, now: UInt64) -> [UInt8] {
        guard storm > Self.linesOfTheirOwn else { return line(log) }
        defer { lastBurst = now }
        let elapsed = min(now - (lastBurst ?? now), 100)
        return (0..<UInt64(storm) * elapsed / 1000).flatMap { _ in line(log) }
    }

    /// Returns the milliseconds until the board's next own output; nil if there is none.
    mutating func pause() -> UInt64? {
        guard storm <= Self.linesOfTheirOwn else { return 2 }
        guard storm == 0 else { return UInt64(random.number()) % UInt64(max(1, 2000 / storm)) }
        return place == .none ? nil : 700 + UInt64(random.number() % 2500)
    }

    private static let texts: [(BoardLog.Level, String, String)] = [
        (.info, "wifi", "new:<6,0>, old:<1,0>, ap:<6,0>, sta:<255,255>, prof:1"),
        (.info, "wifi", "station: 3e:5a:11:22:33:44 join, AID=1, bgn, 20"),
        (.warning, "wifi", "<ba-add>idx:2, ifx:1, tid:0, TAHI:0x1003cbc, TALO:0x44332211, (ssn:0, win:64, cur_ssn:0)"),
        (.info, "esp_netif_lwip", "DHCP server assigned IP to a client, IP is: 192.168.4.2"),
        (.info, "app_network", "SoftAP transport: Connected!"),
        (.info, "esp_rmaker_time", "SNTP already initialized."),
        (.warning, "httpd_txrx", "httpd_sock_err: error in recv : 104"),
    ]
}
