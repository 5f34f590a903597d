// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

/// The documents that `rainctl` prints follow the schemas in docs/schema. The unit tier derives the schemas from the types
/// (`RecordedOutputTests`).
@Suite("JSON schemas of printed documents")
struct SchemaTests {
    @Test("a foreign validator takes the documents that rainctl prints, and none with a member of another type or name")
    func validated() async throws {
        try await withTemporaryFolder { folder in
            let validator = ForeignValidator(folder: folder)
            let maker = try Maker(folder)
            let cloud = try await SimulatedCloud.start(nodes: ["node-schema"], in: folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                ["--http", "127.0.0.1:0"] + cloud.boardOptions(node: "node-schema"), in: folder)
            let provisioned = try await maker.provision(board, ["--json"])
            #expect(try await validator.complaints([provisioned.standardOutput], against: "provision.json").isEmpty)
            for (line, file) in Self.printed {
                let outcome = try await maker.rainctl(line.split(separator: " ").map(String.init) + ["--json"])
                let complaints = try await validator.complaints([outcome.standardOutput], against: file)
                #expect(complaints.isEmpty, "\(line): \(complaints)\(outcome.standardOutput)")
                #expect((outcome.status == 0) == (file != "error.json"), "\(line): \(outcome.standardOutput)")
            }
            for member in ["\"claimed\": \"no\"", "\"claimed\": false, \"unheard\": 1"] {
                let other = provisioned.standardOutput.replacing("\"claimed\": false", with: member)
                #expect(other != provisioned.standardOutput)
                #expect(try await !validator.complaints([other], against: "provision.json").isEmpty)
            }
        }
    }

    /// Commands with a board in the account, and the schema of what each prints; one after the other.
    private static let printed = [
        ("node list", "node-list.json"), ("node show node-schema", "node-show.json"),
        ("node status node-schema", "node-status.json"), ("node metadata set node-schema shelf=3", "action.json"),
        ("node metadata get node-schema", "node-document.json"), ("node tags add node-schema a:b", "action.json"),
        ("node metadata delete node-schema shelf", "action.json"),
        ("group add Home --nodes node-schema", "action.json"), ("group list", "group-list.json"),
        ("group show Home", "group-show.json"), ("group remove-nodes Home node-schema", "action.json"),
        ("profile list", "profile-list.json"), ("profile show", "profile-show.json"),
        ("profile show --origin", "profile-show.json"), ("profile use sim", "profile-change.json"),
        ("whoami", "whoami.json"), ("account status", "session.json"), ("account list", "account-list.json"),
        ("account providers", "provider-list.json"),
        ("node show nowhere", "error.json"), ("frobnicate", "error.json"),
    ]
}
