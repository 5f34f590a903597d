// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON

/// A device with values that the cloud keeps as time series, besides the light: `--sensor SECONDS`.
///
/// Topics and payloads are those of esp-rainmaker's `esp_rmaker_param.c`. A value with a series also goes to the topic of its series, on each
/// report and at each connection. Without a clock it does not.
struct Sensor {
    static let device = "Sensor"

    /// A parameter, and the cloud's series of it.
    private enum Parameter: String, CaseIterable {
        case temperature = "Temperature"
        case humidity = "Humidity"
        case energy = "Energy"
        case open = "Open"
        case state = "State"
        case battery = "Battery"

        var dataType: String {
            switch self {
            case .temperature, .humidity: "float"
            case .energy, .battery: "int"
            case .open: "bool"
            case .state: "string"
            }
        }

        /// Nil for a parameter without a series.
        var isSimple: Bool? {
            switch self {
            case .temperature, .energy, .open: false
            case .humidity, .state: true
            case .battery: nil
            }
        }

        var type: String? { self == .temperature ? "esp.param.temperature" : nil }

        var configuration: JSONValue {
            let series = isSimple.map { [$0 ? "simple_ts" : "time_series"] } ?? []
            return .object(
                [.init("name", .string(rawValue))] + (type.map { [.init("type", .string($0))] } ?? []) + [
                    .init("data_type", .string(dataType)),
                    .init("properties", .array((["read"] + series).map { .string($0) })),
                ])
        }
    }

    /// A message of a series: the rule of basic ingest, the topic's last level, and the payload.
    struct Message: Equatable {
        var rule: String
        var suffix: String
        var payload: [UInt8]
    }

    /// The time between two reports, in milliseconds.
    private let period: UInt64
    /// Whether the board knows the time of day.
    private let hasClock: Bool
    private var nextAt: UInt64 = 0
    private var step: Int64 = 0

    init(period: Double, hasClock: Bool) {
        self.period = UInt64(period * 1000)
        self.hasClock = hasClock
    }

    /// The device's entry in the node's configuration.
    static var configuration: JSONValue {
        [
            "name": .string(device), "type": "esp.device.temperature-sensor", "primary": "Temperature",
            "params": .array(Parameter.allCases.map(\.configuration)),
        ]
    }

    /// Returns whether there is a report.
    mutating func advance(to now: UInt64) -> Bool {
        guard now >= nextAt else { return false }
        if nextAt > 0 { step += 1 }
        nextAt = now + period
        return true
    }

    private func value(_ parameter: Parameter) -> JSONValue {
        switch parameter {
        case .temperature: .number(20 + Double(step % 20) / 2)
        case .humidity: .number(40.5 + Double(step % 10))
        // A meter that starts again at zero.
        case .energy: .integer(step * 7 % 500)
        case .open: .bool(step % 4 == 3)
        case .state: .string(step % 4 == 3 ? "open, \"wide\"" : "closed")
        case .battery: .integer(100 - step % 100)
        }
    }

    /// The values, as the device's members.
    var values: JSONValue { .object(Parameter.allCases.map { .init($0.rawValue, value($0)) }) }

    /// The messages of the series: one parameter and one record each.
    ///
    /// - Parameter time: seconds since 1970.
    func messages(at time: Int64) -> [Message] {
        guard hasClock else { return [] }
        return Parameter.allCases.compactMap { parameter in
            guard let isSimple = parameter.isSimple else { return nil }
            // Firmware's buffer has 66 bytes, with the NUL.
            let name = String(decoding: "\(Self.device).\(parameter.rawValue)".utf8.prefix(65), as: UTF8.self)
            var head: [JSONValue.Member] = [.init("name", .string(name))]
            if let type = parameter.type { head.append(.init("type", .string(type))) }
            head.append(.init("dt", .string(parameter.dataType)))
            let record: [JSONValue.Member] = [.init("t", .integer(time)), .init("v", value(parameter))]
            guard !isSimple else {
                return Message(
                    rule: "esp_simple_ts_ingest", suffix: "simple_tsdata",
                    payload: JSONValue.object(head + record).serialized())
            }
            let series = JSONValue.object(head + [.init("records", [.object(record)])])
            let payload: JSONValue = ["ts_data_version": "2021-09-13", "ts_data": [series]]
            return Message(rule: "esp_ts_ingest", suffix: "tsdata", payload: payload.serialized())
        }
    }

    /// The messages of this machine's time.
    var messages: [Message] { messages(at: Int64(time(nil))) }
}

/// The alerts that the application raises when the cloud sets values (`esp_rmaker_param.c`).
struct Alerts {
    /// `ESP_RMAKER_MAX_ALERT_LEN`
    private static let limit = 100

    /// The text of `esp_rmaker_raise_alert`; nil for no text.
    var text: String?
    /// Whether new values are notified (`esp_rmaker_param_update_and_notify`).
    var notifies = false

    func messages(for values: JSONValue) -> [Sensor.Message] {
        var payloads: [[UInt8]] = []
        // The firmware does not escape the text, and cuts it at 100 bytes, also within a character.
        if let text {
            payloads.append(Array(#"{"esp.alert.str":""#.utf8) + text.utf8.prefix(Self.limit) + Array(#""}"#.utf8))
        }
        if notifies { payloads.append(values.serialized()) }
        return payloads.map { Sensor.Message(rule: "esp_node_alert", suffix: "alert", payload: $0) }
    }
}
