import JSON

/// One HTTP response: always JSON.
public struct Response: Sendable, Equatable {
    public var status: Int
    public var body: JSONValue

    public init(status: Int = 200, _ body: JSONValue) {
        self.status = status
        self.body = body
    }

    /// The bytes on the wire, in one piece: two writes would wait for each other (Nagle and delayed acknowledgement).
    func serialized(keepsConnection: Bool) -> [UInt8] {
        let body = body.serialized()
        let head = """
            HTTP/1.1 \(status) \(Self.reason(status))\r
            Content-Type: application/json\r
            Content-Length: \(body.count)\r
            Connection: \(keepsConnection ? "keep-alive" : "close")\r
            \r

            """
        return Array(head.utf8) + body
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 408: "Request Timeout"
        case 411: "Length Required"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 431: "Request Header Fields Too Large"
        case 503: "Service Unavailable"
        case 505: "HTTP Version Not Supported"
        default: status < 500 ? "Refused" : "Internal Server Error"
        }
    }
}
