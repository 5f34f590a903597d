// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// One endpoint of the API: method, path, whether it requires authorisation, and the function that answers.
struct Endpoint: Sendable {
    var method: String
    /// The parts of the path; a `*` at the end matches any one part.
    var pattern: [String]
    var isAuthorized: Bool
    var answer: @Sendable (CloudAPI, Call) throws(APIError) -> Response

    private init(
        _ method: String, _ path: String, isAuthorized: Bool = true,
        answer: @escaping @Sendable (CloudAPI, Call) throws(APIError) -> Response
    ) {
        self.method = method
        pattern = path.split(separator: "/").map(String.init)
        self.isAuthorized = isAuthorized
        self.answer = answer
    }

    private func matches(_ parts: some Collection<Substring>) -> Bool {
        parts.count == pattern.count && zip(parts, pattern).allSatisfy { $1 == "*" || $0 == $1 }
    }

    /// Returns the endpoints at a path. A `*` matches ids only. It does not match a name that has its own endpoint, or a name in the
    /// cloud's API that is not served here.
    static func served(_ parts: some BidirectionalCollection<Substring>, of all: [Endpoint]) -> [Endpoint] {
        let found = all.filter { $0.matches(parts) }
        let exact = found.filter { $0.pattern.last != "*" }
        if !exact.isEmpty { return exact }
        return parts.last.map { unserved.contains($0) } ?? false ? [] : found
    }

    /// Names below `user/nodes` in the cloud's API description that are not served here.
    private static let unserved: Set<Substring> = [
        "group", "history", "proxy", "time_series",
    ]

    /// All endpoints.
    static let all: [Endpoint] =
        metadata + hostedPages + accounts + nodes + sharing + groups + automations + mappings + claims

    private static let metadata = [
        Endpoint("GET", "/apiversions", isAuthorized: false) { api, _ in api.versions() },
        Endpoint("GET", "/mqtt_host", isAuthorized: false) { api, _ in api.mqttHost() },
        Endpoint("GET", "/mqtt", isAuthorized: false) { api, call in api.openLive(call) },
        Endpoint("POST", "/v1/user/assume_role") { api, call throws(APIError) in try api.assumeRole(call) },
    ]

    /// The paths of Cognito, and those of RainMaker's own front end.
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

    /// The claim service, which has a separate base and no version.
    private static let claims = [
        Endpoint("POST", "/claim/initiate") { api, call throws(APIError) in try api.initiateClaim(call) },
        Endpoint("POST", "/claim/verify") { api, call throws(APIError) in try api.verifyClaim(call) },
    ]
}

/// The names with a `2` belong to the current user pool. The names without it are their older equivalents. The official client uses both.
extension Endpoint {
    private static let accounts = signIn + passwords + profile + guests

    private static let signIn =
        ["login2", "login"].map { path in
            Endpoint("POST", "/v1/\(path)", isAuthorized: false) { api, call throws(APIError) in try api.logIn(call) }
        }
        + ["logout2", "logout"].map { path in
            Endpoint("POST", "/v1/\(path)") { api, call throws(APIError) in try api.logOut(call) }
        }

    private static let passwords =
        ["forgotpassword2", "forgotpassword"].map { path in
            Endpoint("PUT", "/v1/\(path)", isAuthorized: false) { api, call throws(APIError) in
                try api.forgotPassword(call)
            }
        }
        + ["password2", "password"].map { path in
            Endpoint("PUT", "/v1/\(path)") { api, call throws(APIError) in try api.changePassword(call) }
        }

    private static let profile =
        ["user2", "user"].flatMap { path in
            [
                Endpoint("POST", "/v1/\(path)", isAuthorized: false) { api, call throws(APIError) in
                    try api.signUp(call)
                },
                Endpoint("GET", "/v1/\(path)") { api, call throws(APIError) in try api.profile(call) },
                Endpoint("PUT", "/v1/\(path)") { api, call throws(APIError) in try api.updateProfile(call) },
                Endpoint("DELETE", "/v1/\(path)") { api, call throws(APIError) in try api.deleteAccount(call) },
            ]
        } + [
            Endpoint("GET", "/v1/user/custom_data") { api, call throws(APIError) in try api.customData(call) },
            Endpoint("PUT", "/v1/user/custom_data") { api, call throws(APIError) in try api.setCustomData(call) },
            Endpoint("GET", "/v1/user/public_profile") { api, call throws(APIError) in try api.publicProfile(call) },
            Endpoint("PUT", "/v1/user/public_profile") { api, call throws(APIError) in try api.setPublicProfile(call) },
            Endpoint("POST", "/v1/user/data-requests") { api, call throws(APIError) in try api.requestData(call) },
            Endpoint("GET", "/v1/user/data-requests/*") { api, call throws(APIError) in try api.requestedData(call) },
        ]
        + ["POST", "GET", "DELETE"].map { method in
            Endpoint(method, "/v1/user/push_notification/mobile_platform_endpoint") { api, call throws(APIError) in
                try api.pushEndpoint(call)
            }
        }
        + ["POST", "PUT", "GET", "DELETE"].map { method in
            Endpoint(method, "/v1/user/event_filter") { api, call throws(APIError) in try api.eventFilter(call) }
        }

