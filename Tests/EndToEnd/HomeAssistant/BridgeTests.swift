// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

@Suite("rainctl bridge")
struct BridgeTests {
    private static let lamp = "rainkit/nodelight/Light"
    private static let on = #"{"state":"ON"}"#
    private static let off = #"{"state":"OFF"}"#

    /// A board in an account, a broker, and a bridge that is ready.
    private static func with(
        _ nodes: [String] = ["nodelight"], options: [String] = ["--no-basic-ingest"], bridge arguments: [String] = [],
        _ body: (OnlineBoards, HomeBroker, ChildProcess) async throws -> Void
    ) async throws {
        try await OnlineBoards.with(nodes, options: options) { scene in
            let broker = try await HomeBroker.start(in: scene.maker.folder)
            defer { broker.kill() }
            let bridge = try await start(scene, broker, arguments)
            defer { bridge.kill() }
            try await body(scene, broker, bridge)
        }
    }

    private static func start(
        _ scene: OnlineBoards, _ broker: HomeBroker, _ arguments: [String] = []
    ) async throws -> ChildProcess {
        let bridge = try await scene.maker.start(["bridge", broker.address, "--json"] + arguments)
        try await bridge.output(containing: "\"event\":\"ready\"")
        return bridge
    }

    @Test("a board appears with its entities, takes commands, reports its changes, and goes")
    func whole() async throws {
        try await Self.with { scene, broker, bridge in
            try await broker.state(
                "homeassistant/light/rainkit-nodelight/Light/config", contains: "\"schema\":\"json\"")
            try await broker.state("homeassistant/update/rainkit-nodelight/_firmware/config", contains: "firmware")
            try await broker.state("homeassistant/button/rainkit-nodelight/System_-Reboot/config", contains: "restart")
            try await broker.state("rainkit/bridge/availability", contains: "online")
            try await broker.state("rainkit/nodelight/availability", contains: "online")
            try await broker.state("\(Self.lamp)/state", contains: "\"state\":\"ON\"")

            try await broker.publish("\(Self.lamp)/set", Self.off)
            try await broker.state("\(Self.lamp)/state", contains: "\"state\":\"OFF\"")
            try await bridge.output(containing: "\"event\":\"done\"")
            #expect(try await scene.value("Light.Power", becomes: "false"))
            // A change from elsewhere.
            try await scene.done("node", "params", "set", "nodelight", "Light.Power=on")
            try await broker.state("\(Self.lamp)/state", contains: "\"state\":\"ON\"")
            try await scene.done("node", "rename", "nodelight", "Desk")
            try await broker.state("homeassistant/light/rainkit-nodelight/Light/config", contains: "\"Desk\"")

            try await scene.boards[0].process.terminate()
            try await broker.state("rainkit/nodelight/availability", contains: "offline")
            try await broker.state("rainkit/nodelight/_connected/state", contains: "OFF")
            try await broker.publish("\(Self.lamp)/set", Self.off)
            try await broker.state("\(Self.lamp)/state", contains: "\"refused\":\"The board is offline.\"")

            try await scene.done("node", "remove", "nodelight", "--yes")
            try await bridge.output(containing: "\"event\":\"removed\"")
            let end = ContinuousClock.now + .waitLimit
            while try await broker.retained() != ["rainkit/bridge/availability": "online"] {
                try #require(ContinuousClock.now < end)
            }
            #expect(try await bridge.terminate() == .exited(0))
            try await broker.state("rainkit/bridge/availability", contains: "offline")
            #expect(try await broker.retained().count == 1)
        }
    }

    @Test("retained commands, wrong values and unknown entities are reported, and nothing is sent")
    func wrongCommands() async throws {
        try await Self.with { scene, broker, bridge in
            try await broker.publish("\(Self.lamp)/set", Self.off, isRetained: true)
            try await bridge.output(containing: "\"message\":\"retained\"")
            try await broker.publish("\(Self.lamp)/set", "nonsense")
            try await bridge.output(containing: "must be a JSON object")
            try await broker.publish("rainkit/nodelight/Dark/set", Self.off)
            try await bridge.output(containing: "unknown_entity")
            // Whatever was sent before this command has reached the board before it.
            try await broker.publish("\(Self.lamp)/set", Self.off)
            try await broker.state("\(Self.lamp)/state", contains: "\"state\":\"OFF\"")
            let sets = try scene.boards[0].journal.entries(where: ["event": "state", "change": "parameters_set"])
            #expect(sets.count == 1)
        }
    }

