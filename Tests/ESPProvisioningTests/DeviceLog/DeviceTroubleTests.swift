// SPDX-License-Identifier: Apache-2.0
import ESPProvisioning
import Testing

@Suite("What is wrong with a board, by its log")
struct DeviceTroubleTests {
    static let cases: [([String], DeviceTrouble)] = [
        (StockLogs.panic, .crash(reason: "Load access fault", address: "0x42007a3e", caller: "0x42007a30")),
        (
            ["Guru Meditation Error: Core  0 panic'ed (Interrupt wdt timeout on CPU0). ", "Rebooting..."],
            .crash(reason: "Interrupt wdt timeout on CPU0", address: nil, caller: nil)
        ),
        (
            [
                "Guru Meditation Error: Core  0 panic'ed (Stack protection fault). ",
                "Detected in task \"main\" at 0x42001234",
            ],
            .stackOverflow(task: "main")
        ),
        (["***ERROR*** A stack overflow in task wifi has been detected."], .stackOverflow(task: "wifi")),
        (
            ["abort() was called at PC 0x42008abc on core 0"],
            .stopped(why: "abort() was called at PC 0x42008abc on core 0")
        ),
        (
            ["ESP_ERROR_CHECK failed: esp_err_t 0x1102 (ESP_ERR_NVS_NOT_FOUND) at 0x4200ab"],
            .stopped(why: "ESP_ERROR_CHECK failed: esp_err_t 0x1102 (ESP_ERR_NVS_NOT_FOUND) at 0x4200ab")
        ),
        (["E BOD: Brownout detector was triggered"], .brownOut), (["Brownout detector was triggered"], .brownOut),
        (["rst:0xf (BROWNOUT_RST),boot:0xc (SPI_FAST_FLASH_BOOT)"], .brownOut),
        (
            [
                "rst:0x10 (RTCWDT_RTC_RST),boot:0xd (SPI_FAST_FLASH_BOOT)",
                "I (24) boot: ESP-IDF v5.5.1 2nd stage bootloader",
            ], .watchdogReset
        ),
        (["rst:0x1 (POWERON),boot:0x5 (DOWNLOAD(USB/UART0/1))"], .downloadMode),
        (["waiting for download"], .downloadMode),
        (["invalid header: 0xffffffff"], .emptyFlash(nil)), (["flash read err, 0"], .unreadableFlash(nil)),
        (
            ["E (44) esp_image: image at 0x20000 has invalid magic byte (nothing flashed here?)"],
            .noApplication(why: "image at 0x20000 has invalid magic byte (nothing flashed here?)")
        ),
        (
            ["E (49) boot: No bootable app partitions in the partition table"],
            .noApplication(why: "No bootable app partitions in the partition table")
        ),
        (
            [
                "E (50) flash_parts: partition 3 invalid - offset 0x1f0000 size 0x200000 exceeds flash chip size 0x200000"
            ],
            .flashTooSmall
        ),
        // The table is whole, but for a larger flash.
        (
            [
                "E (50) flash_parts: partition 3 invalid - offset 0x1f0000 size 0x200000 exceeds flash chip size 0x200000",
                "E (56) boot: Failed to verify partition table", "E (60) boot: load partition table error!",
            ],
            .flashTooSmall
        ),
        (
            [
                "E (50) flash_parts: partition 0 invalid magic number 0xffff",
                "E (56) boot: Failed to verify partition table", "E (60) boot: load partition table error!",
            ],
            .noApplication(why: "partition 0 invalid magic number 0xffff")
        ),
        (
            ["E (50) flash_parts: Incorrect MD5 checksum", "E (56) boot: Failed to verify partition table"],
            .noApplication(why: "Incorrect MD5 checksum")
        ),
        (
            ["E (60) boot: load partition table error!"], .noApplication(why: "load partition table error!")
        ),
        (
            [
                "E (60) spi_flash: Detected size(2048k) smaller than the size in the binary image header(4096k). Probe failed."
            ], .flashTooSmall
        ),
        (
            ["E (30) boot_comm: mismatch chip ID, expected 5, found 9"],
            .wrongChip(why: "mismatch chip ID, expected 5, found 9")
        ),
        // The boot loader goes on, and says at last that there is nothing to start.
        (
            [
                "E (45) boot_comm: mismatch chip ID, expected 5, found 0",
                "E (50) boot: Factory app partition is not bootable",
                "E (55) boot: No bootable app partitions in the partition table",
            ],
            .wrongChip(why: "mismatch chip ID, expected 5, found 0")
        ),
        (
            [
                "E (45) boot_comm: Image requires chip rev >= v0.3, but chip is v0.2",
                "E (50) boot: Factory app partition is not bootable",
                "E (55) boot: No bootable app partitions in the partition table",
            ],
            .wrongRevision(why: "Image requires chip rev >= v0.3, but chip is v0.2")
        ),
        (
            [
                "E (44) esp_image: image at 0x20000 has invalid magic byte (nothing flashed here?)",
                "E (49) boot: No bootable app partitions in the partition table",
            ],
            .noApplication(why: "image at 0x20000 has invalid magic byte (nothing flashed here?)")
        ),
        // A failed check ends in abort(), whose address says nothing.
        (
            [
                "I (290) app: starting", "E (300) nvs: nvs partition not found",
                "ESP_ERROR_CHECK failed: esp_err_t 0x105 (ESP_ERR_NOT_FOUND) at 0x4200a1c2",
                "file: \"./main/app_main.c\" line 120", "", "abort() was called at PC 0x40385b2b on core 0",
                "Rebooting...",
            ],
            .stopped(
                why: "ESP_ERROR_CHECK failed: esp_err_t 0x105 (ESP_ERR_NOT_FOUND) at 0x4200a1c2",
                after: "nvs: nvs partition not found")
        ),
        // An error that the firmware went on after is not the cause.
        (
            [
                "E (300) app: no sensor", "I (310) app: going on", "abort() was called at PC 0x40385b2b on core 0",
            ],
            .stopped(why: "abort() was called at PC 0x40385b2b on core 0")
        ),
        (
            [
                "E (170) quad_psram: PSRAM ID read error: 0x00ffffff, PSRAM chip not found or not supported",
                "E (177) esp_psram: PSRAM enabled but initialization failed. Bailing out.",
                "E (184) cpu_start: Failed to init external RAM!", "abort() was called at PC 0x40375b2b on core 0",
            ],
            .noPSRAM(why: "quad_psram: PSRAM ID read error: 0x00ffffff, PSRAM chip not found or not supported")
        ),
        (
            [
                "E (400) BLE_INIT: Malloc failed", "E (401) BLE_INIT: controller init failed",
                "ESP_ERROR_CHECK failed: esp_err_t 0x101 (ESP_ERR_NO_MEM) at 0x4200a1c2",
                "abort() was called at PC 0x40385b2b on core 0",
            ],
            .outOfMemory(why: "BLE_INIT: Malloc failed")
        ),
        (["I (1800500) app_main: Provisioning Timed Out. Please reboot."], .provisioningTimedOut),
        (
            [
                "E (5000) task_wdt: Task watchdog got triggered. The following tasks/users did not reset the watchdog in time:"
            ], .taskWatchdog
        ),
        (
            ["W (99) app_network: Provisioning timed out. Please reboot device to restart provisioning."],
            .provisioningTimedOut
        ),
        (
            [#"E (9) esp_rmaker_core: Failed to initialise Node Id. Please perform "claiming" using RainMaker CLI."#],
            .noCloudCredentials
        ),
        (["E (9) esp_claim: Claim Init Sequence Failed."], .claimFailed),
        (["E (9) app_network: Max PoP attempts reached. Stopping provisioning"], .proofsSpent),
    ]

    /// The words that documents have for them, and docs/reasons.md.
    static let words: Set = [
        "crash", "stack_overflow", "firmware_stopped", "brown_out", "watchdog_reset", "download_mode", "empty_flash",
        "unreadable_flash", "no_application", "flash_too_small", "wrong_chip", "task_watchdog",
        "provisioning_timed_out",
        "no_cloud_credentials", "claim_failed", "proofs_spent",
    ]

    static let running: [(line: String, expected: DeviceTrouble)] = [
        ("I (8400) wifi:state: run -> init (0xf00)", .wifiRefused),
        ("I (8400) wifi:state: run -> init (fc0)", .wifiRefused),
        ("E (8411) network_prov_mgr: STA Auth Error", .wifiRefused),
        ("E (9000) esp-tls-mbedtls: mbedtls_ssl_handshake returned -0x7780", .handshakeFailed(error: "0x7780")),
        ("E (9000) esp-tls-mbedtls: mbedtls_ssl_handshake returned -0x2700", .handshakeFailed(error: "0x2700")),
        ("E (9000) esp-tls-mbedtls: mbedtls_ssl_handshake returned -0x50", .handshakeFailed(error: "0x50")),
        ("W (9001) mqtt_client: Connection refused, not authorized", .cloudRefused),
        ("E (9001) mqtt_client: Connection refused, bad username or password", .cloudRefused),
    ]

    @Test(
        "a trouble of a running board is explained, and does not explain why it cannot be provisioned",
        arguments: running)
    func ofRunningBoard(line: String, expected: DeviceTrouble) {
        var reader = DeviceLogReader()
        var found: [DeviceTrouble] = []
        for case .trouble(let trouble) in reader.take(Array(line.utf8)) { found.append(trouble) }
        #expect(found == [expected] && reader.summary.troubles == [expected])
        #expect(reader.summary.verdict == nil && !expected.isFatal)
        #expect(expected.description.hasSuffix(".") && !expected.description.contains("rainctl"))
    }

    @Test(
        "other lines of the same parts are no trouble",
        arguments: [
            "I (8400) wifi:state: run -> init (0x8a0)", "I (8400) wifi:state: init -> auth (0xb0)",
            "E (8410) network_prov_mgr: STA Disconnected", "E (9020) mqtt_client: Error transport connect",
            "E (9000) esp-tls-mbedtls: mbedtls_ssl_handshake returned", "wifi:state: run -> init (",
        ])
    func harmless(line: String) {
        var reader = DeviceLogReader()
        for case .trouble(let trouble) in reader.take(Array(line.utf8)) { Issue.record("\(trouble)") }
    }

    @Test("each has the word that programs know it by")
    func codes() { #expect(Set(Self.cases.map(\.1.code)) == Self.words) }

    @Test("each has its name and a sentence", arguments: cases)
    func trouble(lines: [String], expected: DeviceTrouble) {
        var reader = DeviceLogReader()
        var found: [DeviceTrouble] = []
        for line in lines {
            for case .trouble(let trouble) in reader.take(Array(line.utf8)) { found.append(trouble) }
        }
        #expect(found == [expected])
        #expect(reader.summary.troubles == [expected] && reader.summary.verdict == expected)
        #expect(expected.description.hasSuffix("."))
        #expect(expected.code.allSatisfy { $0.isLowercase || $0 == "_" })
    }

    @Test("a service that has ended is not offered, until the board starts again")
    func endedService() {
        var reader = DeviceLogReader()
        let name = "I (500) network_prov_mgr: Provisioning started with service name : PROV_aabbcc"
        for line in [name, "I (1800500) app_main: Provisioning Timed Out. Please reboot."] {
            _ = reader.take(Array(line.utf8))
        }
        #expect(reader.summary.verdict == .provisioningTimedOut && reader.summary.isDown)
        for line in ["ESP-ROM:esp32c3-api1-20210207", name] { _ = reader.take(Array(line.utf8)) }
        #expect(reader.summary.verdict == nil && !reader.summary.isDown)
    }

    @Test("three starts in half a minute are a loop, and the last error is named")
    func loop() {
        var reader = DeviceLogReader()
        func starts(_ seconds: [Int]) -> [DeviceTrouble] {
            var found: [DeviceTrouble] = []
            for second in seconds {
                for line in [
                    "ESP-ROM:esp32c3-api1-20210207", "rst:0x3 (RTC_SW_SYS_RST),boot:0xc (SPI_FAST_FLASH_BOOT)",
                    "E (9) app: no",
                ] {
                    for case .trouble(let trouble) in reader.take(Array(line.utf8), at: .seconds(second)) {
                        found.append(trouble)
                    }
                }
            }
            return found
        }
        #expect(starts([0, 20, 51]).isEmpty)
        #expect(
            starts([60, 70]) == [
                .bootLoop(last: "app: no", reset: ResetReason(number: 3, straps: 0xC, mode: "SPI_FAST_FLASH_BOOT"))
            ])
        #expect(DeviceTrouble.bootLoop(last: "app: no").description.contains("app: no"))
    }

    @Test("noise of another speed is reported once, and a drawn QR code is not noise")
    func noise() {
        var reader = DeviceLogReader()
        var generator = SystemRandomNumberGenerator()
        var told = 0
        for _ in 0..<200 {
            let line = (0..<60).map { _ in UInt8.random(in: 0x80...0xFF, using: &generator) }
            for case .trouble(.unreadable) in reader.take(line) { told += 1 }
        }
        #expect(told == 1)
        reader = DeviceLogReader()
        for _ in 0..<60 {
            for case .trouble(let trouble) in reader.take(Array(String(repeating: "\u{2588}\u{2580} ", count: 20).utf8))
            {
                Issue.record("\(trouble)")
            }
        }
    }
}
