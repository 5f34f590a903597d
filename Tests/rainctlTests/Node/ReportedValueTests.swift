// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit
import Testing

@testable import rainctl

/// Whether a board has what it was set to, by a report that is written otherwise, and what is said where it has another value.
@Suite("rainctl node params set --wait: values as boards report them")
struct ReportedValueTests {
    @Test(
        "what firmware reports of a value that it has, and what of another",
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

    @Test("of values that a board has instead the names and values are told, and no secret")
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
        let outcomes = [ParameterSetter.Outcome(node: NodeID("n1"), isReported: false, seen: "reports Light.Hue=2")]
        #expect(
            ParamsSetResult(outcomes, isLocal: true).text
                == "n1  has taken it, and does not report it; it reports Light.Hue=2")
    }
}
