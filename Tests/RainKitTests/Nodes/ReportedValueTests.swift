// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainMaker
import Testing

@testable import RainKit

/// Whether a board has the value that was set, if its report is written differently, and the text for another value.
@Suite("Setting values: values as nodes report them")
struct ReportedValueTests {
    @Test(
        "reports that show the value that was set, and reports of other values",
        arguments: [
            ("0.7", "0.69999998807907104", true), ("0.7", "0.70000", true), ("0.7", "0.7", true),
            ("0.7", "0.71", false),
            ("0.7", "0.7001", false), ("3.14159265", "3.14159", true), ("3.14159265", "3.1415927410125732", true),
            ("3.14159265", "3.1415", false), ("-0.1", "-0.10000000149011612", true), ("-0.1", "0.1", false),
            ("1234567.8", "1234567.75000", true), ("1234567.8", "1234568", false), ("50", "50.00000", true),
            ("50.0", "50", true), ("16777217", "16777217", true), ("16777217", "16777216", false), ("1", "true", false),
            ("1e300", "1e300", true), ("1e300", "1e299", false), (#""0.7""#, "0.7", false), ("null", "0", false),
            (#"{"a":1,"b":2}"#, #"{"b":2,"a":1}"#, true), (#"{"a":1}"#, #"{"b":2,"a":1}"#, false),
            (#"{"a":1,"b":2}"#, #"{"a":1}"#, false), (#"{"a":1,"b":2}"#, #"{"a":1,"c":2}"#, false),
            (#"{"a":[{"x":0.7,"y":1.0}]}"#, #"{"a":[{"y":1,"x":0.69999998807907104}]}"#, true),
            (#"{"a":[{"x":0.7}]}"#, #"{"a":[{"x":0.8}]}"#, false), ("[1,2]", "[2,1]", false), ("[1,2]", "[1]", false),
            (#"{"a":1,"a":2}"#, #"{"a":2}"#, true),
        ])
    func report(wanted: String, reported: String, isHeld: Bool) throws {
        let (wanted, reported) = (
            try JSONValue(parsing: Array(wanted.utf8)), try JSONValue(parsing: Array(reported.utf8))
        )
        #expect(reported.isReport(of: wanted) == isHeld)
        let path = ParameterPath(component: "Light", parameter: "Level")
        #expect(
            ParameterSetter.holds([ParameterChange(path, wanted)], in: ["Light": ["Level": reported]]) == isHeld)
    }

    @Test("other values that a board has are listed with their names, without secrets")
    func others() {
        let change = { (component: String, parameter: String, value: JSONValue) in
            ParameterChange(ParameterPath(component: component, parameter: parameter), value)
        }
        let values: JSONValue = ["Light": ["Bright.ness": 30, "Power": true], "Local Control": ["POP": "planted"]]
        let wanted = [
            change("Light", "Bright.ness", 25), change("Light", "Power", true), change("Light", "Hue", 1),
            change("Local Control", "POP", "other"),
        ]
        #expect(
            ParameterSetter.others(wanted, in: values, nil)
                == "reports Light.Bright.ness=30, Local Control.POP=<secret>")
        #expect(ParameterSetter.others([wanted[1]], in: values, nil) == nil)
        #expect(ParameterSetter.others(wanted, in: nil, nil) == nil)
    }

    @Test("a secret is not shown, whatever name the firmware gives it")
    func secret() {
        let proof: JSONValue = ["name": "Key", "type": "esp.param.local_control_pop", "data_type": "string"]
        let configuration = NodeConfiguration([
            "services": [["name": "LAN", "type": "esp.service.local_control", "params": [proof]]]
        ])
        let other = [ParameterChange(ParameterPath(component: "LAN", parameter: "Key"), "x")]
        #expect(
            ParameterSetter.others(other, in: ["LAN": ["Key": "planted"]], configuration)
                == "reports LAN.Key=<secret>")
    }
}
