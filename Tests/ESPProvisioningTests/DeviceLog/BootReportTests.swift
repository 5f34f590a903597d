// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import RainCore
import Testing

/// Boot logs as people posted them, in excerpts: which one cause is reported, and in which words.
@Suite("Boot logs that people posted")
struct BootReportTests {
    struct Report: Sendable {
        let name: String
        /// Nil where nothing is wrong.
        let reason: String?
        /// The first sentence has these words.
        let words: [String]
        let lines: [String]

        init(_ name: String, _ reason: String?, _ words: String..., lines: [String]...) {
            (self.name, self.reason, self.words, self.lines) = (name, reason, words, Array(lines.joined()))
        }
    }

    private static let esp32 = [
        "ets Jul 29 2019 12:21:46", "", "rst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)",
    ]
    private static func start(_ chip: String, _ reset: String) -> [String] { ["ESP-ROM:\(chip)-20210207", reset] }
    private static func again(_ count: Int, _ lines: [String]...) -> [String] {
        Array(repeatElement(Array(lines.joined()), count: count).joined())
    }
    private static let watchdog = "rst:0x7 (TG0WDT_SYS_RST),boot:0xd (SPI_FAST_FLASH_BOOT)"
    private static let boot = "I (24) boot: ESP-IDF v5.5.1 2nd stage bootloader"
    private static let sum = [
        "SHA-256 comparison failed:", "Calculated: 00112233", "Attempting to boot anyway...", "entry 0x403809b0",
    ]

    // MARK: the strapping pins

    static let starts: [(chip: String, line: String, isDownload: Bool)] = [
        ("esp32", "rst:0x1 (POWERON_RESET),boot:0x13 (SPI_FAST_FLASH_BOOT)", false),
        ("esp32", "rst:0x1 (POWERON_RESET),boot:0x17 (SPI_FAST_FLASH_BOOT)", false),
        ("esp32", "rst:0x1 (POWERON_RESET),boot:0x33 (SPI_FAST_FLASH_BOOT)", false),
        ("esp32", "rst:0xc (SW_CPU_RESET),boot:0x12 (SPI_FAST_FLASH_BOOT)", false),
        ("esp32", "rst:0x1 (POWERON_RESET),boot:0x3 (DOWNLOAD_BOOT(UART0/UART1/SDIO_REI_REO_V2))", true),
        ("esp32", "rst:0x1 (POWERON_RESET),boot:0xb (HSPI_FLASH_BOOT)", false),
        ("esp32", "rst:0x1 (POWERON_RESET),boot:0x7 (SDIO_REI_FEO_V1_BOOT)", true),
        ("esp32s2", "rst:0x1 (POWERON),boot:0x8 (SPI_FAST_FLASH_BOOT)", false),
        ("esp32s3", "rst:0x1 (POWERON),boot:0x18 (SPI_FAST_FLASH_BOOT)", false),
        ("esp32s3", "rst:0x15 (USB_UART_CHIP_RESET),boot:0x23 (DOWNLOAD(USB/UART0))", true),
        ("esp32c3", "rst:0x1 (POWERON),boot:0xc (SPI_FAST_FLASH_BOOT)", false),
        ("esp32c3", "rst:0x1 (POWERON),boot:0x5 (DOWNLOAD(USB/UART0/1))", true),
        ("esp32c3", "rst:0x1 (POWERON),boot:0x1 (SPI_DOWNLOAD_BOOT)", true),
        ("esp32c5", "rst:0x7 (TG0_WDT_HPSYS),boot:0x18 (SPI_FAST_FLASH_BOOT)", false),
        ("esp32c6", "rst:0x1 (POWERON),boot:0x4 (DOWNLOAD(USB/UART0/SDIO_REI_FEO))", true),
        ("esp32p4", "rst:0x1 (POWERON),boot:0x30f (SPI_FAST_FLASH_BOOT)", false),
        ("esp32p4", "rst:0x1 (POWERON),boot:0x307 (DOWNLOAD(USB/UART0/SPI))", true),
        // No word: the bit of the chip.
        ("esp32", "rst:0x1,boot:0x13", false), ("esp32", "rst:0x1,boot:0xb", true),
        ("esp32c3", "rst:0x1,boot:0xc", false), ("esp32c3", "rst:0x1,boot:0x4", true),
        ("esp32c3", "rst:0x1 (POWERON),boot:0xc (SPI_FAST_FLA", false),
        // Neither a word nor a chip, and no strapping pins at all.
        ("", "rst:0x1,boot:0x3", false), ("esp32c3", "rst:0x1 (POWERON)", false),
    ]

