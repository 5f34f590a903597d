// SPDX-License-Identifier: Apache-2.0
import RainHTTP
import RainHTTPCurl
import RainJSON
import RainKit
import TestSupport

extension SimulatedIdentity {
    /// What only the simulator has: `settings`, `clock`, `faults` and the like.
    func control(_ provider: String, _ what: String, _ body: JSONValue) async throws {
        let response = try await CurlHTTPClient().send(
            HTTPRequest(
                method: .post, url: try url(provider) + "/_sim/" + what,
                headers: [HTTPHeader("Content-Type", "application/json")], body: body.serialized()))
        guard response.status == 200 else { throw ProcessError("\(what): HTTP \(response.status)") }
    }
}
