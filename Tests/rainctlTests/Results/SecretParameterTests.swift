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
    }

    @Test(
        "a parameter without a value: the board never reports it, or has not yet, or does not have it",
        arguments: [
            ("OTA.URL", "OTA.URL can be set, but not read"), ("OTA.Status", "OTA.Status has not been reported yet"),
            ("OTA.Nothing", "has not reported OTA.Nothing; it has reported Light.Power"),
        ])
    func unreported(path: String, words: String) {
        let configuration = NodeConfiguration([
            "services": [
                [
                    "name": "OTA",
                    "params": [["name": "URL", "properties": ["write"]], ["name": "Status", "properties": ["read"]]],
                ]
            ]
        ])
        do throws(RainKitError) {
            _ = try ParamsResult.chosen([path], of: ["Light": ["Power": true]], "n1", configuration)
            Issue.record("found")
        } catch {
            #expect(error.message.contains(words) && error.reason == "no_such_parameter", "\(error.message)")
        }
    }

    @Test("what a board takes by local control and does not report was not sent by a cloud")
    func local() {
        let outcomes = [ParameterSetOutcome(node: NodeID("n1"), isReported: false)]
        #expect(
            ParamsSetResult(outcomes, isLocal: true).text == "n1 has accepted the values, but does not report them")
        #expect(ParamsSetResult(outcomes).text.contains("the cloud has sent them"))
        let other = [ParameterSetOutcome(node: NodeID("n1"), isReported: false, seen: "reports Light.Hue=2")]
        #expect(
            ParamsSetResult(other, isLocal: true).text
                == "n1 has accepted the values, but does not report them; it reports Light.Hue=2")
    }
}
