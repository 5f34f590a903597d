// SPDX-License-Identifier: Apache-2.0
import RainKit
import TestSupport
import Testing

@testable import rainctl

@Suite("Options that take a file of JSON")
struct JSONFileTests {
    @Test(
        "damaged JSON is named with its file, its line and its column",
        arguments: [
            ("{", "line 1, column 2"), ("{\"Light\":{\"Power\":tru}}", "line 1"),
            ("{\n  \"ä\": x}", "line 2, column 8"),
        ])
    func damaged(text: String, place: String) async throws {
        try await withTemporaryFolder { folder in
            try folder.write(text, to: "v.json")
            let path = folder.file("v.json")
            let error = #expect(throws: CommandFailure.self) {
                try Payload.object(file: path, name: "rule", reason: "bad_rule", within: .seconds(600))
            }
            #expect(error?.reason == "bad_rule" && error?.status == .badData)
            let message = error?.message ?? ""
            #expect(message.hasPrefix("\(path) is not JSON: ") && message.contains(place), "\(message)")
        }
    }

    @Test("JSON that is not an object is named by its kind")
    func list() async throws {
        try await withTemporaryFolder { folder in
            try folder.write("[1]", to: "v.json")
            let error = #expect(throws: CommandFailure.self) {
                try Payload.object(file: folder.file("v.json"), name: "rule", reason: "bad_rule", within: .seconds(600))
            }
            #expect(error?.message.contains("holds a list") == true, "\(error as Any)")
        }
    }
}
