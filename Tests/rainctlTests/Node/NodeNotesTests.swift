// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@Suite("rainctl node tags, node metadata")
struct NodeNotesTests {
    @Test("tags come and go, and a malformed one is refused before it is sent")
    func tags() async throws {
        try await OnlineBoards.with { scene in
            let added = try await scene.done("node", "tags", "add", "nodelight", "room:kitchen", "floor:0", "--json")
            #expect(added.document?["tags"] == ["room:kitchen", "floor:0"])
            let left = try await scene.done("node", "tags", "remove", "nodelight", "floor:0", "--json")
            #expect(left.document?["tags"] == ["room:kitchen"])
            #expect(try await scene.done("node", "show", "nodelight").standardOutput.contains("tags: room:kitchen\n"))
            let wrong = try await scene.rainctl("node", "tags", "add", "nodelight", "kitchen", "--json")
            wrong.expectFailure(64, "usage", says: "key:value")
            let sent = try scene.cloud.journal.entries(where: [
                "event": "request", "method": "PUT", "path": "/v1/user/nodes",
            ])
            #expect(sent.count == 1)
        }
    }

    @Test("metadata is set member by member, keeps what nobody named, and goes")
    func metadata() async throws {
        try await OnlineBoards.with { scene in
            try await scene.done(
                "node", "metadata", "set", "nodelight", "shelf=3", #"owner={"team":"lab"}"#, "note=x y")
            try scene.maker.folder.write(#"{"owner":{"name":"Ada"},"note":null}"#, to: "changes")
            try await scene.done("node", "metadata", "set", "nodelight", "--file", scene.maker.folder.file("changes"))
            let kept = try await scene.done("node", "metadata", "get", "nodelight", "--json")
            #expect(kept.document?["metadata"] == ["shelf": 3, "owner": ["team": "lab", "name": "Ada"]])
            try await scene.done("node", "metadata", "delete", "nodelight", "shelf")
            try await scene.done("node", "metadata", "delete", "nodelight", "--all")
            let none = try await scene.done("node", "metadata", "get", "nodelight", "--json")
            #expect(none.document?["metadata"] == [:])
        }
    }
}
