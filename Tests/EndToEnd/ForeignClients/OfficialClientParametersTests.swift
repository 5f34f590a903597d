// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

extension OfficialClientProvisioningTests {
    @Test("and then reads what the board has, and switches it off")
    func parameters() async throws {
        try await Self.provision(Case(security: 1)) { run in
            _ = try await run.cloud.entry(where: ["event": "node", "what": "params", "node": .string(Self.node)])
            let read = try await run.client.run(["getparams", Self.node])
            #expect(Self.light(in: read.standardOutput) == ["Name": "Light", "Power": true], "\(read.standardOutput)")

            try await run.client.run(["setparams", "--data", #"{"Light":{"Power":false}}"#, Self.node])
            _ = try await run.board.entry(where: ["event": "state", "change": "parameters_set"])
            let answer = "$aws/rules/esp_set_params/node/\(Self.node)/params/local"
            _ = try await run.board.entry(where: ["event": "publish", "topic": .string(answer)])
            // The cloud hears of it at the same time as the board of its acknowledgement.
            let told: [String: JSONValue] = ["event": "node", "what": "params", "node": .string(Self.node)]
            let end = ContinuousClock.now + .waitLimit
            while try run.cloud.entries(where: told).count < 2, ContinuousClock.now < end {
                try await Task.sleep(for: .milliseconds(5))
            }
            let again = try await run.client.run(["getparams", Self.node])
            #expect(Self.light(in: again.standardOutput)?["Power"] == false, "\(again.standardOutput)")
        }
    }

    /// The device in what the client prints: a JSON object among other lines.
    private static func light(in output: String) -> JSONValue? {
        guard let start = output.firstIndex(of: "{"), let end = output.lastIndex(of: "}") else { return nil }
        return try? JSONValue(parsing: Array(output[start...end].utf8))["Light"]
    }
}
