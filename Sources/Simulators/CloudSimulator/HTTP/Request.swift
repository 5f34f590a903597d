// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON

/// One complete HTTP request within the limits.
public struct Request: Sendable, Equatable {
    public struct Field: Sendable, Equatable {
        public var name: String
        public var value: String
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    public var method: String
    /// The path as it was sent, without the query.
    public var path: String
    /// Percent-decoded, in order. Empty parts (`?&a=b`, as the official client sends it) are skipped.
    public var query: [Field]
    public var headers: [Field]
    public var body: [UInt8]
    /// Whether the connection stays open for another request.
    public var keepsConnection: Bool

    public init(
        method: String, target: String, headers: [Field] = [], body: [UInt8] = [], keepsConnection: Bool = true
    ) {
        self.method = method
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = parts.first.map(String.init) ?? ""
        query = parts.count > 1 ? Self.fields(ofQuery: parts[1]) : []
        self.headers = headers
        self.body = body
        self.keepsConnection = keepsConnection
    }

    /// Returns the first header of that name, which is compared without regard to case.
    public func header(_ name: String) -> String? {
        let name = name.lowercased()
        return headers.first { $0.name.lowercased() == name }?.value
    }

    /// Returns the first query value of one of those names; nil if it is missing or empty.
    public func query(_ names: String...) -> String? {
        query.first { names.contains($0.name) && !$0.value.isEmpty }?.value
    }

    static func fields(ofQuery text: Substring) -> [Field] {
        text.split(separator: "&").map { part in
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return Field(percentDecoded(pair[0]), pair.count > 1 ? percentDecoded(pair[1]) : "")
        }
    }
}

/// Decodes `+` as a space and `%41` as an A. A percent sign without two hex digits stays.
func percentDecoded(_ text: Substring) -> String {
    String(decoding: PercentEncoding.decoded(text.utf8, plusIsSpace: true), as: UTF8.self)
}

/// One HTTP response: usually JSON, or a page or a redirect for a browser.
public struct Response: Sendable, Equatable {
    public enum Content: Sendable, Equatable {
        case json(JSONValue)
        case html(String)
        /// Any other bytes, and their media type.
        case data([UInt8], type: String)
        case none
    }

    /// How much of the response reaches the peer. Every case except ``whole`` is a fault that a test has set.
    public enum Delivery: Sendable, Equatable {
        case whole
        /// A complete response with only the first half of the body.
        case halved
        /// Half of the body that the head announces, then a reset of the connection.
        case cut
        /// No byte, then a reset of the connection.
        case reset
        /// No byte; the connection stays open.
        case never
    }

    public var status: Int
    public var headers: [Request.Field] = []
    public var content: Content
    public var delivery = Delivery.whole
    /// The use of the connection after the response, if no more requests follow.
    final class TakeOver: Sendable, Equatable {
        let serve: @Sendable (_ connection: Int32) -> Void
        init(_ serve: @escaping @Sendable (_ connection: Int32) -> Void) { self.serve = serve }
        static func == (left: TakeOver, right: TakeOver) -> Bool { left === right }
    }
    var takeOver: TakeOver?
    /// The delay before the response is sent.
    var delayMilliseconds: Int64 = 0

    public init(status: Int = 200, _ body: JSONValue) {
        self.status = status
        content = .json(body)
    }

    public init(status: Int = 200, content: Content, headers: [Request.Field] = []) {
        self.status = status
        self.content = content
        self.headers = headers
    }

    /// The body as JSON; null if it is not JSON.
    public var body: JSONValue {
        guard case .json(let value) = content else { return .null }
        return value
    }

    /// Returns the response in one piece: two writes would wait for each other (Nagle and delayed acknowledgement).
    ///
    /// - Parameter now: the server's time, in milliseconds since 1970. Every response has a `Date` (RFC 9110, 6.6.1).
    func serialized(keepsConnection: Bool, now: Int64) -> [UInt8] {
        let (type, bytes) = payload
        let whole = delivery == .halved ? Array(bytes.prefix(bytes.count / 2)) : bytes
        let sent = delivery == .cut ? Array(whole.prefix(whole.count / 2)) : whole
        let date = CivilTime(secondsSince1970: Int(now / 1000)).httpDate
        var head = "HTTP/1.1 \(status) \(reasonPhrase(status))\r\nDate: \(date)\r\n"
        if let type { head += "Content-Type: \(type)\r\n" }
        for field in headers { head += "\(field.name): \(field.value)\r\n" }
        // Without a body and its length (RFC 9110, 8.6).
        if status == 101 { return Array((head + "\r\n").utf8) }
        head += "Content-Length: \(whole.count)\r\nConnection: \(keepsConnection ? "keep-alive" : "close")\r\n\r\n"
        return Array(head.utf8) + sent
    }

    private var payload: (type: String?, bytes: [UInt8]) {
        switch content {
        case .json(let value): ("application/json", value.serialized())
        case .html(let text): ("text/html; charset=utf-8", Array(text.utf8))
        case .data(let bytes, let type): (type, bytes)
        case .none: (nil, [])
        }
    }
}

func reasonPhrase(_ status: Int) -> String {
    switch status {
    case 101: "Switching Protocols"
    case 200: "OK"
    case 201: "Created"
    case 302: "Found"
    case 303: "See Other"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 408: "Request Timeout"
    case 413: "Content Too Large"
    case 414: "URI Too Long"
    case 420: "Enhance Your Calm"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 502: "Bad Gateway"
    case 503: "Service Unavailable"
    case 504: "Gateway Timeout"
    case 505: "HTTP Version Not Supported"
    default: status < 400 ? "Other" : status < 500 ? "Refused" : "Server Error"
    }
}
