// SPDX-License-Identifier: Apache-2.0

/// Recognises firmware that has no provisioning service, by what it prints at its start.
enum OtherFirmware {
    /// The first words of a line, without level and time.
    private static let beginnings = [
        ("MicroPython v", "MicroPython"), ("MPY: ", "MicroPython"), (">>>", "MicroPython or CircuitPython"),
        ("Adafruit CircuitPython ", "CircuitPython"),
        ("at param mode:", espAT), ("AT cmd port:", espAT), ("module_name:", espAT), ("AT version:", espAT),
        ("max tx power=", espAT),
        ("*** Booting Zephyr OS", "Zephyr"), ("NuttShell (NSH)", "NuttX"), ("NodeMCU ", "NodeMCU"),
    ]
    /// Words in the middle of a line, without level and time.
    private static let marks = [
        (" Tasmota Version ", "Tasmota"), (" Project tasmota", "Tasmota"), (" ESPHome version ", "ESPHome"),
    ]
    /// Whole lines.
    private static let lines = [
        "WIFI DISCONNECT": espAT, "WIFI CONNECTED": espAT, "WIFI GOT IP": espAT,
    ]
    /// The first words of firmware for other devices.
    private static let devices = [
        ("echo:Marlin ", "Marlin, the firmware of a 3D printer"),
        ("FIRMWARE_NAME:Marlin", "Marlin, the firmware of a 3D printer"),
        ("Grbl ", "Grbl, the firmware of a machine tool"),
    ]
    /// Names of applications (`app_init: Project name:`).
    private static let projects = [
        "hello_world": helloWorld, "hello-world": helloWorld, "blink": "ESP-IDF's example blink", "esp-at": espAT,
        "micropython": "MicroPython", "circuitpython": "CircuitPython",
    ]
    private static let espAT = "Espressif's AT firmware (ESP-AT)"
    private static let helloWorld = "ESP-IDF's example hello_world"

    static func name(of text: String) -> String? {
        if let found = beginnings.first(where: { text.hasPrefix($0.0) }) { return found.1 }
        // `This is esp32c3 chip with 1 CPU core(s), WiFi/BLE, silicon revision v0.4, 2MB external flash`
        if let rest = text.after("This is esp32"), rest.behind(" chip with ") != nil { return helloWorld }
        if let found = lines[text] { return found }
        if isESPHome(text) { return "ESPHome" }
        return marks.first { text.behind($0.0) != nil }?.1
    }

    /// A line of ESPHome's log, such as `[C][wifi:409]: WiFi:`. Arduino's log has no colon behind the second bracket.
    private static func isESPHome(_ text: String) -> Bool {
        guard let level = text.after("[")?.first, "EWICDV".contains(level), let rest = text.after("[\(level)]["),
            let end = rest.firstIndex(of: "]"), rest[end...].after("]: ") != nil
        else { return false }
        let parts = rest[..<end].split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 2 && !parts[0].isEmpty && Int(parts[1]) != nil
    }

    /// Names another device than a board by the first words of a line.
    static func device(_ text: String) -> String? { devices.first { text.hasPrefix($0.0) }?.1 }

    /// Whether the line is the first one of an ESP8266's ROM: ` ets Jan  8 2013,rst cause:2, boot mode:(3,6)`.
    static func isESP8266(_ text: String) -> Bool {
        text.behind("ets Jan  8 2013,rst cause:") != nil
    }

    static func name(ofProject project: String) -> String? { projects[project] }
}
