// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

private struct Model: Codable, Equatable {
    var status: String?
    var code: LenientInteger?
    var list: [Int16]?
    var nested: [String: Double]?
    var extra: JSONValue?

    enum CodingKeys: String, CodingKey {
        case status, list, nested, extra
        case code = "error_code"
    }
}

private let examples: [[UInt8]] = [
    #"{"status":"failure","error_code":"101009","list":[1,-2,300],"nested":{"a":1.5e3},"extra":[null,{"x":[]}]}"#,
    #"{"status":"s\u00fc\ud83d\ude00\n","error_code":101009,"extra":-0.0}"#, "[[[[[[[[[]]]]]]]]]", "123456789012345678",
    "<html><body>Sign in</body></html>", #"{"a":{"b":{"c":[true,false,null,"",{},[]]}}}"#,
].map { Array($0.utf8) }

@Suite("JSON, fuzzed")
struct JSONFuzzTests {
    @Test("a text is refused, or is a value that survives being written, pretty or not")
    func parsing() async throws {
        try await withOwnProcessInSoak {
            let report = fuzz("JSON text", from: examples, seed: 21) { input in
                guard let value = try? JSONValue(parsing: input) else { return }
                #expect((try? JSONValue(parsing: value.serialized())) == value)
                #expect((try? JSONValue(parsing: value.serialized(pretty: true))) == value)
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }

    @Test("a model is refused, or survives being written")
    func decoding() async throws {
        try await withOwnProcessInSoak {
            let report = fuzz("JSON model", from: examples, seed: 22) { input in
                guard let model = try? JSONCoder.decode(Model.self, from: input) else { return }
                guard let text = try? JSONCoder.encode(model) else {
                    Issue.record("what was read cannot be written")
                    return
                }
                #expect((try? JSONCoder.decode(Model.self, from: text)) == model)
            }
            #expect(report.failures == [], "\(report.complaint)")
        }
    }
}
