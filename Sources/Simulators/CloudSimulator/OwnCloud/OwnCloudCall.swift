// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// One request to the simulated backend.
struct OwnCloudCall {
    /// Longer ids and secrets are refused.
    private static let maximumText = 128

    let request: Request
    let systems: [IdentityAPI]
    /// The decoded parts of the path after the first slash.
    let parts: [String]

    init(_ request: Request, systems: [IdentityAPI]) {
        self.request = request
        self.systems = systems
        parts = request.path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(percentDecoded)
    }

    /// The token of `Authorization: Bearer`.
    func token() throws(OwnCloudFailure) -> String {
        guard let header = request.header("Authorization"), header.lowercased().hasPrefix("bearer ") else {
            throw OwnCloudFailure(401, "invalid_token", "A bearer token is needed")
        }
        return header.dropFirst(7).trimmingSpaces()
    }

    /// The caller: the person to whom one of the systems issued the token. The token must still be valid there.
    func caller() throws(OwnCloudFailure) -> OwnCloudCaller {
        let token = try token()
        for system in systems {
            if let user = system.user(ofAccessToken: token) { return OwnCloudCaller(user: user, system: system.system) }
        }
        throw OwnCloudFailure(401, "invalid_token", "The token is not known, or has ended")
    }

    func body() throws(OwnCloudFailure) -> JSONValue {
        guard let body = try? JSONValue(parsing: request.body, limits: Call.limits), body.members != nil else {
            throw .badBody
        }
        return body
    }

    static func text(_ name: String, of body: JSONValue) throws(OwnCloudFailure) -> String {
        guard let text = body[name]?.string, (1...maximumText).contains(text.utf8.count) else {
            throw OwnCloudFailure(400, "invalid_request", "\(name) is missing or too long")
        }
        return text
    }

    static func node(_ name: String) throws(OwnCloudFailure) -> String {
        guard (1...maximumText).contains(name.utf8.count) else {
            throw OwnCloudFailure(400, "invalid_request", "The node's id is missing or too long")
        }
        return name
    }
}
