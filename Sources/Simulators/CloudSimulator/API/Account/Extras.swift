// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// Calls of the phone apps that are not about the account itself.
extension CloudAPI {
    /// `user/push_notification/mobile_platform_endpoint`: where notifications of this user go.
    func pushEndpoint(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        switch call.request.method {
        case "POST":
            let body = try call.body()
            guard let platform = try body.string("platform"), ["GCM", "APNS", "APNS_SANDBOX"].contains(platform),
                let token = try body.string("mobile_device_token"), !token.isEmpty
            else { throw .invalidBody }
            let endpoint = PushEndpoint(
                platform: platform, deviceToken: token, arn: "arn:aws:sns:simulated:endpoint/\(platform)/\(makeUUID())")
            try change { state in
                let others = (state.users[user.id]?.pushEndpoints ?? []).filter { $0.deviceToken != token }
                state.users[user.id]?.pushEndpoints = (others + [endpoint]).suffix(32)
            }
            return Response(["platform_endpoint_arn": .string(endpoint.arn)])
        case "GET":
            let endpoints = user.pushEndpoints.map { endpoint -> JSONValue in
                ["platform": .string(endpoint.platform), "platform_endpoint_arn": .string(endpoint.arn)]
            }
            return Response(["platform_endpoints": .array(endpoints)])
        default:
            guard let token = call.request.query("mobile_device_token") else { throw .invalidQuery }
            try change { state in state.users[user.id]?.pushEndpoints.removeAll { $0.deviceToken == token } }
            return success("Platform endpoint deleted")
        }
    }

    /// `POST user/data-requests`: the simulator has the data ready at once.
    func requestData(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        return success("Data requested", [.init("request_id", .string("data-\(user.id)"))])
    }

    /// `GET user/data-requests/{request_id}`.
    func requestedData(_ call: Call) throws(APIError) -> Response {
        let user = try call.caller()
        guard call.pathParameter == "data-\(user.id)" else { throw .invalidRequest }
        return Response(["presigned_url": .string("https://simulated.rainmaker.invalid/data/\(user.id)")])
    }
}
