// SPDX-License-Identifier: Apache-2.0
import RainJSON
import TestSupport
import Testing

/// Boards that announce themselves through a real avahi-daemon, found through another one on the same link.
@Suite("rainctl finds boards on its network", .serialized)
struct OnNetworkDiscoveryTests {
    private struct Scene {
        let networks: LinkedNetworks
        let cloud: SimulatedCloud
        let maker: Maker

        func rainctl(_ arguments: String...) async throws -> Maker.Outcome {
            try await maker.rainctl(arguments, environment: ["DBUS_SYSTEM_BUS_ADDRESS": networks.makerBus])
        }

        func provision(_ more: [String], pop: String = "pop") async throws -> Maker.Outcome {
            try await maker.rainctl(
                [
                    "provision", "--transport", "on-network", "--pop-file", maker.folder.file(pop), "--timeout", "120s",
                    "--json",
                ] + more, environment: ["DBUS_SYSTEM_BUS_ADDRESS": networks.makerBus])
        }

        /// Searches again until that many boards are found.
        func discover(atLeast count: Int) async throws -> [JSONValue] {
            let command = ["device", "discover", "--transport", "on-network", "--timeout", "3s", "--json"]
            let boards = { (outcome: Maker.Outcome) in outcome.document?["boards"]?.array ?? [] }
            let outcome = try await maker.rainctl(
                command, environment: ["DBUS_SYSTEM_BUS_ADDRESS": networks.makerBus]
            ) { boards($0).count >= count }
            return boards(outcome)
        }

        /// What makes a board this node. Its broker is the maker's: the board is not to reach it.
        func node(_ name: String) throws -> [String] {
            let options = try cloud.boardOptions(node: name)
            return zip(options, options.dropFirst()).filter { ["--node-id", "--cert", "--key"].contains($0.0) }
                .flatMap { [$0.0, $0.1] }
        }
    }

    private func run(hasVersion4: Bool = true, _ body: (Scene) async throws -> Void) async throws {
        try await LinkedNetworks.run(hasVersion4: hasVersion4) { networks in
            let cloud = try await SimulatedCloud.start(
                nodes: ["node1", "node2"], in: networks.folder, namespace: networks.maker)
            let maker = try Maker(networks.folder, namespace: networks.maker)
            try await maker.signIn(to: cloud)
            try await body(Scene(networks: networks, cloud: cloud, maker: maker))
            try await cloud.process.terminate()
        }
    }