    @Test("boards that went while no bridge ran disappear; with --read-only there are no commands")
    func left() async throws {
        try await Self.with(["nodea", "nodeb"]) { scene, broker, bridge in
            bridge.signal(SIGKILL)
            _ = try await bridge.wait()
            try await broker.state("rainkit/bridge/availability", contains: "offline")
            try await scene.done("node", "remove", "nodeb", "--yes")
            let second = try await Self.start(scene, broker, ["--read-only"])
            defer { second.kill() }
            let light = "homeassistant/light/rainkit-nodea/Light/config"
            let power = "homeassistant/binary_sensor/rainkit-nodea/Light_-Power/config"
            let end = ContinuousClock.now + .waitLimit
            var messages = try await broker.retained()
            // The messages of the first bridge are removed one after the other.
            while messages["rainkit/bridge/availability"] == nil || messages[power] == nil || messages[light] != nil
                || messages.keys.contains(where: { $0.contains("nodeb") })
            {
                try #require(ContinuousClock.now < end)
                messages = try await broker.retained()
            }
            #expect(messages[power]?.contains("rainkit-nodea_Light_-Power") == true)
            #expect(messages.values.allSatisfy { !$0.contains("command_topic") })
        }
    }

    @Test("a second bridge with the same base topic ends with a clear error; with another one it works")
    func second() async throws {
        try await Self.with { scene, broker, _ in
            let second = try await scene.rainctl("bridge", broker.address, "--json")
            second.expectFailure(69, "unavailable", says: "a bridge with the same base topic")
            #expect(second.failure?["reason"] == "base_topic_in_use")
            let other = try await Self.start(scene, broker, ["--base-topic", "home/rain"])
            try await broker.state("home/rain/nodelight/availability", contains: "online")
            #expect(try await other.terminate() == .exited(0))
        }
    }

    static let certificates: [(days: Int, certificate: String, trusted: String?, says: String)] = [
        (-1, "server", "ca.pem", "has expired, or this machine's clock is wrong."),
        (
            2, "ca", nil,
            "is self-signed, and it is not trusted here. Give a file of trusted certificates with --broker-ca."
        ),
        (2, "server", "other.pem", "is not signed by an authority that is trusted here"),
    ]

    @Test("the error names what is wrong with the broker's certificate", arguments: certificates)
    func certificate(days: Int, certificate: String, trusted: String?, says: String) async throws {
        try await OnlineBoards.with { scene in
            let folder = scene.maker.folder
            let issued = ServerCertificate(names: "IP:127.0.0.1", days: days)
            try await issued.issue(in: folder)
            try folder.write(try folder.read("ca.pem"), to: "other.pem")
            if trusted == "other.pem" { try await issued.issue(in: folder) }
            let broker = try await HomeBroker.start(
                [
                    "allow_anonymous true", "certfile \(folder.file("\(certificate).pem"))",
                    "keyfile \(folder.file("\(certificate).key"))",
                ], in: folder)
            defer { broker.kill() }
            let authorities = trusted.map { ["--broker-ca", folder.file($0)] } ?? []
            let outcome = try await scene.maker.rainctl(
                ["bridge", "mqtts://127.0.0.1:\(broker.port)", "--compact"] + authorities)
            // A broker that ends the connection first counts as an outage once.
            let last = outcome.standardOutput.split(separator: "\n").last.map(String.init) ?? ""
            let error = try JSONValue(parsing: Array(last.utf8))["error"]
            #expect(outcome.status == 78 && error?["reason"] == "broker_tls", "\(outcome.standardOutput)")
            #expect(last.contains(says), "\(last)")
        }
    }

