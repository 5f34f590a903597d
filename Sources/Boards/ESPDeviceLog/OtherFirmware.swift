// SPDX-License-Identifier: Apache-2.0

/// Recognises firmware that has no provisioning service, by what it prints at its start.
enum OtherFirmware {
    /// The first words of a line, without level and time.
    private static let beginnings = [
        ("MicroPython v", "MicroPython"), ("MPY: ", "MicroPython"), (">>>", "MicroPython or CircuitPython"),
        ("Adafruit CircuitPython ", "CircuitPython"),
        ("at param mode:", "ESP-AT"), ("AT cmd port:", "ESP-AT"), ("module_name:", "ESP-AT"), ("AT version:", "ESP-AT"),
        ("max tx power=", "ESP-AT"),
        ("*** Booting Zephyr OS", "Zephyr"), ("NuttShell (NSH)", "NuttX"), ("NodeMCU ", "NodeMCU"),
    ]
    /// Words in the middle of a line, without level and time.
    private static let marks = [(" Tasmota Version ", "Tasmota"), (" Project tasmota", "Tasmota")]
    /// Names of applications (`app_init: Project name:`).
    private static let projects = [
        "hello_world": helloWorld, "hello-world": helloWorld, "blink": "ESP-IDF's example blink", "esp-at": "ESP-AT",
        "micropython": "MicroPython", "circuitpython": "CircuitPython",
    ]
    private static let helloWorld = "ESP-IDF's example hello_world"

    static func name(of text: String) -> String? {
        if let found = beginnings.first(where: { text.hasPrefix($0.0) }) { return found.1 }
        // `This is esp32c3 chip with 1 CPU core(s), WiFi/BLE, silicon revision v0.4, 2MB external flash`
        if let rest = text.after("This is esp32"), rest.behind(" chip with ") != nil { return helloWorld }
        return marks.first { text.behind($0.0) != nil }?.1
    }

    static func name(ofProject project: String) -> String? { projects[project] }
}