    @Test("words decide whether a chip waits for firmware, and bits only without them, per chip", arguments: starts)
    func straps(chip: String, line: String, isDownload: Bool) {
        var reader = DeviceLogReader()
        let first = chip == "esp32" ? Self.esp32[0] : chip.isEmpty ? "garbage" : "ESP-ROM:\(chip)-20210207"
        for text in [first, line] { _ = reader.take(Array(text.utf8)) }
        #expect(reader.summary.starts == 1)
        #expect((reader.summary.verdict == .downloadMode) == isDownload, "\(reader.summary.troubles)")
    }

    // MARK: the cause

    static let reports: [Report] = [
        Report(
            "esp-idf 42: an ESP32 starts", nil,
            lines: esp32,
            [
                "configsip: 0, SPIWP:0xee", "load:0x3fff0030,len:6608",
                "I (29) boot: ESP-IDF v4.2 2nd stage bootloader",
                "I (873) cpu_start: Project name:     switch",
                "I (1800) wifi_prov_mgr: Provisioning started with service name : PROV_9b53d8",
            ]),
        Report(
            "erased flash, C3", "empty_flash", "no firmware", "0x0", "ESP32-C3",
            lines: start("esp32c3", watchdog), ["invalid header: 0xffffffff"]),
        Report(
            "erased flash, ESP32", "empty_flash", "0x1000", "ESP32 ", lines: esp32, ["invalid header: 0xffffffff"]),
        Report(
            "erased flash, S3", "empty_flash", "0x0", "ESP32-S3",
            lines: start("esp32s3", watchdog), ["invalid header: 0xFFFFFFFF"]),
        Report(
            "erased flash, P4", "empty_flash", "0x2000", "ESP32-P4",
            lines: start("esp32p4", watchdog), ["invalid header: 0xffffffff"]),
        Report(
            "erased flash, a chip of later", "empty_flash", "where the ESP32-X9 looks",
            lines: start("esp32x9", watchdog), ["invalid header: 0xffffffff"]),
        Report(
            "esp-idf 12891: encrypted flash", "invalid_header", "no boot loader", "0xa3d1034b",
            lines: start("esp32c3", watchdog), ["Saved PC:0x40048b82", "invalid header: 0xa3d1034b"]),
        Report(
            "225: a C5 with another chip's boot loader", "invalid_header", "0x59b25942", "0x2000", "ESP32-C5",
            lines: start("esp32c5", "rst:0x7 (TG0_WDT_HPSYS),boot:0x18 (SPI_FAST_FLASH_BOOT)"),
            [
                "Core0 Saved PC:0x40026cfc", "invalid header: 0x59b25942",
                #"assertion "result == ETS_OK" failed: file "ets_main.c", line 369, function: ets_flash_boot"#,
            ]),
        Report(
            "zeros", "invalid_header", "zeros", lines: start("esp32c6", watchdog), ["invalid header: 0x00000000"]),
        Report(
            "flash that cannot be read", "unreadable_flash", "cannot read", "0x1000",
            lines: esp32, ["flash read err, 1000", "ets_main.c 371"]),
        Report(
            "622: a damaged image behind a watchdog", "damaged_image", "damaged",
            lines: start("esp32c3", "rst:0x10 (RTCWDT_RTC_RST),boot:0xd (SPI_FAST_FLASH_BOOT)"), sum),
        Report(
            "a damaged image that restarts by itself", "damaged_image", "damaged",
            lines: again(2, start("esp32c3", "rst:0x3 (RTC_SW_SYS_RST),boot:0xd (SPI_FAST_FLASH_BOOT)"), sum)),
        Report(
            "a wrong checksum in an ESP32's ROM", "damaged_image", "damaged", lines: esp32, ["csum err:0x2b!=0x1f"]),
        Report(
            "a changed header that works", nil,
            lines: start("esp32c3", "rst:0x1 (POWERON),boot:0xd (SPI_FAST_FLASH_BOOT)"), sum, [boot],
            start("esp32c3", "rst:0x1 (POWERON),boot:0xd (SPI_FAST_FLASH_BOOT)"), sum),
        Report(
            "a changed header, after a watchdog", nil,
            lines: start("esp32c3", watchdog), sum,
            [
                boot, "I (30) app_init: Project name:     led_light",
                "I (90) network_prov_mgr: Provisioning started with service name : PROV_1 ",
            ]),
        Report(
            "a watchdog of the application", "watchdog_reset", "watchdog",
            lines: start("esp32c3", "rst:0x8 (TG1WDT_SYS_RST),boot:0xd (SPI_FAST_FLASH_BOOT)"), [boot]),
        Report(
            "a watchdog and nothing else", "watchdog_reset", "watchdog",
            lines: start("esp32c3", "rst:0x10 (RTCWDT_RTC_RST),boot:0xd (SPI_FAST_FLASH_BOOT)")),
        Report(
            "secure boot in the ROM", "secure_boot", "Secure boot",
            lines: start("esp32s3", watchdog),
            [
                "Valid secure boot key blocks: 0",
                "No signature block magic byte found at signature sector (found 0x61 not 0xe7). Image not V2 signed?",
                "secure boot verification failed", "ets_main.c 329",
            ]),
        Report(
            "secure boot of version 1", "secure_boot", "Secure boot",
            lines: esp32, ["secure boot check fail", "ets_main.c 371"]),
        Report(
            "secure boot: another digest", "secure_boot", "signature",
            lines: start("esp32c3", watchdog), ["Sig block 0 invalid: Image digest does not match"]),
        Report(
            "secure boot in the boot loader", "secure_boot", "Secure boot",
            lines: start("esp32c3", "rst:0x1 (POWERON),boot:0xc (SPI_FAST_FLASH_BOOT)"),
            [
                boot, "E (575) secure_boot_v2: Secure Boot V2 verification failed.",
                "E (576) esp_image: Secure boot signature verification failed",
            ]),
        Report(
            "MicroPython", "other_firmware", "MicroPython",
            lines: start("esp32c3", "rst:0x1 (POWERON),boot:0xc (SPI_FAST_FLASH_BOOT)"),
            [
                "MicroPython v1.22.2 on 2024-02-22; ESP32C3 module with ESP32C3",
                #"Type "help()" for more information."#,
                ">>> ",
            ]),
        Report("MicroPython's prompt alone", "other_firmware", "MicroPython", lines: [">>> "]),
        Report(
            "CircuitPython", "other_firmware", "CircuitPython",
            lines: ["Adafruit CircuitPython 8.2.6 on 2023-09-12; Adafruit QT Py ESP32-C3 with ESP32-C3FN4"]),
        Report(
            "ESP-AT", "other_firmware", "ESP-AT",
            lines: start("esp32c3", "rst:0x1 (POWERON),boot:0xc (SPI_FAST_FLASH_BOOT)"),
            [
                boot, "at param mode: 1", "AT cmd port:uart1 tx:7 rx:6 cts:5 rts:4 baudrate:115200",
                "module_name: MINI-1",
                "max tx power=78, ret=0", "v3.2.0.0",
            ]),
        Report("ESP-AT that runs", "other_firmware", "Espressif's AT firmware", lines: ["ready", "WIFI DISCONNECT"]),
        Report(
            "ESPHome", "other_firmware", "ESPHome",
            lines: ["[I][app:102]: ESPHome version 2024.6.0 compiled on Jun 20 2024"]),
        Report(
            "ESPHome that runs", "other_firmware", "ESPHome",
            lines: ["[C][wifi:409]: WiFi:", "[D][sensor:094]: 'x': Sending state 21.0"]),
        Report(
            "Arduino's log is not ESPHome's", nil,
            lines: ["[D][WiFiGeneric.cpp:374] _eventCallback(): Event: 0", "[I][main:12] setup(): ready", "ready"]),
        Report(
            "an ESP8266", "unsupported_chip", "ESP8266",
            lines: [
                " ets Jan  8 2013,rst cause:2, boot mode:(3,6)", "", "load 0x4010f000, len 3460, room 16", "tail 4",
                "chksum 0xcc",
            ]),
        Report(
            "a 3D printer", "not_a_board", "3D printer",
            lines: ["start", "echo:Marlin 2.1.2", "echo: Last Updated: 2022-12-17"]),
        Report(
            "Tasmota", "other_firmware", "Tasmota",
            lines: start("esp32c3", "rst:0x1 (POWERON),boot:0xc (SPI_FAST_FLASH_BOOT)"),
            [
                "00:00:00.001 HDW: ESP32-C3 v0.4",
                "00:00:00.054 Project tasmota - Tasmota Version 13.2.0(release-tasmota32)-2_0_14",
            ]),
        Report(
            "ESP-IDF's console example", "other_firmware", "ESP-IDF's console example",
            lines: ["This is an example of ESP-IDF console component.", "Type 'help' to get the list of commands."]),
        Report(
            "its prompt alone", "other_firmware", "ESP-IDF's console example",
            lines: ["esp32c3> get-node-id", "Unrecognized command", "esp32c3> "]),
        Report(
            "the same prompt of RainMaker's firmware", nil,
            lines: ["I (900) esp_rmaker_node: Node ID ----- 7CDFA1E86C14", "esp32c3> "]),
        Report("WLED", "other_firmware", "WLED", lines: ["Ada", "WLED 0.14.1 "]),
        Report("WLED's greeting alone", "other_firmware", "LED strips", lines: ["Ada"]),
        Report(
            "Espruino", "other_firmware", "Espruino",
            lines: ["|____|___|  _|_| |___|_|_|_|___|", "         |_| espruino.com", " 2v19 (c) 2023 G.Williams"]),
        Report(
            "Meshtastic", "other_firmware", "Meshtastic",
            lines: ["INFO  | ??:??:?? 1 //\\ E S H T /\\ S T / C", "INFO  | ??:??:?? 1 Booted, wake cause 0"]),
        Report(
            "Meshtastic that runs", "other_firmware", "Meshtastic",
            lines: ["\u{1B}[34mDEBUG \u{1B}[0m| 12:30:01 12 [Power] Battery: usbPower=1"]),
        Report(
            "other words between bars", nil,
            lines: ["INFO  | ready", "DEBUG | 12:30 1 x", "WARN  | a:b:c 1 x", "esp32 > x", "esp32-cam-1> x"]),
        Report(
            "a partition table that is missing", "no_application", "partition table is missing or damaged",
            lines: again(
                4, start("esp32c3", watchdog),
                [
                    boot, "E (50) flash_parts: partition 0 invalid magic number 0xffff",
                    "E (56) boot: Failed to verify partition table", "E (60) boot: load partition table error!",
                ])),
        Report(
            "hello_world by its name", "other_firmware", "hello_world",
            lines: [boot, "I (30) app_init: Project name:     hello_world", "Hello world!"]),
        Report(
            "hello_world by its text, in its loop", "other_firmware", "hello_world",
            lines: again(
                3, start("esp32c3", "rst:0x3 (RTC_SW_SYS_RST),boot:0xc (SPI_FAST_FLASH_BOOT)"),
                [
                    "Hello world!",
                    "This is esp32c3 chip with 1 CPU core(s), WiFi/BLE, silicon revision v0.4, 2MB external flash",
                    "Restarting in 10 seconds...",
                ])),
        Report(
            "rainmaker 112: no proof in the flash", "no_proof", "no proof of possession",
            lines: [
                boot, "E (3210) app_wifi: Failed to get PoP from NVS, Please perform Claiming.",
                "ESP_ERROR_CHECK failed: esp_err_t 0x105 (ESP_ERR_NOT_FOUND) at 0x4200ab",
                "abort() was called at PC 0x42008abc on core 0",
            ]),
        Report(
            "the same by newer firmware", "no_proof", "no proof of possession",
            lines: [
                "E (900) app_network: Failed to read random bytes from NVS to generate PoP.",
                "E (901) app_network: PoP is required for security version 2",
                "E (902) app_main: Could not start network. Aborting!!!",
                "abort() was called at PC 0x42008abc on core 0",
            ]),
        Report(
            "a claim that was skipped", "claim_skipped", "without being claimed",
            lines: [
                "E (9141) esp_rmaker_core: Node connected to Wi-Fi without Assisted claiming. Cannot proceed to MQTT connection."
            ]),
        Report(
            "a crash of an Xtensa chip", "crash", "LoadProhibited", "0x400d1234", "0x800d1250",
            lines: esp32,
            [
                "Guru Meditation Error: Core  1 panic'ed (LoadProhibited). Exception was unhandled.", "",
                "Core  1 register dump:",
                "PC      : 0x400d1234  PS      : 0x00060330  A0      : 0x800d1250  A1      : 0x3ffb1f90  ",
            ]),
        Report(
            "a watchdog of stuck firmware, once a second", "watchdog_reset",
            "A watchdog restarts the board again and again", "stuck",
            lines: again(5, start("esp32c3", watchdog), [boot])),
        Report(
            "a watchdog and no other line, once a second", "watchdog_reset",
            "A watchdog restarts the board again and again", lines: again(4, start("esp32c3", watchdog))),
        Report(
            "a watchdog before the application, again and again", "watchdog_reset", "does not start",
            lines: again(4, start("esp32c3", "rst:0x10 (RTCWDT_RTC_RST),boot:0xd (SPI_FAST_FLASH_BOOT)"))),
        Report(
            "a crash that a watchdog ends, again and again", "crash", "crashed",
            lines: again(
                5, start("esp32c3", watchdog),
                [boot, "Guru Meditation Error: Core  0 panic'ed (Load access fault). ", "Rebooting..."])),
        Report(
            "a task that blocks the others, again and again", "task_watchdog", "One task of the board's firmware",
            lines: again(
                5, start("esp32c3", watchdog),
                [boot, "E (5000) task_wdt: Task watchdog got triggered. The following tasks did not reset it:"])),
        Report(
            "a brown-out, again and again", "brown_out", "supply voltage",
            lines: again(5, start("esp32c3", "rst:0xf (BROWNOUT_RST),boot:0xc (SPI_FAST_FLASH_BOOT)"), [boot])),
        Report(
            "a failed check, again and again", "firmware_stopped", "ESP_ERR_NVS_NO_FREE_PAGES",
            lines: again(
                5, start("esp32c3", "rst:0x3 (RTC_SW_SYS_RST),boot:0xc (SPI_FAST_FLASH_BOOT)"),
                [
                    boot, "ESP_ERROR_CHECK failed: esp_err_t 0x110d (ESP_ERR_NVS_NO_FREE_PAGES) at 0x4200a1c2",
                    "abort() was called at PC 0x40385b2b on core 0", "Rebooting...",
                ])),
        Report(
            "a damaged image, again and again", "damaged_image", "damaged",
            lines: again(5, start("esp32c3", watchdog), sum)),
        Report(
            "secure boot, again and again", "secure_boot", "Secure boot",
            lines: again(5, start("esp32s3", watchdog), ["secure boot verification failed"])),
        Report(
            "firmware that restarts itself again and again", "boot_loop", "restarts itself", "no radio",
            lines: again(
                4, start("esp32c3", "rst:0x3 (RTC_SW_SYS_RST),boot:0xc (SPI_FAST_FLASH_BOOT)"),
                [boot, "E (40) app: no radio"])),
        Report(
            "a disturbed clock, again and again", "boot_loop", "power or clock",
            lines: again(4, start("esp32c3", "rst:0x13 (GLITCH_RTC_RESET),boot:0xc (SPI_FAST_FLASH_BOOT)"), [boot])),
        Report(
            "resets by another program, again and again", "boot_loop", "over its USB port",
            lines: again(4, start("esp32c3", "rst:0x15 (USB_UART_CHIP_RESET),boot:0xc (SPI_FAST_FLASH_BOOT)"), [boot])),
        Report(
            "an ESP32 that restarts again and again", "boot_loop", "again and again", "no radio",
            lines: again(3, esp32, ["E (40) app: no radio"])),
    ]