    @Test("wrong credentials, foreign certificates and a broker that keeps nothing end it with a clear error")
    func refusals() async throws {
        try await OnlineBoards.with { scene in
            let folder = scene.maker.folder
            try await ServerCertificate(names: "DNS:elsewhere.example").issue(in: folder)
            try folder.write("", to: "nobody")
            let closed = try await HomeBroker.start(
                ["allow_anonymous false", "password_file \(folder.file("nobody"))"], in: folder)
            defer { closed.kill() }
            let denied = try await scene.rainctl("bridge", closed.address, "--json")
            denied.expectFailure(77, "auth", says: "refuses the connection")
            #expect(denied.failure?["reason"] == "broker_refused")
            denied.expectFailure(
                77, "auth", says: "missing or wrong. Give the name and the password with --user and --password-file."
            )
            let wrong = try await scene.rainctl(
                "bridge", closed.address, "--user", "me", "--password-file", folder.file("wrong"), "--json")
            wrong.expectFailure(77, "auth", says: "refuses the connection")
            #expect(!wrong.standardOutput.contains("planted"))

            let secure = try await HomeBroker.start(
                [
                    "allow_anonymous true", "certfile \(folder.file("server.pem"))",
                    "keyfile \(folder.file("server.key"))",
                ], in: folder)
            defer { secure.kill() }
            let address = "mqtts://127.0.0.1:\(secure.port)"
            for arguments in [[], ["--broker-ca", folder.file("ca.pem")]] {
                // A broker that ends the connection first counts as an outage once.
                let outcome = try await scene.maker.rainctl(["bridge", address, "--compact"] + arguments)
                let last = outcome.standardOutput.split(separator: "\n").last.map(String.init) ?? ""
                let error = try JSONValue(parsing: Array(last.utf8))["error"]
                #expect(outcome.status == 78 && error?["reason"] == "broker_tls", "\(outcome.standardOutput)")
            }
            let missing = try await scene.rainctl("bridge", address, "--broker-ca", folder.file("none"), "--json")
            missing.expectFailure(78, "config", says: "No such file or directory. Name another file")
            #expect(missing.failure?["reason"] == "broker_files")
            let locked = try await TestSupport.run(
                "openssl",
                [
                    "pkey", "-aes256", "-passout", "pass:planted", "-in", folder.file("server.key"), "-out",
                    folder.file("locked.key"),
                ])
            #expect(locked.status == .exited(0), "\(locked.standardError)")
            let encrypted = try await scene.rainctl(
                "bridge", address, "--broker-ca", folder.file("ca.pem"), "--client-cert", folder.file("server.pem"),
                "--client-key", folder.file("locked.key"), "--json")
            encrypted.expectFailure(78, "config", says: "is encrypted")
            for arguments in [["--boards", ""], ["--boards", " , "]] {
                let none = try await scene.maker.rainctl(["bridge", "mqtt://127.0.0.1:1"] + arguments)
                #expect(none.status == 64 && none.standardError.contains("--boards names no board"))
            }
            let forgetful = try await HomeBroker.start(["allow_anonymous true", "retain_available false"], in: folder)
            defer { forgetful.kill() }
            let empty = try await scene.rainctl("bridge", forgetful.address, "--json")
            empty.expectFailure(78, "config", says: "does not retain messages")
            #expect(empty.failure?["reason"] == "broker_without_retain")
        }
    }

    @Test(
        "a broker that lets the user not write or not read what is needed ends it, and the error names the topics",
        arguments: [
            ("topic readwrite rainkit/#", [], "write the topic homeassistant/"),
            ("topic readwrite homeassistant/#", [], "write the topic rainkit/bridge/hello"),
            ("topic write #", [], "read the topics rainkit/#"),
            (nil, ["message_size_limit 120"], "message_size_limit"),
        ] as [(String?, [String], String)])
    func accessLists(list: String?, lines: [String], text: String) async throws {
        try await OnlineBoards.with(options: ["--no-basic-ingest"]) { scene in
            let folder = scene.maker.folder
            if let list { try folder.write(list + "\n", to: "access") }
            // Without a limit of queued messages, mosquitto 2.0.11 also ends the connection after it has refused a message.
            let broker = try await HomeBroker.start(
                ["allow_anonymous true", "max_queued_messages 1000"]
                    + (list == nil ? [] : ["acl_file \(folder.file("access"))"]) + lines,
                in: folder)
            defer { broker.kill() }
            let outcome = try await scene.rainctl("bridge", broker.address, "--compact")
            let last = outcome.standardOutput.split(separator: "\n").last.map(String.init) ?? ""
            let error = try JSONValue(parsing: Array(last.utf8))["error"]
            #expect(outcome.status == 77 && error?["reason"] == "broker_refused", "\(outcome.standardOutput)")
            #expect(error?["message"]?.string?.contains(text) == true, "\(outcome.standardOutput)")
        }
    }

