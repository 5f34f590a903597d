// SPDX-License-Identifier: Apache-2.0

/// The errors of `esp_http_server`, with its own texts (`httpd_txrx.c`).
struct HTTPStatus: Equatable {
    var line: String
    var message: String

    static let badRequest = HTTPStatus(line: "400 Bad Request", message: "Bad request syntax")
    static let notFound = HTTPStatus(line: "404 Not Found", message: "Nothing matches the given URI")
    static let methodNotAllowed = HTTPStatus(
        line: "405 Method Not Allowed", message: "Specified method is invalid for this resource")
    static let requestTimeout = HTTPStatus(line: "408 Request Timeout", message: "Server closed this connection")
    static let uriTooLong = HTTPStatus(line: "414 URI Too Long", message: "URI is too long")
    static let headersTooLarge = HTTPStatus(
        line: "431 Request Header Fields Too Large", message: "Header fields are too long")
    static let internalError = HTTPStatus(
        line: "500 Internal Server Error", message: "Server has encountered an unexpected error")
    static let versionNotSupported = HTTPStatus(
        line: "505 Version Not Supported", message: "HTTP version not supported by server")

    /// The pieces in which the server sends a response: each is a `send()` of its own, with Nagle's algorithm on, which
    /// costs a client on a kept-alive connection a delayed acknowledgement.
    static func response(
        _ status: String = "200 OK", headers: [(name: String, value: String)] = [], body: [UInt8]
    ) -> [[UInt8]] {
        let essential = "HTTP/1.1 \(status)\r\nContent-Type: text/html\r\nContent-Length: \(body.count)\r\n"
        var pieces = [Array(essential.utf8)]
        for header in headers {
            pieces += [Array(header.name.utf8), Array(": ".utf8), Array(header.value.utf8), Array("\r\n".utf8)]
        }
        pieces.append(Array("\r\n".utf8))
        if !body.isEmpty { pieces.append(body) }
        return pieces
    }

    var response: [[UInt8]] { Self.response(line, body: Array(message.utf8)) }
}
