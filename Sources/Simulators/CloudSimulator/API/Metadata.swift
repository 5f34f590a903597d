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
        Response(["mqtt_host": .string(addresses.withLock { $0.mqtt })])
    }

    func success(_ description: String, _ members: [JSONValue.Member] = [], status: Int = 200) -> Response {
        Response(
            status: status, .object([.init("status", "success"), .init("description", .string(description))] + members))
    }
}
