// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit
import Testing

@testable import rainctl

@Suite("rainctl: secret parameters")
struct SecretParameterTests {
    private static let values: JSONValue = ["Light": ["Power": true], "Local Control": ["POP": "abcd1234"], "odd": 5]

    @Test("one odd member neither uncovers the secret nor hides the values")
    func odd() throws {
        #expect(
            SecretParameters(of: nil).masked(in: Self.values) == [
                "Light": ["Power": true], "Local Control": ["POP": "<secret>"], "odd": 5,
            ])
        let result = ParamsResult(node: NodeID("n1"), try ParamsResult.chosen([], of: Self.values, "n1", nil))
        #expect(result.text == "Light.Power: true\nLocal Control.POP: <secret>")
    }

    @Test("firmware of one's own may call the service otherwise: its type says what it is")
    func otherNames() throws {
        let proof: JSONValue = ["name": "Key", "type": "esp.param.local_control_pop", "data_type": "string"]
        let configuration = NodeConfiguration([
            "services": [["name": "LAN", "type": "esp.service.local_control", "params": [proof]]]
        ])
        let values: JSONValue = ["LAN": ["Key": "planted", "Type": 1]]
        let all = try ParamsResult.chosen([], of: values, "n1", configuration)
        #expect(all.params == ["LAN": ["Key": "<secret>", "Type": 1]])
        let named = try ParamsResult.chosen(["LAN.Key"], of: values, "n1", configuration)
        #expect(named.params == ["LAN": ["Key": "planted"]])
        let other = [ParameterChange(ParameterPath(component: "LAN", parameter: "Key"), "x")]
        #expect(ParameterSetter.others(other, in: values, configuration) == "reports LAN.Key=<secret>")
    }

    @Test("what a board takes by local control and does not report was not sent by a cloud")
    func local() {
        let outcomes = [ParameterSetter.Outcome(node: NodeID("n1"), isReported: false)]
        #expect(ParamsSetResult(outcomes, isLocal: true).text == "n1  has taken it, and does not report it")
        #expect(ParamsSetResult(outcomes).text.contains("sent by the cloud"))
    }
}
