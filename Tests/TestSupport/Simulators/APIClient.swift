// SPDX-License-Identifier: Apache-2.0
import RainHTTP
import RainHTTPCurl
import RainJSON

/// Talks JSON to a running simulator over HTTP.
public final class APIClient {
    public struct Reply {
        public var status: Int
        public var body: JSONValue
    }

    private let base: String
    private let http = CurlHTTPClient()
    public var token: String?

    public init(base: String) { self.base = base }

    public func send(_ method: String, _ target: String, _ body: JSONValue? = nil) async throws -> Reply {
        var headers = token.map { [HTTPHeader("Authorization", $0)] } ?? []
        if body != nil { headers.append(HTTPHeader("Content-Type", "application/json")) }
        let response = try await http.send(
            HTTPRequest(
                method: HTTPRequest.Method(rawValue: method)!, url: base + target, headers: headers,
                body: body?.serialized() ?? []))
        return Reply(status: response.status, body: try JSONValue(parsing: response.body))
    }

    public func signIn(_ name: String, _ password: String) async throws {
        let reply = try await send("POST", "/v1/login2", ["user_name": .string(name), "password": .string(password)])
        guard let access = reply.body["accesstoken"]?.string else { throw APIClientError(text: "\(reply)") }
        token = access
    }
}

public struct APIClientError: Error { public var text: String }
