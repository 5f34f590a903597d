// SPDX-License-Identifier: Apache-2.0
import RainJSON
import Testing

@testable import firmware_sim

/// What a board with a sensor sends for time series, in the form of esp-rainmaker's `esp_rmaker_param.c`.
@Suite("A sensor's time series")
struct SensorTests {
    @Test("one message for each parameter with a series, on the topic of its kind")
    func messages() throws {
        let messages = Sensor(period: 1, hasClock: true).messages(at: 1_700_000_000)
        #expect(messages.map(\.suffix) == ["tsdata", "simple_tsdata", "tsdata", "tsdata", "simple_tsdata"])
        #expect(
            String(decoding: messages[0].payload, as: UTF8.self)
                == #"{"ts_data_version":"2021-09-13","ts_data":[{"name":"Sensor.Temperature","#
                + #""type":"esp.param.temperature","dt":"float","records":[{"t":1700000000,"v":20.0}]}]}"#)
        #expect(
            String(decoding: messages[1].payload, as: UTF8.self)
                == #"{"name":"Sensor.Humidity","dt":"float","t":1700000000,"v":40.5}"#)
        #expect(messages[0].rule == "esp_ts_ingest" && messages[1].rule == "esp_simple_ts_ingest")
    }

    @Test("nothing is sent without a clock")
    func withoutClock() {
        #expect(Sensor(period: 1, hasClock: false).messages(at: 1_700_000_000) == [])
    }

    @Test("a report after each period")
    func period() {
        var sensor = Sensor(period: 2, hasClock: true)
        #expect([1000, 1500, 3000, 3400, 5000].map { sensor.advance(to: $0) } == [true, false, true, false, true])
        #expect(sensor.values["Energy"] == 14)
    }

    @Test("the configuration names the kind of series of each parameter")
    func configuration() {
        let parameters = Sensor.configuration["params"]?.array ?? []
        let kinds = parameters.map { $0["properties"]?.array?.last }
        #expect(kinds == ["time_series", "simple_ts", "time_series", "time_series", "simple_ts", "read"])
    }
}
