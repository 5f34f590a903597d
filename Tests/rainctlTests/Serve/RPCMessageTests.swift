// SPDX-License-Identifier: Apache-2.0
import RainJSON
import RainKit
import Testing

@testable import rainctl

@Suite("The lines of rainctl serve")
struct RPCMessageTests {
    private static let input = Array("{\"a\":1}\r\n\n  \n{\"b\":\"é\"}\nlast".utf8)

    @Test("a client's bytes are the same lines however they are split")
    func splits() {
        let expected = ["{\"a\":1}", "{\"b\":\"é\"}", "last"].map { RPCLines.Line.complete(Array($0.utf8)) }
        for first in 0...Self.input.count {
            for second in first...Self.input.count {
                var lines = RPCLines(limit: 64)
                var all = lines.append(Self.input[..<first])
                all += lines.append(Self.input[first..<second])
                all += lines.append(Self.input[second...])
                all += lines.end()
                #expect(all == expected, "\(first), \(second)")
            }
        }
    }

    @Test(
        "a line of the limit is taken, one that is longer is reported once, and the next line is read", arguments: 1...9
    )
    func limit(piece: Int) {
        let text = Array("12345678\r\n123456789\r\n123456789 and more\nok\n".utf8)
        var lines = RPCLines(limit: 8)
        var all: [RPCLines.Line] = []
        for start in stride(from: 0, to: text.count, by: piece) {
            all += lines.append(text[start..<min(start + piece, text.count)])
        }
        #expect(all == [.complete(Array("12345678".utf8)), .tooLong, .tooLong, .complete(Array("ok".utf8))])
        #expect(lines.end() == [])
    }

    @Test("a request keeps its id as it was written", arguments: ["1", "-7", "1.5", "\"a\"", "null"])
    func identifier(text: String) throws {
        let call = try RPCCall(JSONValue(parsing: Array(#"{"jsonrpc":"2.0","id":\#(text),"method":"m"}"#.utf8)))
        #expect(call.id?.text == text)
        #expect(call.params == [])
    }

    static let invalid: [(text: String, number: RPCNumber, id: String?)] = [
        (#"1"#, .invalidRequest, nil),
        (#"{"id":1,"method":"m"}"#, .invalidRequest, "1"),
        (#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, .invalidRequest, "1"),
        (#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, .invalidRequest, nil),
        (#"{"jsonrpc":"2.0","id":true,"method":"m"}"#, .invalidRequest, nil),
        (#"{"jsonrpc":"2.0","id":"\#(String(repeating: "i", count: 257))","method":"m"}"#, .invalidRequest, nil),
        (#"{"jsonrpc":"2.0","id":1}"#, .invalidRequest, "1"),
        (#"{"jsonrpc":"2.0","id":1,"method":7}"#, .invalidRequest, "1"),
        (#"{"jsonrpc":"2.0","id":1,"result":{}}"#, .invalidRequest, "1"),
        (#"{"jsonrpc":"2.0","id":1,"method":"m","parameters":{}}"#, .invalidRequest, "1"),
        (#"{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}"#, .invalidParams, "1"),
        (#"{"jsonrpc":"2.0","id":1,"method":"m","params":null}"#, .invalidParams, "1"),
    ]

    @Test(
        "what is not a request is refused with the number of JSON-RPC, and its id if that is readable",
        arguments: invalid)
    func refusal(of invalid: (text: String, number: RPCNumber, id: String?)) throws {
        let value = try JSONValue(parsing: Array(invalid.text.utf8))
        let refusal = #expect(throws: RPCRefusal.self) { try RPCCall(value) }
        #expect(refusal?.error.number == invalid.number.rawValue)
        #expect(refusal?.id?.text == invalid.id)
        #expect(refusal?.error.document.contains(#""reason":"bad_request""#) == true)
    }

    @Test("the error of a command has its exit status as the number, and its document as the data")
    func commandError() throws {
        let error = RPCError(
            CommandFailure(.auth, reason: "not_signed_in", message: "Nobody\u{1B} is signed in."),
            warnings: [Warning(reason: "w", message: "careful")])
        let text = RPCText.response(to: .null, .failure(error))
        let response = try JSONValue(parsing: Array(text.utf8))
        #expect(response["error"]?["code"] == 77)
        #expect(response["error"]?["message"] == "Nobody  is signed in.")
        let document = response["error"]?["data"]
        #expect(document?["error"]?["reason"] == "not_signed_in")
        #expect(document?["error"]?["exit"] == 77)
        #expect(document?["schema_version"] == 1)
        #expect(document?["warnings"]?.array?.count == 1)
    }
}
