// SPDX-License-Identifier: Apache-2.0
import RainHTTP
import RainKit
import Testing

/// One way in which a renewal can fail: how it appears with a scripted client and with a real server, and how both runs must
/// end.
struct Fault: Sendable, CustomTestStringConvertible {
    var name: String
    var inMemory: Scripted
    var onTheWire: FaultyServer.Behaviour
    /// The `reason` of JSON errors, which is the SDK's error code.
    var reason: String
    var exit: Int
    var retryAfter: Int64?
    var endsSession = false

    enum Scripted: Sendable {
        case success(HTTPResponse)
        case failure(HTTPError.Code)

        func answer() throws(HTTPError) -> HTTPResponse {
            switch self {
            case .success(let response): return response
            case .failure(let code): throw HTTPError(code, host: "scripted", message: "a scripted fault")
            }
        }
    }

    var testDescription: String { name }

    /// A server that answers that way answers so in memory too.
    private static func answer(
        _ name: String, _ status: Int, _ body: String, _ reason: String, _ exit: Int, headers: [HTTPHeader] = [],
        retryAfter: Int64? = nil, endsSession: Bool = false
    ) -> Fault {
        let response = HTTPResponse(status: status, headers: headers, body: Array(body.utf8))
        return Fault(
            name: name, inMemory: .success(response), onTheWire: .answer(response), reason: reason, exit: exit,
            retryAfter: retryAfter, endsSession: endsSession)
    }

    private static let page = "<!DOCTYPE html><html><body>Welcome. Accept the terms to go on.</body></html>"
    private static let refusal = #"{"status":"failure","error_code":101017,"description":"refresh token failed"}"#

    static let all: [Fault] = [
        // The server cannot be reached.
        Fault(
            name: "refused", inMemory: .failure(.unreachable), onTheWire: .refuse, reason: "network", exit: 75),
        Fault(name: "silence", inMemory: .failure(.timeout), onTheWire: .hang, reason: "timeout", exit: 75),
        Fault(name: "reset in the middle", inMemory: .failure(.closed), onTheWire: .reset, reason: "network", exit: 75),
        Fault(name: "closed in the middle", inMemory: .failure(.closed), onTheWire: .cut, reason: "network", exit: 75),
        Fault(name: "no such name", inMemory: .failure(.unresolved), onTheWire: .noName, reason: "network", exit: 75),
        // It is not well.
        answer("500", 500, #"{"message":"Internal server error"}"#, "server_fault", 75),
        answer("500 with the cloud's refusal", 500, refusal, "server_fault", 75),
        answer("502 and a page", 502, page, "server_fault", 75),
        answer(
            "503 with Retry-After", 503, "{}", "server_fault", 75, headers: [HTTPHeader("Retry-After", "37")],
            retryAfter: 37),
        answer(
            "429 with Retry-After", 429, #"{"status":"failure","error_code":100070,"description":"slow down"}"#,
            "rate_limited", 75, headers: [HTTPHeader("Retry-After", "5")], retryAfter: 5),
        answer("429", 429, #"{"message":"Too Many Requests"}"#, "rate_limited", 75),
        // Somebody else answers, or half of it is lost.
        answer("200 and a page", 200, page, "malformed_answer", 75),
        answer("401 from a gateway", 401, #"{"message":"Unauthorized"}"#, "server_fault", 75),
        answer("half of the JSON", 200, #"{"status":"success","accesstoken":"eyJhbGci"#, "malformed_answer", 75),
        answer("an empty object", 200, "{}", "malformed_answer", 75),
        // No trusted connection.
        Fault(
            name: "unknown authority", inMemory: .failure(.tls), onTheWire: .tls(.unknownAuthority), reason: "tls",
            exit: 78),
        Fault(
            name: "expired certificate", inMemory: .failure(.tls), onTheWire: .tls(.expired), reason: "tls", exit: 78),
        Fault(
            name: "another host's certificate", inMemory: .failure(.tls), onTheWire: .tls(.otherHost), reason: "tls",
            exit: 78),
        // The counterpart of these three: the connection is trusted, and what it brings is a page.
        Fault(
            name: "trusted, and a page",
            inMemory: .success(HTTPResponse(status: 200, body: Array(page.utf8))), onTheWire: .tls(.good),
            reason: "malformed_answer", exit: 75),
        // The cloud itself says no.
        answer("refused by the cloud", 400, refusal, "expired", 77, endsSession: true),
    ]
}
