// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// One endpoint of the API: method, path, whether it needs authorisation, and the function that answers.
struct Endpoint: Sendable {
    var method: String
    /// The parts of the path; a `*` at the end stands for any one part.
    var pattern: [String]
    var isAuthorized: Bool
    var answer: @Sendable (CloudAPI, Call) throws(APIError) -> Response

    init(
        _ method: String, _ path: String, isAuthorized: Bool = true,
        answer: @escaping @Sendable (CloudAPI, Call) throws(APIError) -> Response
    ) {
        self.method = method
        pattern = path.split(separator: "/").map(String.init)
        self.isAuthorized = isAuthorized
        self.answer = answer
    }

    func matches(_ parts: some Collection<Substring>) -> Bool {
        parts.count == pattern.count && zip(parts, pattern).allSatisfy { $1 == "*" || $0 == $1 }
    }

    /// What is served at a path. A `*` stands for ids: not for a path with a name of its own, nor for those of the cloud that are not served.
    static func served(_ parts: some BidirectionalCollection<Substring>, of all: [Endpoint]) -> [Endpoint] {
        let found = all.filter { $0.matches(parts) }
        let exact = found.filter { $0.pattern.last != "*" }
        if !exact.isEmpty { return exact }
        return parts.last.map { unserved.contains($0) } ?? false ? [] : found
    }

    /// Below `user/nodes`, in the cloud's description of its interface, and not here.
    private static let unserved: Set<Substring> = [
        "group", "history", "ota_status", "ota_update", "proxy", "time_series",
    ]

    /// Everything that is served.
    static let all: [Endpoint] =
        metadata + hostedPages + accounts + nodes + sharing + groups + automations + mappings + claims

    private static let metadata = [
        Endpoint("GET", "/apiversions", isAuthorized: false) { api, _ in api.versions() },
        Endpoint("GET", "/mqtt_host", isAuthorized: false) { api, _ in api.mqttHost() },
        Endpoint("GET", "/mqtt", isAuthorized: false) { api, call in api.openLive(call) },
        Endpoint("POST", "/v1/user/assume_role") { api, call throws(APIError) in try api.assumeRole(call) },
    ]

    /// The paths of Cognito, and those of RainMaker's own front.
    private static let hostedPages =
        ["/oauth2", ""].flatMap { root in
            [
                Endpoint("GET", "\(root)/authorize", isAuthorized: false) { api, call in api.showSignInPage(call) },
                Endpoint("POST", "\(root)/authorize", isAuthorized: false) { api, call in api.submitSignInPage(call) },
                Endpoint("POST", "\(root)/token", isAuthorized: false) { api, call in api.token(call) },
            ]
        } + [
            Endpoint("GET", RelayPage.path, isAuthorized: false) { _, call in RelayPage.respond(to: call.request) }
        ]

    private static let mappings = [
        Endpoint("PUT", "/v1/user/nodes/mapping") { api, call throws(APIError) in try api.requestMapping(call) },
        Endpoint("GET", "/v1/user/nodes/mapping") { api, call throws(APIError) in try api.mappingStatus(call) },
        Endpoint("POST", "/v1/user/nodes/mapping/initiate") { api, call throws(APIError) in
            try api.initiateMapping(call)
        },
        Endpoint("POST", "/v1/user/nodes/mapping/verify") { api, call throws(APIError) in try api.verifyMapping(call) },
        Endpoint("DELETE", "/v1/user/nodes/*") { api, call throws(APIError) in try api.deleteNode(call) },
    ]

    /// The claim service, which has a base of its own and no version.
    private static let claims = [
        Endpoint("POST", "/claim/initiate") { api, call throws(APIError) in try api.initiateClaim(call) },
        Endpoint("POST", "/claim/verify") { api, call throws(APIError) in try api.verifyClaim(call) },
    ]
}
