// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit
import Testing

@Suite("rainctl node: a board that is online")
struct NodeParamsTests {
    @Test("a whole number is sent as firmware reads it, however it is written")
    func wholeNumbers() throws {
        let configuration = try #require(
            NodeConfiguration([
                "devices": [
                    [
                        "name": "Light",
                        "params": [
                            ["name": "B", "data_type": "int", "properties": ["read", "write"]],
                            ["name": "T", "data_type": "float", "properties": ["read", "write"]],
                        ],
                    ]
                ]
            ]))
        let b = ParameterPath(component: "Light", parameter: "B")
        for text in ["5", "5.0", "0.5e1"] { #expect(try configuration.change(b, from: text).value == 5, "\(text)") }
        let t = ParameterPath(component: "Light", parameter: "T")
        let given = [ParameterChange(b, .number(50)), ParameterChange(t, .number(2))]
        #expect(try configuration.checked(given).map(\.value) == [.integer(50), .number(2)])
    }
}
