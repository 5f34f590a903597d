// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit
import Testing

@testable import rainctl

@Suite("rainctl: values on the command line")
struct GivenValueTests {
    @Test(
        "which dot divides a path is said by the board's own names",
        arguments: [
            ("Lamp.Power", "Lamp", "Power"), ("Lamp.Color.Warm", "Lamp", "Color.Warm"),
            ("Lamp 1.5.Power", "Lamp 1.5", "Power"), ("Lamp 1.5.Color.Warm", "Lamp 1.5", "Color.Warm"),
            ("Lamp 1.5.Pover", "Lamp 1.5", "Pover"), ("Fan.Speed", "Fan", "Speed"),
            ("Fan 2.0.Speed", "Fan 2", "0.Speed"),
        ])
    func dots(text: String, component: String, parameter: String) throws {
        let params = ["Power", "Color.Warm"].map { name -> JSONValue in ["name": .string(name)] }
        let devices = ["Lamp", "Lamp 1", "Lamp 1.5"].map { name -> JSONValue in
            ["name": .string(name), "params": .array(params)]
        }
        let configuration = try #require(NodeConfiguration(["devices": .array(devices)]))
        #expect(try configuration.path(text) == ParameterPath(component: component, parameter: parameter))
    }

    @Test(
        "what a text lacks is named",
        arguments: [
            ("Power=on", "names a device or a parameter, but not both"), ("Light.Power", "has no value"),
            (".Power=on", "has an empty name"), ("Light.=on", "has an empty name"),
        ])
    func incomplete(text: String, says: String) {
        let error = #expect(throws: (any Error).self) { try GivenValue.validate([text]) }
        #expect("\(String(describing: error))".contains("\(text)\" \(says)"), "\(String(describing: error))")
    }

    @Test("a path that may mean two parameters is refused, with both")
    func ambiguous() throws {
        let devices: [JSONValue] = [
            ["name": "Lamp 1", "params": [["name": "5.Power"]]], ["name": "Lamp 1.5", "params": [["name": "Power"]]],
        ]
        let configuration = try #require(NodeConfiguration(["devices": .array(devices)]))
        let error = #expect(throws: ParameterError.self) { try configuration.path("Lamp 1.5.Power") }
        #expect(error?.code == .ambiguousPath)
        #expect(error?.message.contains("5.Power of Lamp 1, or Power of Lamp 1.5") == true)
    }
}
