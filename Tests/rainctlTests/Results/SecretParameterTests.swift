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
            Self.values.withoutSecretParameters == [
                "Light": ["Power": true], "Local Control": ["POP": "<secret>"], "odd": 5,
            ])
        let result = ParamsResult(node: NodeID("n1"), try ParamsResult.chosen([], of: Self.values, "n1"))
        #expect(result.text == "Light.Power: true\nLocal Control.POP: <secret>")
    }

    @Test("what a board takes by local control and does not report was not sent by a cloud")
    func local() {
        let outcomes = [ParameterSetter.Outcome(node: NodeID("n1"), isReported: false)]
        #expect(ParamsSetResult(outcomes, isLocal: true).text == "n1  has taken it, and does not report it")
        #expect(ParamsSetResult(outcomes).text.contains("sent by the cloud"))
    }
}
