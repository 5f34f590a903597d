// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Numbers of the cloud that no public source has a meaning for (docs/nodes.md).
@Suite("rainctl node: refusals by number alone")
struct UndocumentedCodeTests {
    private static let words = "planted\\nwords " + String(repeating: "w", count: 5000)

    private static func refusal(_ number: Int, _ status: Int) -> (status: Int, body: String) {
        (status, #"{"status":"failure","error_code":\#(number),"description":"\#(words)"}"#)
    }

    @Test(
        "one sentence has the number and the cloud's text, and the status decides on a retry",
        arguments: [103_014, 103_015, 103_019, 105_042, 105_043, 107_038, 131_001, 131_057, 131_115])
    func told(number: Int) async throws {
        let answers = ["GET /v1/user/nodes/cmd?request_id=r": [400, 404, 500].map { Self.refusal(number, $0) }]
        try await AccountScene.run(answers, signedIn: true) { maker, _ in
            for (http, status, code, reason) in [
                (400, 1, "other", "rejected"), (404, 1, "other", "rejected"), (500, 75, "temporary", "server_fault"),
            ] {
                let outcome = try await maker.rainctl("node", "command", "result", "r", "--json")
                expectFailure(outcome, status, code, reason)
                let message = outcome.failure?["message"]?.string ?? ""
                #expect(message.contains("(HTTP \(http), error code \(number))"), "\(message)")
                #expect(message.contains("(The server says: planted words www"), "\(message)")
                #expect(message.count < 500 && !message.contains("\n"), "\(message)")
                #expect(message.contains("try again") == (http == 500), "\(message)")
                #expect(!message.contains("sign in") && !message.contains("rainctl "), "\(message)")
            }
        }
    }
}
