// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// An answer that cannot be read says nothing of what there is.
@Suite("rainctl: a bad answer where a board or a group is looked up")
struct BadAnswerTests {
    private static let page = (status: 200, body: "<html><body>Sign in to the network</body></html>")

    @Test("a board is found in the list by its id", arguments: [page.body, #"{"node_details":[{"id":"n1""#])
    func node(body: String) async throws {
        let answers = [
            "GET /v1/user/nodes?node_id=n1&node_details=true": [(status: 200, body: body)],
            "GET /v1/user/nodes?node_details=true": [
                // Another's name goes behind the id.
                (
                    200,
                    #"{"node_details":[{"id":"n2","config":{"info":{"name":"n1"}}},{"id":"n1","role":"primary"}]}"#
                )
            ],
        ]
        try await AccountScene.run(answers, signedIn: true) { maker, _ in
            let outcome = try await maker.rainctl("node", "show", "n1", "--json")
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["node_id"] == "n1", "\(outcome.standardOutput)")
        }
    }

    @Test(
        "a group that the cloud does not have is an error, and so is a web page instead of an answer",
        arguments: [
            (page.body, 75, "malformed_answer"), (#"{"groups":["#, 75, "malformed_answer"),
            (#"{"groups":[]}"#, 1, "no_such_group"), ("{}", 1, "no_such_group"),
        ])
    func group(body: String, status: Int, reason: String) async throws {
        let answers = [
            "GET /v1/user/node_group?sub_groups=true": [(status: 200, body: #"{"groups":[]}"#)],
            "GET /v1/user/node_group?group_id=Home&node_list=true&sub_groups=true": [(status: 200, body: body)],
        ]
        try await AccountScene.run(answers, signedIn: true) { maker, _ in
            let outcome = try await maker.rainctl("group", "show", "Home", "--json")
            #expect(
                outcome.status == status && outcome.failure?["reason"]?.string == reason,
                "\(outcome.standardOutput)\(outcome.standardError)")
        }
    }
}
