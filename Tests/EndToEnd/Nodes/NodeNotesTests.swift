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

    @Test("a tag that is there is said to be, and one that is not is not taken away")
    func sameTags() async throws {
        try await OnlineBoards.with { scene in
            try await scene.done("node", "tags", "add", "nodelight", "floor:0")
            let again = try await scene.done("node", "tags", "add", "nodelight", "floor:0", "a:b", "a:b", "--json")
            #expect(again.document?["added"] == ["a:b"] && again.document?["already"] == ["floor:0"])
            #expect(again.document?["tags"] == ["floor:0", "a:b"])
            let words = try await scene.done("node", "tags", "add", "nodelight", "a:b")
            #expect(words.standardOutput == "Already there: a:b\n")
            let none = try await scene.rainctl("node", "tags", "remove", "nodelight", "a:b", "no:ne", "--json")
            none.expectFailure(65, "bad_data", says: "has no tag no:ne; it has floor:0, a:b")
            #expect(none.failure?["reason"] == "no_such_tag")
            let wrong = try await scene.rainctl("node", "tags", "remove", "nodelight", "kitchen", "--json")
            wrong.expectFailure(64, "usage", says: "key:value")
            let kept = try await scene.done("node", "show", "nodelight", "--json")
            #expect(kept.document?["tags"] == ["floor:0", "a:b"], "all are taken away, or none")
        }
    }

    @Test("tags with a comma between them are several, and a comma within a value divides nothing")
    func commas() async throws {
        try await OnlineBoards.with { scene in
            let added = try await scene.done("node", "tags", "add", "nodelight", "k:v,k2:v2", "room:a,b", "--json")
            #expect(added.document?["added"] == ["k:v", "k2:v2", "room:a,b"])
            let left = try await scene.done("node", "tags", "remove", "nodelight", "k2:v2,k:v", "--json")
            #expect(left.document?["tags"] == ["room:a,b"])
            let none = try await scene.done("node", "tags", "remove", "nodelight", "room:a,b", "--json")
            #expect(none.document?["tags"] == [])
        }
    }

    @Test("metadata that changes nothing is refused before it is sent")
    func noMetadata() async throws {
        try await OnlineBoards.with { scene in
            try await scene.done("node", "metadata", "set", "nodelight", "shelf=3")
            try scene.maker.folder.write("{}", to: "empty")
            for (words, status, reason) in [
                (["set", "nodelight", "--file", scene.maker.folder.file("empty")], 65, "bad_metadata"),
                (["set", "nodelight", "x=1", "x=2"], 64, "usage"),
                (["set", "nodelight", "nothere=null"], 65, "no_such_key"),
                (["set", "nodelight", "row=1", "shelf=null", "nothere=null"], 65, "no_such_key"),
                (["delete", "nodelight", "shelf", "nothere"], 65, "no_such_key"),
            ] {
                let outcome = try await scene.maker.rainctl(["node", "metadata"] + words + ["--json"])
                #expect(
                    outcome.status == status && outcome.failure?["reason"]?.string == reason,
                    "\(words): \(outcome.standardOutput)\(outcome.standardError)")
            }
            let gone = try await scene.done("node", "metadata", "set", "nodelight", "row=1", "shelf=null", "--json")
            #expect(gone.document?["set"] == ["row"] && gone.document?["deleted"] == ["shelf"])
            let kept = try await scene.done("node", "metadata", "get", "nodelight", "--json")
            #expect(kept.document?["metadata"] == ["row": 1])
            let sent = try scene.cloud.journal.entries(where: [
                "event": "request", "method": "PUT", "path": "/v1/user/nodes",
            ])
            #expect(sent.count == 2)
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
