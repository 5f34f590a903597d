// SPDX-License-Identifier: Apache-2.0

/// What stock firmware prints, in the words of its sources: esp-rainmaker's `rmaker_app_network` (component 1.16) and, before August 2024,
/// `app_wifi`; ESP-IDF's boot loader and start-up; the wifi_prov example of idf-extra-components.
enum StockLogs {
    static let boot = [
        "ESP-ROM:esp32c3-api1-20210207", "Build:Feb  7 2021", "rst:0x1 (POWERON),boot:0xc (SPI_FAST_FLASH_BOOT)",
        "SPIWP:0xee",
        "mode:DIO, clock div:1", "load:0x3fcd5820,len:0x1714", "entry 0x403cc710",
        "\u{1B}[0;32mI (24) boot: ESP-IDF v5.5.1 2nd stage bootloader\u{1B}[0m",
        "I (25) boot: chip revision: v0.4", "I (286) boot: Loaded app from partition at offset 0x20000",
        "I (310) app_init: Project name:     led_light", "I (310) app_init: App version:      v1.0-dirty",
        "I (310) app_init: ESP-IDF:          v5.5.1-1-gabc",
    ]

    /// led_light with Security 2 over Bluetooth.
    static let ledLight =
        boot + [
            "I (500) wifi:mode : sta (60:55:f9:f6:03:3c)", "I (600) rmaker_console: Initialising UART on port 0",
            "I (700) esp_rmaker_node: Node ID ----- 6055F9F6033C", "I (800) app_wifi: Starting provisioning",
            "I (900) app_network: Reusing cached sec2 salt-verifier from NVS",
            "I (1000) network_prov_mgr: Provisioning started with service name : PROV_a1b2c3 ",
            "I (1001) app_wifi: Provisioning started",
            "I (1002) app_network: Scan this QR code from the ESP RainMaker phone app for Provisioning.",
            "  \u{2588}\u{2580}\u{2580}\u{2588}\u{2584}\u{2588}\u{2580}\u{2584}\u{2588}\u{2588}  ",
            "I (1010) app_network: If QR code is not visible, copy paste the below URL in a browser.",
            #"https://rainmaker.espressif.com/qrcode.html?data={"ver":"v1","name":"PROV_a1b2c3","username":"wifiprov","pop":"abcd1234","transport":"ble"}"#,
            "I (1011) app_network: Provisioning will auto stop after 30 minute(s).",
        ]

    /// The line of examples/switch.
    static let switchLine =
        #"I (1003) app_main: Provisioning QR : {"ver":"v1","name":"PROV_a1b2c3","username":"wifiprov","pop":"abcd1234","transport":"ble"}"#

    /// An application from before August 2024.
    static let older = [
        "I (1000) wifi_prov_mgr: Provisioning started with service name : PROV_d4e5f6 ",
        "I (1001) app_wifi: Provisioning Started. Name : PROV_d4e5f6, POP : 0a1b2c3d",
    ]

    static let wifiProv =
        #"https://espressif.github.io/esp-jumpstart/qrcode.html?data={"ver":"v1","name":"PROV_A1B2C3","pop":"abcd1234","transport":"softap"}"#

    static let panic = [
        "Guru Meditation Error: Core  0 panic'ed (Load access fault). Exception was unhandled.", "",
        "Core  0 register dump:",
        "MEPC    : 0x42007a3e  RA      : 0x42007a30  SP      : 0x3fc98f10  GP      : 0x3fc8f800  ",
        "TP      : 0x3fc99000  T0      : 0x40056f68  T1      : 0x00000000  T2      : 0x00000000  ",
    ]
}
