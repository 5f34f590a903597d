// SPDX-License-Identifier: Apache-2.0
import RainHTTP
import RainHTTPCurl
import RainJSON
import RainKit
import TestSupport
import Testing

extension SimulatedCloud {
    /// Asks for what only tests ask for: `expire`, `revoke`, `faults`, `clock`, `mfa`.
    @discardableResult
    func control(_ what: String, _ body: JSONValue) async throws -> JSONValue {
        let request = HTTPRequest(
            method: .post, url: "\(api)/_sim/\(what)", headers: [HTTPHeader("Content-Type", "application/json")],
            body: body.serialized())
        let response = try await CurlHTTPClient().send(request)
        try #require(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
        return try JSONValue(parsing: response.body)
    }
}
