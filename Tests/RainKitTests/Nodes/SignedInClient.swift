// SPDX-License-Identifier: Apache-2.0
import RainAccount
import RainCore
import RainHTTP
import RainJSON
import RainKitTesting
import Testing

@testable import RainKit
@testable import RainMaker

/// A client with a signed-in user, whose cloud answers from a script.
struct SignedInClient {
    let http = ScriptedHTTPClient()
    let kit: RainKitClient

    init() throws {
        let deployment = try Deployment(name: "sim", base: "http://127.0.0.1:1")
        let saved = SavedSession(
            provider: "rainmaker", userID: UserID("user-1"), userName: "dev@example.com",
            tokens: Tokens(access: Secret("planted-access"), received: UnixTime(seconds: 0)))
        let http = http
        var configuration = RainKitConfiguration.inMemory(deployment: deployment)
        configuration.sessions = InMemoryCredentialStore([try CredentialKey("sim"): saved])
        configuration.tools = RainKitTools(
            http: { _ in http }, randomBytes: { [UInt8](repeating: 0x0A, count: $0) }, clock: ManualWallClock())
        kit = RainKitClient(configuration)
    }

    /// The bodies of the sent requests.
    var bodies: [JSONValue] {
        http.requests.compactMap { $0.body.isEmpty ? nil : try? JSONValue(parsing: $0.body) }
    }

    static let done = #"{"status":"success"}"#

    /// A node as the cloud describes it: a light, with the schedules that it has reported. It has scenes only if they are given.
    static func light(
        _ id: String = "n1", schedules: JSONValue = [], zone: JSONValue = ["TZ": "UTC"], maximum: Int = 10,
        scenes: JSONValue? = nil, name: String? = nil
    ) throws -> Node {
        let parameters: JSONValue = [
            ["name": "Power", "data_type": "bool", "properties": ["read", "write"]],
            ["name": "Level", "data_type": "int", "properties": ["read", "write"], "bounds": ["min": 0, "max": 100]],
            ["name": "Name", "type": "esp.param.name", "data_type": "string", "properties": ["read", "write"]],
        ]
        var services: [JSONValue] = [
            [
                "name": "Schedule", "type": "esp.service.schedule",
                "params": [
                    [
                        "name": "Schedules", "type": "esp.param.schedules", "data_type": "array",
                        "properties": ["read", "write"], "bounds": ["max": .integer(Int64(maximum))],
                    ]
                ],
            ], ["name": "Time", "type": "esp.service.time", "params": [["name": "TZ", "type": "esp.param.tz"]]],
        ]
        if scenes != nil {
            services.append([
                "name": "Scenes", "type": "esp.service.scenes",
                "params": [["name": "Scenes", "type": "esp.param.scenes", "data_type": "array"]],
            ])
        }
        let config: JSONValue = [
            "node_id": .string(id), "devices": [["name": "Light", "params": parameters]], "services": .array(services),
        ]
        var values: [JSONValue.Member] = [.init("Schedule", ["Schedules": schedules]), .init("Time", zone)]
        if let scenes { values.append(.init("Scenes", ["Scenes": scenes])) }
        if let name { values.append(.init("Light", ["Name": .string(name)])) }
        return try #require(
            Node([
                "id": .string(id), "role": "primary", "config": config,
                "status": ["connectivity": ["connected": true, "timestamp": 1]],
                "params": .object(values),
            ]))
    }

    static func change(_ parameter: String, _ value: JSONValue) -> ParameterChange {
        ParameterChange(ParameterPath(component: "Light", parameter: parameter), value)
    }
}

/// Returns the error of a call of the client.
func kitError<Value>(_ body: () async throws -> Value) async -> RainKitError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? RainKitError
    }
}
