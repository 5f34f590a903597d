// SPDX-License-Identifier: Apache-2.0
import RainCore

extension DeviceSummary {
    /// Takes what a line says of the board itself (ESP-IDF's `bootloader_init.c`, `esp_app_desc.c`; esp-rainmaker's `esp_rmaker_node.c`).
    mutating func learn(from line: DeviceLogLine) {
        let text = line.text
        switch line.tag {
        case "boot":
            if let version = text.after("ESP-IDF ") { frameworkVersion = version.firstWord ?? frameworkVersion }
            if let found = text.after("chip revision: ") { revision = found.firstWord }
        case "app_init", "cpu_start":
            if let name = text.after("Project name:") { project = name.firstWord }
            if let found = text.after("App version:") { version = found.firstWord }
            if let found = text.after("ESP-IDF:") { frameworkVersion = found.firstWord ?? frameworkVersion }
        case "rmaker_console", "esp_rmaker_console":
            if text.hasPrefix("Initialising UART") { hasConsole = true }
        case "esp_rmaker_node", "esp_rmaker_core":
            if let id = (text.after("Node ID ----- ") ?? text.after("New Node ID ----- "))?.firstWord,
                id.utf8.count <= 64
            {
                nodeID = NodeID(id)
                if Self.isAddress(id) { macAddress = Self.withColons(id) }
            }
        case "esp_mqtt_glue":
            if let host = text.after("Connecting to ")?.firstWord, host.utf8.count <= 253 { cloudHost = host }
        case "wifi":
            // The driver's own lines, such as `mode : sta (7c:df:a1:00:00:01) + softAP (7c:df:a1:00:00:02)`.
            if let address = text.behind("sta (")?.prefix(17), address.count == 17,
                Self.isAddress(address.filter { $0 != ":" })
            {
                macAddress = address.uppercased()
            }
        default: break
        }
    }

    private static func isAddress(_ text: some StringProtocol) -> Bool {
        text.utf8.count == 12 && text.allSatisfy { $0.isHexDigit && $0.isASCII }
    }

    private static func withColons(_ digits: String) -> String {
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, index.isMultiple(of: 2) { text.append(":") }
            text.append(digit)
        }
        return text.uppercased()
    }
}

extension StringProtocol {
    /// At most 64 characters of it.
    fileprivate var firstWord: String? {
        split(separator: " ", maxSplits: 1).first.map { String($0.prefix(64)) }
    }
}
