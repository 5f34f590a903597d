// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

@Suite("rainctl bridge on the board's network", .serialized)
struct BridgeLocalControlTests {
    @Test("a board that a real avahi-daemon finds gets its commands over local control, and none over the cloud")
    func found() async throws {
        try await LinkedNetworks.run { networks in
            let (folder, namespace) = (networks.folder, networks.maker)
            let cloud = try await SimulatedCloud.start(nodes: ["nodelight"], in: folder, namespace: namespace)
            let maker = try Maker(folder, namespace: namespace)
            try await maker.signIn(to: cloud)
            let board = try await SimulatedBoard.start(
                [
                    "--http", "127.0.0.1:0", "--security", "1", "--no-basic-ingest", "--join-delay", "0.2",
                    "--announce",
                    "--local-control", "0.0.0.0:0",
                ] + cloud.boardOptions(node: "nodelight"), in: folder, namespace: namespace,
                environment: ["DBUS_SYSTEM_BUS_ADDRESS": networks.makerBus])
            defer { board.process.kill() }
            let provisioned = try await maker.provision(board, ["--json"])
            #expect(provisioned.status == 0, "\(provisioned.standardOutput)\(provisioned.standardError)")
            _ = try await board.journal.entry(where: ["event": "state", "change": "announced"])
            let broker = try await HomeBroker.start(in: folder, namespace: namespace)
            defer { broker.kill() }
            let bridge = try await maker.start(
                ["bridge", broker.address, "--json"], environment: ["DBUS_SYSTEM_BUS_ADDRESS": networks.makerBus])
            defer { bridge.kill() }
            try await bridge.output(containing: "\"event\":\"ready\"")
            for (command, power) in [("OFF", false), ("ON", true)] {
                try await broker.publish("rainkit/nodelight/Light/set", "{\"state\":\"\(command)\"}")
                try await broker.state("rainkit/nodelight/Light/state", contains: "\"state\":\"\(command)\"")
                _ = try await bridge.output(containing: "Light.Power=\(power)")
            }
            let set = try board.journal.entries(where: ["event": "state", "change": "parameters_set"])
            #expect(set.count == 2)
            let calls = try cloud.journal.entries(where: [
                "event": "request", "method": "PUT", "path": "/v1/user/nodes/params",
            ])
            #expect(calls.isEmpty)
            try await cloud.process.terminate()
        }
    }
}
