// SPDX-License-Identifier: Apache-2.0
import Foundation
import RainCore
@testable import RainKit
import TestSupport
import Testing

@testable import rainctl

/// `RecordedOutputTests` compares the JSON and the text of each result.
@Suite("rainctl results")
struct ResultTests {
    @Test("every result type has an example")
    func complete() throws {
        let folder = Repository.path("Sources/rainctl")
        var names: [String] = []
        for file in try filesBelow(folder) where file.hasSuffix(".swift") {
            names += try readFile("\(folder)/\(file)").matches(
                of: /(?:struct|extension) (\w+): (?:CommandResult|ConfirmingResult)\b/
            ).map { "\($0.1)" }
        }
        #expect(names.count > 30)
        #expect(Set(names) == Set(ExampleResults.typeNames))
    }

    @Test("a document begins with the schema's version and is indented by two")
    func document() {
        #expect(
            JSONText.document(ClaimResult(nodeID: "N1", claimed: true))
                == "{\n  \"schema_version\": 1,\n  \"node_id\": \"N1\",\n  \"claimed\": true\n}\n")
        #expect(
            JSONText.document(ErrorResult(CommandFailure(.usage, message: "No."))).hasPrefix(
                "{\n  \"schema_version\": 1,\n  \"error\": {\n"))
    }

    @Test(
        "a member has its property's name in snake case; names from data stay, and what is only for the text is absent")
    func names() {
        struct Result: Encodable {
            let nodeID = "N1"
            let baseURL = "u"
            let ssidHex = "41"
            @NullIfAbsent var whyNot: String?
            @TextOnly var showsProfile = true
            var links = NamedMembers(sorted: ["homePage": "h", "ID": "i"])
        }
        #expect(
            JSONText.line(Result())
                == #"{"node_id":"N1","base_url":"u","ssid_hex":"41","why_not":null,"#
                + #""links":{"ID":"i","homePage":"h"}}"# + "\n")
    }

    @Test("only the results of the two commands that print a secret hold one")
    func secrets() {
        func holdsSecret(_ value: Any) -> Bool {
            value is Secret || Mirror(reflecting: value).children.contains { holdsSecret($0.value) }
        }
        let holders = Set(ExampleResults.all.filter { holdsSecret($0) }.map { "\(type(of: $0))" })
        #expect(holders == ["ExchangeResult", "WebSessionResult"])
        // No other result can hold one by declaring it: that would not compile.
        #expect(!(Secret("planted") as Any is any Encodable))
    }
}
