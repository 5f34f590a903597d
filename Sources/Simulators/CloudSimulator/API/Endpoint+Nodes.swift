// SPDX-License-Identifier: Apache-2.0
/// The endpoints for nodes that are in an account.
extension Endpoint {
    static let nodes = [
        Endpoint("GET", "/v1/user/nodes") { api, call throws(APIError) in try api.listNodes(call) },
        Endpoint("PUT", "/v1/user/nodes") { api, call throws(APIError) in try api.noteNode(call) },
        Endpoint("DELETE", "/v1/user/nodes") { api, call throws(APIError) in try api.removeNodeTags(call) },
        Endpoint("GET", "/v1/user/nodes/config") { api, call throws(APIError) in try api.nodeConfig(call) },
        Endpoint("GET", "/v1/user/nodes/status") { api, call throws(APIError) in try api.nodeStatus(call) },
        Endpoint("GET", "/v1/user/nodes/params") { api, call throws(APIError) in try api.nodeParams(call) },
        Endpoint("PUT", "/v1/user/nodes/params") { api, call throws(APIError) in try api.setNodeParams(call) },
        Endpoint("POST", "/v1/user/nodes/cmd") { api, call throws(APIError) in try api.sendCommand(call) },
        Endpoint("GET", "/v1/user/nodes/cmd") { api, call throws(APIError) in try api.commandRequests(call) },
        Endpoint("POST", "/v1/user/otaimage") { api, call throws(APIError) in try api.keepImage(call) },
        Endpoint("GET", "/otaimages/*", isAuthorized: false) { api, call throws(APIError) in try api.image(call) },
    ]

    static let sharing: [Endpoint] =
        [
            Endpoint("GET", "/v1/user/nodes/sharing") { api, call throws(APIError) in try api.nodeSharing(call) },
            Endpoint("GET", "/v1/user/node_group/sharing") { api, call throws(APIError) in try api.groupSharing(call) },
        ]
        + [("/v1/user/nodes", SharingTable.Kind.nodes), ("/v1/user/node_group", .groups)].flatMap { root, kind in
            [
                Endpoint("PUT", "\(root)/sharing") { api, call throws(APIError) in try api.share(kind, call) },
                Endpoint("DELETE", "\(root)/sharing") { api, call throws(APIError) in try api.unshare(kind, call) },
                // The newer way to ask.
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

    static let groups = [
        Endpoint("POST", "/v1/user/node_group") { api, call throws(APIError) in try api.createGroup(call) },
        Endpoint("GET", "/v1/user/node_group") { api, call throws(APIError) in try api.listGroups(call) },
        Endpoint("PUT", "/v1/user/node_group") { api, call throws(APIError) in try api.editGroup(call) },
        Endpoint("DELETE", "/v1/user/node_group") { api, call throws(APIError) in try api.removeGroup(call) },
    ]

    static let automations = [
        Endpoint("POST", "/v1/user/node_automation") { api, call throws(APIError) in try api.createAutomation(call) },
        Endpoint("GET", "/v1/user/node_automation") { api, call throws(APIError) in try api.listAutomations(call) },
        Endpoint("PUT", "/v1/user/node_automation") { api, call throws(APIError) in try api.editAutomation(call) },
        Endpoint("DELETE", "/v1/user/node_automation") { api, call throws(APIError) in
            try api.removeAutomation(call)
        },
    ]
}
