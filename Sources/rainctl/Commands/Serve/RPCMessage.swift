// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import RainKit

/// One request of JSON-RPC 2.0 (https://www.jsonrpc.org/specification).
struct RPCCall: Sendable {
    /// Nil for a notification, which gets no answer.
    var id: RPCID?
    var method: String
    var params: [JSONValue.Member]

    /// Reads a request.
    /// - Throws: the error for an object that is not one, with its id as far as it is known.
    init(_ value: JSONValue) throws(RPCRefusal) {
        guard let members = value.members else {
            throw RPCRefusal(id: nil, .invalidRequest, "A request must be an object, but this is \(value.kind).")
        }
        let idValue = value["id"]
        let id = idValue.flatMap { RPCID($0) }
        func refusal(_ message: String) -> RPCRefusal { RPCRefusal(id: id, .invalidRequest, message) }
        guard value["jsonrpc"]?.string == "2.0" else {
            throw refusal("\"jsonrpc\" must be \"2.0\".")
        }
        guard idValue == nil || id != nil else {
            throw refusal("\"id\" must be a number, null or a string of at most \(RPCID.maximumBytes) bytes.")
        }
        guard let method = value["method"]?.string else { throw refusal("\"method\" must be a string.") }
        if let other = members.first(where: { !["jsonrpc", "id", "method", "params"].contains($0.name) }) {
            throw refusal("A request cannot have the member \"\(other.name.onOneLine)\".")
        }
        let params = value["params"] ?? [:]
        guard let named = params.members else {
            throw RPCRefusal(
                id: id, .invalidParams,
                "\"params\" must be an object with the method's members, but is \(params.kind).")
        }
        (self.id, self.method, self.params) = (id, method, named)
    }
}

/// The id of a request. It is sent back as the client wrote it.
struct RPCID: Sendable, Hashable {
    /// As JSON.
    let text: String
    static let maximumBytes = 256

    /// Nil for a value that cannot be an id.
    init?(_ value: JSONValue) {
        switch value {
        case .null, .integer, .number, .longNumber: break
        case .string(let text) where text.utf8.count <= Self.maximumBytes: break
        default: return nil
        }
        text = RPCText.json(value)
    }

    private init(text: String) { self.text = text }

    /// The id of a request that has none, or whose id could not be read.
    static let null = RPCID(text: "null")
}

/// The numbers that JSON-RPC reserves. The error of a command has its exit status as the number instead.
enum RPCNumber: Int, Sendable {
    case parseError = -32700
    case invalidRequest = -32600
    case noSuchMethod = -32601
    case invalidParams = -32602
    /// The first of those that are left to servers.
    case serverError = -32000
}

/// The error of a request that does not reach a command.
struct RPCRefusal: Error, Sendable {
    /// Nil if it is unknown.
    var id: RPCID?
    var error: RPCError

    init(id: RPCID?, _ number: RPCNumber, reason: String = "bad_request", _ message: String) {
        self.id = id
        error = RPCError(number, CommandFailure(.usage, reason: reason, message: message))
    }
}

/// The `error` of a response.
struct RPCError: Error, Sendable {
    var number: Int
    var message: String
    /// The document that the command prints with `--json` (docs/schema/error.json), on one line.
    var document: String

    /// The error of a command that ran.
    init(_ failure: CommandFailure, warnings: [Warning] = []) {
        self.init(number: Int(failure.status.rawValue), failure, warnings)
    }

    init(_ number: RPCNumber, _ failure: CommandFailure, warnings: [Warning] = []) {
        self.init(number: number.rawValue, failure, warnings)
    }

    private init(number: Int, _ failure: CommandFailure, _ warnings: [Warning]) {
        self.number = number
        message = failure.message.withoutControls
        document = JSONText.documentLine(ErrorResult(failure), warnings: warnings)
    }
}

/// The texts that go to a client, each on one line without its end.
enum RPCText {
    static func response(to id: RPCID, _ outcome: Result<String, RPCError>) -> String {
        switch outcome {
        case .success(let document): return "{\"jsonrpc\":\"2.0\",\"id\":\(id.text),\"result\":\(document)}"
        case .failure(let error):
            return "{\"jsonrpc\":\"2.0\",\"id\":\(id.text),\"error\":{\"code\":\(error.number),"
                + "\"message\":\(json(.string(error.message))),\"data\":\(error.document)}}"
        }
    }

    /// Returns the notification of something that a request reports before its response.
    static func notification(of id: RPCID, _ notice: ServedRequest.Notice) -> String {
        let (method, name, content): (String, String, String) =
            switch notice {
            case .event(let line): ("event", "event", line)
            case .note(let text): ("note", "message", json(.string(text.linesWithoutControls.trimmed)))
            case .page(let page): ("sign_in_page", "page", String(JSONText.line(page).dropLast()))
            }
        return "{\"jsonrpc\":\"2.0\",\"method\":\"\(method)\",\"params\":{\"id\":\(id.text),\"\(name)\":\(content)}}"
    }

    static func json(_ value: JSONValue) -> String {
        ShownText.json(String(decoding: value.serialized(), as: UTF8.self))
    }
}

extension String {
    fileprivate var trimmed: String {
        var text = self[...]
        while text.last == "\n" { text.removeLast() }
        return String(text)
    }
}

/// Splits a client's bytes into lines. Empty lines are left out, and a line that is too long is reported once, at its beginning.
struct RPCLines {
    enum Line: Equatable, Sendable { case complete([UInt8]), tooLong }

    let limit: Int
    private var pending: [UInt8] = []
    private var isSkipping = false

    /// - Parameter limit: the maximum length of a line in bytes, without its end.
    init(limit: Int) { self.limit = limit }

    mutating func append(_ bytes: some Collection<UInt8>) -> [Line] {
        var lines: [Line] = []
        var rest = bytes[...]
        while let end = rest.firstIndex(of: 0x0A) {
            take(rest[..<end], &lines)
            finish(&lines)
            rest = rest[rest.index(after: end)...]
        }
        take(rest, &lines)
        return lines
    }

    /// Takes the end of the input as the end of a line.
    mutating func end() -> [Line] {
        var lines: [Line] = []
        finish(&lines)
        return lines
    }

    private mutating func take(_ bytes: some Collection<UInt8>, _ lines: inout [Line]) {
        guard !isSkipping else { return }
        // One byte more may be the carriage return before the end.
        guard pending.count + bytes.count <= limit + 1 else {
            lines.append(.tooLong)
            (pending, isSkipping) = ([], true)
            return
        }
        pending += bytes
    }

    private mutating func finish(_ lines: inout [Line]) {
        defer { (pending, isSkipping) = ([], false) }
        guard !isSkipping else { return }
        if pending.last == 0x0D { pending.removeLast() }
        if pending.count > limit { return lines.append(.tooLong) }
        if !pending.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { lines.append(.complete(pending)) }
    }
}
