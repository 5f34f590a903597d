// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// A program that nobody here wrote listens to the simulated cloud, as to AWS IoT.
@Suite("Live changes, by paho-mqtt and botocore")
struct LiveChangesTests {
    private static func listener(_ role: JSONValue, at url: String, topic: String, secret: String? = nil) async throws
        -> ChildProcess
    {
        let python = try await ForeignClient.mqttClient.path()
        func text(_ member: String) throws -> String { try #require(role[member]?.string) }
        return try await ChildProcess.start(
            python,
            [
                Repository.path("Tests/EndToEnd/ForeignClients/Clients/mqtt_listener.py"), url, try text("access_key"),
                try secret ?? text("secret_key"), try text("session_token"), try text("region"), topic,
            ])
    }

    @Test(
        "a board's report is heard with the credentials of assume_role; nothing else is, and no wrong signature is let in"
    )
    func listening() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: ["nodelight"], in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                [
                    "--http", "127.0.0.1:0", "--security", "1", "--mapping", "user", "--join-delay", "0.2",
                    "--no-basic-ingest", "--alert", "Door open",
                ] + cloud.boardOptions(node: "nodelight"), in: folder)
            let provisioned = try await maker.provision(board, ["--json"])
            #expect(provisioned.status == 0, "\(provisioned.standardError)")
            func answer(_ arguments: String...) async throws -> JSONValue {
                let outcome = try await maker.rainctl(arguments)
                #expect(outcome.status == 0, "\(outcome.standardError)")
                return try JSONValue(parsing: Array(outcome.standardOutput.utf8))
            }
            let role = try await answer(
                "account", "curl", "--", "--silent", "--json", "{\"user_role\":\"mqtt\",\"node_ids\":[\"nodelight\"]}",
                "/v1/user/assume_role")
            let host = try await answer("account", "curl", "--", "--silent", "/mqtt_host")
            let url = try #require(host["websocket_url"]?.string)

            let listener = try await Self.listener(role, at: url, topic: "node/nodelight/params/local")
            defer { listener.kill() }
            try await listener.output(containing: "subscribed")
            let set = try await maker.rainctl(["node", "params", "set", "nodelight", "Light.Power=off"])
            #expect(set.status == 0, "\(set.standardError)")
            try await listener.output(
                containing: "message node/nodelight/params/local {\"Light\":{\"Power\":false}}")
            #expect(try await listener.wait() == .exited(0))

            let alarm = try await Self.listener(role, at: url, topic: "node/nodelight/alert")
            defer { alarm.kill() }
            try await alarm.output(containing: "subscribed")
            _ = try await maker.rainctl(["node", "params", "set", "nodelight", "Light.Power=on"])
            try await alarm.output(containing: "message node/nodelight/alert {\"esp.alert.str\":\"Door open\"}")
            #expect(try await alarm.wait() == .exited(0))

            // As AWS IoT, it closes the connection of who subscribes to what is not allowed.
            let curious = try await Self.listener(role, at: url, topic: "node/#")
            defer { curious.kill() }
            try await curious.output(containing: "disconnected")
            #expect(!curious.standardOutput.contains("subscribed"))
            let forger = try await Self.listener(role, at: url, topic: "node/nodelight/params/local", secret: "guessed")
            defer { forger.kill() }
            #expect(try await forger.wait() == .exited(1))
            #expect(forger.standardError.contains("refused"), "\(forger.standardError)")
        }
    }
}