    @Test("each is reported with its cause", arguments: reports)
    func cause(report: Report) {
        var reader = DeviceLogReader()
        for line in report.lines { _ = reader.take(Array(line.utf8)) }
        let verdict = reader.summary.verdict
        #expect(verdict?.code == report.reason, "\(report.name): \(reader.summary.troubles)")
        let first = verdict?.description.split(separator: ". ").first ?? ""
        for word in report.words { #expect(first.contains(word), "\(report.name): \(first)") }
        #expect(verdict?.description.contains("esp-rainmaker-cli") != true)
    }

    @Test(
        "a watchdog's reset is not reported beside the damage that the ROM names",
        arguments: reports.filter { $0.name.contains("watchdog") })
    func once(report: Report) {
        var reader = DeviceLogReader()
        var first: DeviceTrouble?
        for line in report.lines {
            for case .trouble(let trouble) in reader.take(Array(line.utf8)) where first == nil { first = trouble }
        }
        if report.reason == "damaged_image" { #expect(first?.code == "damaged_image") }
        #expect(report.reason != "watchdog_reset" || first == nil || first == .watchdogReset)
    }

    @Test("claims that are missing are cured by a command of the client's own")
    func remedies() {
        for trouble in [DeviceTrouble.noProof, .noCloudCredentials] { #expect(trouble.remedies == [.claimOverCable]) }
        #expect(DeviceTrouble.bootLoop(last: nil).remedies == [.boardLog])
    }

    @Test("settings that firmware cannot use are erased, and a quoted error needs no further log")
    func settings() {
        let check = "ESP_ERROR_CHECK failed: esp_err_t"
        for (why, cause, isSettings, isUnexplained) in [
            ("\(check) 0x1102 (ESP_ERR_NVS_NOT_FOUND) at 0x4200ab", nil, true, false),
            ("\(check) 0x105 (ESP_ERR_NOT_FOUND) at 0x4200ab", "nvs: nvs partition not found", true, false),
            ("\(check) 0x105 (ESP_ERR_NOT_FOUND) at 0x4200ab", nil, false, false),
            ("assert failed: xQueueSend queue.c:1545", nil, false, false),
            ("abort() was called at PC 0x42008abc on core 0", nil, false, true),
        ] as [(String, String?, Bool, Bool)] {
            let text = DeviceTrouble.stopped(why: why, after: cause).description
            #expect(text.contains("Erase the partition nvs") == isSettings, "\(text)")
            #expect(text.contains("log lines before this error") == isUnexplained, "\(text)")
        }
    }

    @Test("a secret in an error line does not get into the messages made of it")
    func secrets() {
        var reader = DeviceLogReader()
        for _ in 0..<3 {
            for line in Self.esp32 + ["E (40) app: password: hunter22"] { _ = reader.take(Array(line.utf8)) }
        }
        #expect(reader.summary.verdict?.code == "boot_loop")
        #expect(reader.summary.verdict?.description.contains("hunter22") == false)
        for case .trouble(let trouble) in reader.take(Array("assert failed: pop=hunter22".utf8)) {
            #expect(!trouble.description.contains("hunter22"))
        }
    }

    // MARK: Arduino sketches that print no URL

    struct Sketch: Sendable {
        let line: String
        var name: String?
        var proof: ProofOfPossession?
        var transport: QRPayload.Transport?
        var passphrase: Secret?
    }

    static let sketches = [
        Sketch(
            line: #"Provisioning Started with name "PROV_1234" and PoP "abcd1234" on SoftAP"#, name: "PROV_1234",
            proof: "abcd1234", transport: .softap),
        Sketch(
            line: #"Provisioning Started with name "My board" and PoP "ab" on cd" on BLE"#, name: "My board",
            proof: #"ab"#,
            transport: .ble),
        Sketch(
            line: #"Provisioning Started with name "PROV_1" and PoP "(null)" on BLE"#, name: "PROV_1", proof: nil,
            transport: .ble),
        Sketch(
            line:
                "[  1234][I][WiFiProv.cpp:147] beginProvision(): Starting AP using BLE. service_name : PROV_1, pop : abcd1234",
            name: "PROV_1", proof: "abcd1234", transport: .ble),
        Sketch(
            line:
                "[  1234][I][WiFiProv.cpp:152] beginProvision(): Starting provisioning AP using SOFTAP. service_name : P, pop : a",
            name: "P", proof: "a", transport: .softap),
        Sketch(
            line:
                "[  1234][I][WiFiProv.cpp:154] beginProvision(): Starting provisioning AP using SOFTAP. service_name : P, password : pass12345, pop : a",
            name: "P", proof: "a", transport: .softap, passphrase: Secret("pass12345")),
        Sketch(line: #"Provisioning Started with name "PROV_1234" and PoP "abcd"#),
        Sketch(line: "Provisioning started"),
    ]

    @Test("name, proof and transport are read from the line that they print", arguments: sketches)
    func arduino(sketch: Sketch) {
        var reader = DeviceLogReader()
        _ = reader.take(Array(sketch.line.utf8))
        let known = reader.summary
        #expect(known.serviceName == sketch.name && known.announcedTransport == sketch.transport)
        #expect(known.announcedPassphrase == sketch.passphrase)
        // A quotation mark in a proof makes the line ambiguous.
        if !sketch.line.contains("cd\" on") { #expect(known.announcedProof == sketch.proof) }
    }

    @Test("a sketch that names nothing is noticed, and one that is set up already")
    func unnamed() {
        var reader = DeviceLogReader()
        guard
            case .unnamedProvisioning? = reader.take(
                Array("Give Credentials of your access point using smartphone app".utf8)
            ).first
        else {
            Issue.record("not noticed")
            return
        }
        #expect(reader.summary.isUnnamed && reader.summary.serviceName == nil)
        _ = reader.take(Array("[  99][I][WiFiProv.cpp:190] beginProvision(): Already Provisioned".utf8))
        _ = reader.take(Array("Connected IP address : 192.168.1.5".utf8))
        #expect(reader.summary.isProvisioned && reader.summary.address == "192.168.1.5")
    }
}
