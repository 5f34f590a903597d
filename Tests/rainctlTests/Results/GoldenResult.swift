// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import rainctl

/// A result, and what scripts and people have been shown of it so far, to the letter.
struct GoldenResult: Sendable, CustomTestStringConvertible {
    let result: any CommandResult
    let json: String
    let text: String

    init(_ result: any CommandResult, json: String, text: String) {
        (self.result, self.json, self.text) = (result, json, text)
    }

    var typeName: String { "\(type(of: result))" }
    var testDescription: String { "\(typeName) \(json.prefix(60))" }

    static let all: [GoldenResult] = [
        signIn, device, [provisionWhole, provisionBare], profileAndNode, node, nodeLists, sharing, accountSteps,
        accountLists,
        accountHandovers,
        errors,
    ].flatMap { $0 }

    func expectHolds(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(JSONText.line(result) == json + "\n", sourceLocation: sourceLocation)
        #expect(result.text == text, sourceLocation: sourceLocation)
    }
}