    private static let guests = [
        Endpoint("POST", "/v1/user/guest", isAuthorized: false) { api, call throws(APIError) in try api.beGuest(call) },
        Endpoint("POST", "/v1/user/guest/conversion/initiate") { api, call throws(APIError) in
            try api.initiateConversion(call)
        },
        Endpoint("POST", "/v1/user/guest/conversion/verify") { api, call throws(APIError) in
            try api.verifyConversion(call)
        },
    ]
}

/// The endpoints for nodes of an account.
extension Endpoint {
    private static let nodes = [
        Endpoint("GET", "/v1/user/nodes") { api, call throws(APIError) in try api.listNodes(call) },
        Endpoint("PUT", "/v1/user/nodes") { api, call throws(APIError) in try api.noteNode(call) },
        Endpoint("DELETE", "/v1/user/nodes") { api, call throws(APIError) in try api.removeNodeTags(call) },
        Endpoint("GET", "/v1/user/nodes/config") { api, call throws(APIError) in try api.nodeConfig(call) },
        Endpoint("GET", "/v1/user/nodes/status") { api, call throws(APIError) in try api.nodeStatus(call) },
        Endpoint("GET", "/v1/user/nodes/params") { api, call throws(APIError) in try api.nodeParams(call) },
        Endpoint("PUT", "/v1/user/nodes/params") { api, call throws(APIError) in try api.setNodeParams(call) },
        Endpoint("GET", "/v1/user/nodes/tsdata") { api, call throws(APIError) in try api.seriesData(call) },
        Endpoint("GET", "/v1/user/nodes/simple_tsdata") { api, call throws(APIError) in
            try api.simpleSeriesData(call)
        },
        Endpoint("POST", "/v1/user/nodes/cmd") { api, call throws(APIError) in try api.sendCommand(call) },
        Endpoint("GET", "/v1/user/nodes/cmd") { api, call throws(APIError) in try api.commandRequests(call) },
        Endpoint("DELETE", "/v1/user/nodes/cmd") { api, call throws(APIError) in try api.cancelCommands(call) },
        Endpoint("GET", "/v1/user/nodes/ota_update") { api, call throws(APIError) in try api.updateForNode(call) },
        Endpoint("POST", "/v1/user/nodes/ota_update") { api, call throws(APIError) in try api.startUpdate(call) },
        Endpoint("GET", "/v1/user/nodes/ota_status") { api, call throws(APIError) in try api.updateState(call) },
        Endpoint("POST", "/v1/user/otaimage") { api, call throws(APIError) in try api.keepImage(call) },
        Endpoint("GET", "/otaimages/*", isAuthorized: false) { api, call throws(APIError) in try api.image(call) },
    ]

    private static let sharing: [Endpoint] =
        [
            Endpoint("GET", "/v1/user/nodes/sharing") { api, call throws(APIError) in try api.nodeSharing(call) },
            Endpoint("GET", "/v1/user/node_group/sharing") { api, call throws(APIError) in try api.groupSharing(call) },
        ]
        + [("/v1/user/nodes", SharingTable.Kind.nodes), ("/v1/user/node_group", .groups)].flatMap { root, kind in
            [
                Endpoint("PUT", "\(root)/sharing") { api, call throws(APIError) in try api.share(kind, call) },
                Endpoint("DELETE", "\(root)/sharing") { api, call throws(APIError) in try api.unshare(kind, call) },
                // The newer form of the request.
                Endpoint("POST", "\(root)/sharing/requests") { api, call throws(APIError) in
                    try api.share(kind, call)
                },
                Endpoint("GET", "\(root)/sharing/requests") { api, call throws(APIError) in
                    try api.sharingRequests(kind, call)
                },
                Endpoint("PUT", "\(root)/sharing/requests") { api, call throws(APIError) in
                    try api.answerSharing(kind, call)
                },
                Endpoint("DELETE", "\(root)/sharing/requests") { api, call throws(APIError) in
                    try api.cancelSharing(kind, call)
                },
            ]
        }

