// SPDX-License-Identifier: Apache-2.0
import RainJSON
import Synchronization

extension CloudAPI {
    /// The official client asks this before every refresh, and refuses to refresh unless `v1` is listed.
    func versions() -> Response {
        Response([
            "supported_versions": ["v1"],
            "additional_info": [["version": "v1", "build_info": "cloud-sim", "release_notes": "simulated"]],
        ])
    }

    func mqttHost() -> Response {
        // RainMaker's cloud has its WebSocket at the host itself, on the port of https. Here it is at the API's port.
        let api = addresses.withLock { $0.api }
        let webSocket = "ws" + api.dropFirst(4) + "/mqtt"
        return Response(.object(mqttHosts + [.init("websocket_url", .string(webSocket))]))
    }

    /// The broker, and where nodes would get credentials of AWS, which nothing here gives: the official client's `claim` wants a host.
    var mqttHosts: [JSONValue.Member] {
        let host = addresses.withLock { $0.mqtt }
        return [
            .init("mqtt_host", .string(host)), .init("mqtt_cred_host", .string("credentials.\(host)")),
        ]
    }

    func success(_ description: String, _ members: [JSONValue.Member] = [], status: Int = 200) -> Response {
        Response(
            status: status, .object([.init("status", "success"), .init("description", .string(description))] + members))
    }
}
