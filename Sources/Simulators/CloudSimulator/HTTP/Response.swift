// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// One HTTP response: nearly always JSON; a page or a redirect where a browser asked.
public struct Response: Sendable, Equatable {
    public enum Content: Sendable, Equatable {
        case json(JSONValue)
        case html(String)
        /// Any other bytes, and their media type.
        case data([UInt8], type: String)
        case none
    }

    /// How much of it reaches the peer. Every case but ``whole`` is a fault that a test has set.
    public enum Delivery: Sendable, Equatable {
        case whole
        /// A complete response whose body is only the first half of it.
        case halved
        /// The head promises a body of which only half comes, then the connection is reset.
        case cut
        /// Not a byte, then the connection is reset.
        case reset
        /// Not a byte, and the connection stays open.
        case never
    }

    public var status: Int
    public var headers: [Request.Field] = []
    public var content: Content
    public var delivery = Delivery.whole
    /// What the connection is for after the response, instead of requests.
    final class TakeOver: Sendable, Equatable {
        let serve: @Sendable (_ connection: Int32) -> Void
        init(_ serve: @escaping @Sendable (_ connection: Int32) -> Void) { self.serve = serve }
        static func == (left: TakeOver, right: TakeOver) -> Bool { left === right }
    }
    var takeOver: TakeOver?
    /// How long it is held back.
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

    /// The body as JSON; null if it is none.
    public var body: JSONValue {
        guard case .json(let value) = content else { return .null }
        return value
    }

    /// The bytes on the wire, in one piece: two writes would wait for each other (Nagle and delayed acknowledgement).
    ///
    /// - Parameter now: the server's time, in milliseconds since 1970: every response has a `Date` (RFC 9110, 6.6.1).
    func serialized(keepsConnection: Bool, now: Int64) -> [UInt8] {
        let (type, bytes) = payload
        let whole = delivery == .halved ? Array(bytes.prefix(bytes.count / 2)) : bytes
        let sent = delivery == .cut ? Array(whole.prefix(whole.count / 2)) : whole
        var head = "HTTP/1.1 \(status) \(reasonPhrase(status))\r\nDate: \(httpDate(now))\r\n"
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