    private static let groups = [
        Endpoint("POST", "/v1/user/node_group") { api, call throws(APIError) in try api.createGroup(call) },
        Endpoint("GET", "/v1/user/node_group") { api, call throws(APIError) in try api.listGroups(call) },
        Endpoint("PUT", "/v1/user/node_group") { api, call throws(APIError) in try api.editGroup(call) },
        Endpoint("DELETE", "/v1/user/node_group") { api, call throws(APIError) in try api.removeGroup(call) },
    ]

    private static let automations = [
        Endpoint("POST", "/v1/user/node_automation") { api, call throws(APIError) in try api.createAutomation(call) },
        Endpoint("GET", "/v1/user/node_automation") { api, call throws(APIError) in try api.listAutomations(call) },
        Endpoint("PUT", "/v1/user/node_automation") { api, call throws(APIError) in try api.editAutomation(call) },
        Endpoint("DELETE", "/v1/user/node_automation") { api, call throws(APIError) in
            try api.removeAutomation(call)
        },
    ]
}

/// One request to the API: the caller, the path, the query and the body.
struct Call {
    var request: Request
    /// Set for every endpoint that requires authorisation.
    var access: TokenIssuer.Access?
    var user: User?
    /// The last part of the path, if the endpoint takes one.
    var pathParameter = ""

    /// Deep enough for every body of the API, and for custom values.
    static let limits = JSONLimits(
        maximumBytes: RequestParser.maximumBody, maximumDepth: 16, maximumValues: 20_000)

    /// Returns the body, which must be an object. With `isOptional`, a missing body counts as an empty object.
    func body(isOptional: Bool = false) throws(APIError) -> Fields {
        if isOptional, request.body.isEmpty { return Fields(value: .object([])) }
        guard let value = try? JSONValue(parsing: request.body, limits: Self.limits), value.members != nil else {
            throw .invalidBody
        }
        return Fields(value: value)
    }

    /// Returns the whole body as any JSON value.
    func anyBody() throws(APIError) -> JSONValue {
        guard let value = try? JSONValue(parsing: request.body, limits: Self.limits) else { throw .invalidBody }
        return value
    }

    func caller() throws(APIError) -> User {
        guard let user else { throw .unauthorized }
        return user
    }

    /// Returns the node in the query; the official client uses `nodeid`.
    func nodeID() throws(APIError) -> String {
        guard let id = request.query("node_id", "nodeid") else { throw .nodeIDMissing }
        return id
    }
}

/// The members of a request's body. `null` counts as absent, because the official client sends it for absent members.
struct Fields {
    var value: JSONValue

    /// Longer strings are refused everywhere.
    private static let maximumString = 4096

    func has(_ name: String) -> Bool { value[name].map { !$0.isNull } ?? false }

    func string(_ name: String) throws(APIError) -> String? {
        guard let member = value[name], !member.isNull else { return nil }
        guard let text = member.string, text.utf8.count <= Self.maximumString else { throw .invalidBody }
        return text
    }

    /// Returns a verification code. Clients send it as text, some as a number.
    func code() throws(APIError) -> String? {
        if let number = value["verification_code"]?.integer {
            let digits = String(number)
            return String(repeating: "0", count: max(0, 6 - digits.count)) + digits
        }
        return try string("verification_code").flatMap { $0.isEmpty ? nil : $0 }
    }

    func integer(_ name: String) throws(APIError) -> Int64? {
        guard let member = value[name], !member.isNull else { return nil }
        guard let number = member.integer else { throw .invalidBody }
        return number
    }

    func bool(_ name: String) throws(APIError) -> Bool? {
        guard let member = value[name], !member.isNull else { return nil }
        guard let flag = member.bool else { throw .invalidBody }
        return flag
    }

    /// Returns the tags, each `key:value` with both sides present.
    func tags() throws(APIError) -> [String] {
        guard let member = value["tags"], !member.isNull else { return [] }
        guard let list = member.array, list.count <= 64 else { throw .invalidBody }
        var tags: [String] = []
        for element in list {
            guard let tag = element.string else { throw .invalidBody }
            let parts = tag.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, tag.utf8.count <= 256 else { throw .badTag }
            tags.append(tag)
        }
        return tags
    }
}