    @Test("a broker without quality of service 2 ends it; one with less is a warning, as is a name without a board")
    func qualities() async throws {
        try await OnlineBoards.with(options: ["--no-basic-ingest"]) { scene in
            let folder = scene.maker.folder
            let none = try await HomeBroker.start(["allow_anonymous true", "max_qos 0"], in: folder)
            defer { none.kill() }
            let outcome = try await scene.rainctl("bridge", none.address, "--json")
            outcome.expectFailure(78, "config", says: "quality of service 2")
            #expect(outcome.failure?["reason"] == "broker_without_qos")
            let one = try await HomeBroker.start(["allow_anonymous true", "max_qos 1"], in: folder)
            defer { one.kill() }
            let bridge = try await Self.start(scene, one, ["--boards", "nodelight,Fan"])
            defer { bridge.kill() }
            try await bridge.output(containing: "only quality of service 1")
            try await bridge.output(containing: "No board is named Fan;")
        }
    }

    @Test("the wrong one of mqtt:// and mqtts:// is mentioned, and a broker that does not answer is named")
    func schemes() async throws {
        try await OnlineBoards.with { scene in
            let folder = scene.maker.folder
            try await ServerCertificate(names: "IP:127.0.0.1").issue(in: folder)
            let plain = try await HomeBroker.start(in: folder)
            defer { plain.kill() }
            let toPlain = try await scene.maker.start(["bridge", "mqtts://127.0.0.1:\(plain.port)", "--json"])
            defer { toPlain.kill() }
            // As an error, or if the broker was quicker, first as an outage.
            try await toPlain.output(containing: "mqtt://")
            let secure = try await HomeBroker.start(
                [
                    "allow_anonymous true", "certfile \(folder.file("server.pem"))",
                    "keyfile \(folder.file("server.key"))",
                ], in: folder)
            defer { secure.kill() }
            let toSecure = try await scene.maker.start(["bridge", secure.address])
            defer { toSecure.kill() }
            try await toSecure.output(containing: "the port may require TLS (then use mqtts://)")
            let port = try LoopbackServer.assignablePort()
            let nowhere = try await scene.maker.start(["bridge", "mqtt://127.0.0.1:\(port)"])
            defer { nowhere.kill() }
            try await nowhere.output(containing: "no connection to 127.0.0.1:\(port): Connection refused; trying again")
        }
    }

    @Test("a command that is sent while the bridge is away is carried out once when it is back")
    func away() async throws {
        try await Self.with { scene, broker, bridge in
            bridge.signal(SIGKILL)
            _ = try await bridge.wait()
            try await broker.publish("\(Self.lamp)/set", Self.off)
            let second = try await Self.start(scene, broker)
            defer { second.kill() }
            try await broker.state("\(Self.lamp)/state", contains: "\"state\":\"OFF\"")
            // A command that was carried out twice would have reached the board before this one.
            try await broker.publish("\(Self.lamp)/set", Self.on)
            try await broker.state("\(Self.lamp)/state", contains: "\"state\":\"ON\"")
            let set = try scene.boards[0].journal.entries(where: ["change": "parameters_set"])
            #expect(set.count == 2)
        }
    }

    @Test(
        "a board with local control that is not found on this network gets its commands over the cloud",
        arguments: [[], ["--no-local"]])
    func local(arguments: [String]) async throws {
        let options = ["--no-basic-ingest", "--local-control", "127.0.0.1:0"]
        try await Self.with(options: options, bridge: arguments) { scene, broker, _ in
            try await broker.publish("\(Self.lamp)/set", Self.off)
            try await broker.state("\(Self.lamp)/state", contains: "\"state\":\"OFF\"")
            let calls = try scene.cloud.journal.entries(where: [
                "event": "request", "method": "PUT", "path": "/v1/user/nodes/params",
            ])
            #expect(calls.count == 1)
        }
    }

    @Test("addresses and options that cannot be meant are refused before anything happens")
    func usage() async throws {
        try await withTemporaryFolder { folder in
            let maker = try Maker(folder)
            for arguments in [
                ["http://broker"], ["mqtt://u:planted@broker"], ["mqtt://b", "--base-topic", "a/#"],
                ["mqtt://b", "--client-cert", "x"], ["mqtt://b", "--password-file", folder.file("wrong")],
                ["mqtt://b", "--broker-ca", "x"], ["mqtt://b", "--interval", "1ms"],
            ] {
                let outcome = try await maker.rainctl(["bridge"] + arguments)
                #expect(outcome.status == 64, "\(arguments): \(outcome.standardError)")
                #expect(!outcome.standardError.contains("planted"))
            }
        }
    }
}