    @Test("a board that took its Wi-Fi by Improv, and said no address, is found by its announcement")
    func improv() async throws {
        try await run { scene in
            let port = scene.networks.folder.file("port")
            let board = try await scene.networks.startBoard(
                [
                    "--console", port, "--console-dialect", "improv", "--console-fault", "no-url=1", "--security", "1",
                    "--join-delay", "0.2", "--wifi", "\(SimulatedBoard.ssid):\(SimulatedBoard.passphrase)",
                ] + scene.node("node1"), isOnNetwork: false)
            let outcome = try await scene.maker.rainctl(
                [
                    "provision", "--port", port, "--pop-file", scene.maker.folder.file("pop"), "--ssid",
                    SimulatedBoard.ssid, "--passphrase-file", scene.maker.folder.file("wifi"), "--json",
                ], environment: ["DBUS_SYSTEM_BUS_ADDRESS": scene.networks.makerBus])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["node_id"] == "node1" && outcome.document?["mapping"] == "confirmed")
            _ = try await board.entry(where: ["event": "state", "change": "withdrawn"])
        }
    }

    @Test("local control is found by node id and by name, even if two share a name, and a missing one is reported")
    func localControl() async throws {
        try await run { scene in
            for node in ["node1", "node2"] {
                _ = try await scene.networks.startBoard(
                    ["--local-control", "0.0.0.0:0", "--security", "1", "--announce-as", "Lamp"] + scene.node(node))
            }
            let get = { (name: String) in
                try await scene.rainctl(
                    "node", "params", "get", name, "--local", "--pop-file", scene.maker.folder.file("pop"), "--timeout",
                    "60", "--json")
            }
            for node in ["node1", "node2"] {
                let read = try await get(node)
                #expect(read.document?["node_id"]?.string == node, "\(read.standardOutput)\(read.standardError)")
                #expect(read.document?["params"]?["Light"]?["Power"] == true)
            }
            let twice = try await get("Lamp")
            twice.expectFailure(64, "usage", says: "--host")
            let absent = try await get("Fan")
            absent.expectFailure(69, "unavailable", says: "--host")
            #expect(absent.failure?["reason"] == "not_found")
        }
    }

    @Test(
        "a board is listed with its name, node and address, comes into the account by name, and is no longer announced")
    func name() async throws {
        try await run { scene in
            let board = try await scene.networks.startBoard(
                ["--security", "2", "--announce-as", "Kitchen lamp"] + scene.node("node1"))
            let found = try await scene.discover(atLeast: 1)
            #expect(found.count == 1, "\(found)")
            #expect(found.first?["transport"] == "on-network")
            #expect(found.first?["name"] == "Kitchen lamp")
            #expect(found.first?["node_id"] == "node1")
            #expect(found.first?["address"]?.string?.hasPrefix(LinkedNetworks.boardAddress + ":") == true, "\(found)")
            let outcome = try await scene.provision(["--device-name", "kitchen LAMP"])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
            #expect(outcome.document?["node_id"] == "node1" && outcome.document?["mapping"] == "confirmed")
            _ = try await board.entry(where: ["event": "state", "change": "withdrawn"])
            // A host keeps what was withdrawn for one more second (RFC 6762, 10.1).
            let end = ContinuousClock.now + .waitLimit
            var left = try await scene.discover(atLeast: 0)
            while !left.isEmpty, ContinuousClock.now < end { left = try await scene.discover(atLeast: 0) }
            #expect(left.isEmpty)
            let gone = try await scene.provision(["--device-name", "Kitchen lamp"])
            #expect(gone.status == 69 && gone.failure?["reason"] == "not_found", "\(gone.standardOutput)")
        }
    }

    @Test(
        "the only board is taken without a name, and by its host's name",
        arguments: [[], ["--device-name", LinkedNetworks.boardHost]])
    func only(way: [String]) async throws {
        try await run { scene in
            _ = try await scene.networks.startBoard(["--security", "1"] + scene.node("node1"))
            let outcome = try await scene.provision(way)
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
        }
    }

    @Test("over a link with nothing but IPv6, by an address with its zone")
    func version6() async throws {
        try await run(hasVersion4: false) { scene in
            _ = try await scene.networks.startBoard(["--security", "1"] + scene.node("node1"))
            let address = try await scene.discover(atLeast: 1).first?["address"]?.string ?? ""
            #expect(address.hasPrefix("[fe80:") && address.contains("%v0]:"), "\(address)")
            let info = try await scene.rainctl(
                "device", "info", "--transport", "on-network", "--device-host", address, "--pop-file",
                scene.maker.folder.file("pop"), "--json")
            #expect(info.document?["security"] == 1, "\(info.standardOutput)")
            let outcome = try await scene.provision(["--device-name", "node1"])
            #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
        }
    }

    @Test("a wrong proof of possession maps nothing")
    func wrongProof() async throws {
        try await run { scene in
            let board = try await scene.networks.startBoard(["--security", "1"] + scene.node("node1"))
            let outcome = try await scene.provision(["--device-name", "node1"], pop: "wrong")
            #expect(outcome.status == 10, "\(outcome.standardOutput)")
            let signed = try board.entries(where: ["change": "challenge_signed"])
            let mapped = try scene.cloud.journal.entries(where: ["event": "mapping", "state": "confirmed"])
            #expect(signed.isEmpty && mapped.isEmpty)
        }
    }

    @Test("two boards of one name are distinguished by their nodes")
    func sameName() async throws {
        try await run { scene in
            _ = try await scene.networks.startBoard(["--security", "1", "--announce-as", "Lamp"] + scene.node("node1"))
            _ = try await scene.networks.startBoard(["--security", "1", "--announce-as", "Lamp"] + scene.node("node2"))
            let found = try await scene.discover(atLeast: 2)
            #expect(Set(found.compactMap { $0["name"]?.string }) == ["Lamp", "Lamp #2"], "\(found)")
            let both = try await scene.provision(["--device-name", "Lamp"])
            #expect(both.status == 64 && both.failure?["reason"] == "several_boards", "\(both.standardOutput)")
            #expect(both.failure?["message"]?.string?.contains("node1 or node2") == true, "\(both.standardOutput)")
            let outcome = try await scene.provision(["--device-name", "node2"])
            #expect(outcome.document?["node_id"] == "node2", "\(outcome.standardOutput)")
        }
    }
}

/// Where nobody can be asked who is on the network.
@Suite("rainctl without Avahi")
struct NoAvahiTests {
    @Test("says what to install or start, or how to do without", arguments: [true, false])
    func absent(hasBus: Bool) async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            let bus = hasBus ? try await SessionBusDaemon(in: folder) : nil
            let address = bus?.address ?? "unix:path=\(folder.file("absent"))"
            for command in [["device", "discover"], ["device", "info", "--device-name", "node1"]] {
                let outcome = try await maker.rainctl(
                    command + ["--transport", "on-network", "--timeout", "60s", "--json"],
                    environment: ["DBUS_SYSTEM_BUS_ADDRESS": address])
                #expect(outcome.status == 69, "\(outcome.standardOutput)")
                #expect(outcome.failure?["reason"]?.string == (hasBus ? "no_avahi" : "no_bus"))
                let message = outcome.failure?["message"]?.string ?? ""
                #expect(message.contains("avahi-daemon") && message.contains("--device-host"), "\(message)")
            }
            try await bus?.end()
        }
    }
}
