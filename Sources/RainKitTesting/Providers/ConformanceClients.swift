// SPDX-License-Identifier: Apache-2.0
import IdentityProviders
import RainAccount
import RainHTTP

/// A way to the server on which nothing works.
struct FaultyClient: HTTPClient {
    enum Fault: Sendable, CaseIterable {
        case unreachable, cutOff, silent, gatewayPage, proxyPage, halfAnswer, stranger, notFound, tooMany

        static let all = allCases
        /// What `tooMany` asks for.
        static let rest = Duration.seconds(7)
    }

    var fault: Fault

    func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        switch fault {
        case .unreachable: throw HTTPError(.unreachable, host: "server", message: "refused")
        case .cutOff: throw HTTPError(.closed, host: "server", message: "closed")
        case .silent: throw HTTPError(.timeout, host: "server", message: "silent")
        case .gatewayPage: return HTTPResponse(status: 503, body: Array("<html>busy</html>".utf8))
        case .proxyPage: return HTTPResponse(status: 200, body: Array("<html>Sign in to this network</html>".utf8))
        case .halfAnswer: return HTTPResponse(status: 200, body: Array("{\"access_tok".utf8))
        // A server in front of the provider's, which asks for something of its own.
        case .stranger: return HTTPResponse(status: 401, body: Array("<html>Who are you?</html>".utf8))
        case .notFound: return HTTPResponse(status: 404, body: Array("<html>Not here</html>".utf8))
        case .tooMany:
            return HTTPResponse(
                status: 429, headers: [HTTPHeader("Content-Type", "application/json"), HTTPHeader("Retry-After", "7")],
                body: Array("{\"message\":\"Too Many Requests\"}".utf8))
        }
    }
}

/// A server that refuses everything and throws back what it was sent, as some do for developers. No error may quote a secret out of that.
public struct EchoingClient: HTTPClient {
    public init() {}

    public func send(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let headers = request.headers.map { "\($0.name): \($0.value)" }.joined(separator: " ")
        let echo = String(decoding: request.body, as: UTF8.self) + " " + headers + " " + request.url
        var text = ""
        for scalar in echo.unicodeScalars {
            if scalar == "\\" || scalar == "\"" { text += "\\" }
            text.unicodeScalars.append(scalar)
        }
        let body = """
            {"error":"invalid_request","error_description":"\(text)","message":"\(text)","details":"\(text)"}
            """
        return HTTPResponse(
            status: 400, headers: [HTTPHeader("Content-Type", "application/json")], body: Array(body.utf8))
    }
}
