// SPDX-License-Identifier: Apache-2.0
import RainKit
import Testing

@Suite("RainKitConfiguration")
struct ConfigurationTests {
    @Test("a printed or dumped configuration shows no secret of the environment")
    func printed() {
        var configuration = RainKitConfiguration.inMemory()
        configuration.environment = ["RAINKIT_CLIENT_SECRET": "planted-secret"]
        var text = "\(configuration) \(String(reflecting: configuration))"
        dump(configuration, to: &text)
        #expect(text.contains("/nonexistent") && !text.contains("planted-secret"))
    }
}
