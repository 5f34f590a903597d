// SPDX-License-Identifier: Apache-2.0
import Glibc
import RainJSON
import TestSupport
import Testing

/// Home Assistant itself, with its MQTT integration.
private final class HomeAssistant {
    private let process: ChildProcess
    let url: String
    private let token: String

    static func start(_ broker: HomeBroker, in folder: TemporaryFolder) async throws -> HomeAssistant {
        let python = try await ForeignClient.homeAssistant.path()
        let port = try LoopbackServer.assignablePort()
        let process = try await ChildProcess.start(
            python,
            [
                Repository.path("Tests/EndToEnd/ForeignClients/Clients/home_assistant.py"), folder.file("home"),
                "\(broker.port)", "\(port)",
            ])
        let ready = try JSONValue(parsing: Array(try await process.readyLine().utf8))
        let home = HomeAssistant(process, ready["url"]?.string ?? "", ready["token"]?.string ?? "")
        let end = ContinuousClock.now + .waitLimit
        while try await home.call("GET", "config")?["state"] != "RUNNING" {
            try #require(ContinuousClock.now < end, "Home Assistant does not start: \(process.standardError)")
            try await Task.sleep(for: .milliseconds(200))
        }
        return home
    }

    private init(_ process: ChildProcess, _ url: String, _ token: String) {
        (self.process, self.url, self.token) = (process, url, token)
    }

    func kill() { process.kill() }

    /// What it has logged as an error about MQTT.
    var complaints: [Substring] {
        (process.standardOutput + process.standardError).split(separator: "\n").filter {
            // Of a board that was removed it may still read the topics, which are empty then.
            ($0.contains("ERROR") || $0.contains("WARNING")) && $0.contains("mqtt") && !$0.hasSuffix("Erroneous JSON: ")
        }
    }

    /// Calls its REST API.
    func call(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue? {
        var arguments = ["-s", "-m", "10", "-X", method, "-H", "Authorization: Bearer \(token)", "\(url)/api/\(path)"]
        if let body {
            arguments += [
                "-H", "Content-Type: application/json", "-d", String(decoding: body.serialized(), as: UTF8.self),
            ]
        }
        let done = try await run("curl", arguments)
        return try? JSONValue(parsing: Array(done.standardOutput.utf8))
    }

    /// The states by the ids of the entities.
    func states() async throws -> [String: JSONValue] {
        let all = try await call("GET", "states")?.array ?? []
        return Dictionary(all.compactMap { state in state["entity_id"]?.string.map { ($0, state) } }) { $1 }
    }

    /// Waits until the entity's state, or an attribute, is this. Returns how long that took.
    @discardableResult
    func entity(_ id: String, _ attribute: String? = nil, becomes value: JSONValue) async throws -> Duration {
        let start = ContinuousClock.now
        var seen: JSONValue?
        while ContinuousClock.now < start + .waitLimit {
            let state = try await call("GET", "states/\(id)")
            seen = attribute.map { state?["attributes"]?[$0] } ?? state?["state"]
            if seen == value { return start.duration(to: .now) }
            try await Task.sleep(for: .milliseconds(20))
        }
        Issue.record("\(id) is \(String(describing: seen)), and not \(value)")
        return .zero
    }

    /// Opens the dashboard that Home Assistant makes by itself, as a signed-in user, and waits for a text on it.
    func dashboard(in browser: HeadlessBrowser, containing text: String) async throws {
        try await browser.open(url + "/manifest.json")
        let signedIn: JSONValue = [
            "access_token": .string(token), "token_type": "Bearer", "expires_in": 315_360_000, "hassUrl": .string(url),
            "clientId": .string(url + "/"), "expires": 4_000_000_000_000, "refresh_token": "none",
        ]
        let json = String(decoding: signedIn.serialized(), as: UTF8.self)
        try await browser.run("localStorage.setItem('hassTokens', JSON.stringify(\(json)))")
        try await browser.open(url + "/lovelace/0")
        // Its elements are in the shadow trees of others.
        try await browser.run(
            """
            const all = root => [...root.querySelectorAll('*')].flatMap(e => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])])
            return all(document).map(e => e.shadowRoot ? '' : e.textContent + (e.title ?? '')).join(' ')
            """
        ) { $0.string?.contains(text) == true }
    }

    func service(_ name: String, _ entity: String, _ data: [JSONValue.Member] = []) async throws {
        _ = try await call("POST", "services/\(name)", .object([.init("entity_id", .string(entity))] + data))
    }
}

@Suite(
    "rainctl bridge, judged by Home Assistant 2024.3", .serialized, .browser,
    .enabled(if: isSoak || Timings.isAlone, "Home Assistant has 800 MB: make soak and make timings install it"))
struct HomeAssistantTests {
    private static let boards = [
        (node: "nodelamp", options: ["--device", "lamp"]), (node: "nodeswitch", options: ["--device", "switch"]),
        (node: "nodefan", options: ["--device", "fan"]), (node: "nodeheat", options: ["--device", "thermostat"]),
        (node: "nodesense", options: ["--sensor", "3600"]),
    ]

    @Test("every entity of five boards appears, and changes go both ways within a second")
    func fiveBoards() async throws {
        try await withTemporaryFolder { folder in
            let cloud = try await SimulatedCloud.start(nodes: Self.boards.map(\.node), in: folder)
            let maker = try Maker(folder)
            try await maker.signIn(to: cloud)
            var running: [SimulatedBoard] = []
            for (node, options) in Self.boards {
                let board = try await SimulatedBoard.start(
                    [
                        "--http", "127.0.0.1:0", "--security", "1", "--mapping", "user", "--join-delay", "0.2",
                        "--no-basic-ingest",
                    ] + options + cloud.boardOptions(node: node), in: folder)
                let outcome = try await maker.provision(board, ["--json"])
                #expect(outcome.status == 0, "\(outcome.standardOutput)\(outcome.standardError)")
                _ = try await cloud.journal.entry(where: ["event": "node", "what": "params", "node": .string(node)])
                running.append(board)
                #expect(try await maker.rainctl(["node", "rename", node, node]).status == 0)
            }
            for group in [["Home", "nodelamp,nodefan"], ["Cellar", "nodeheat"]] {
                #expect(try await maker.rainctl(["group", "add", group[0], "--nodes", group[1]]).status == 0)
            }
            let broker = try await HomeBroker.start(in: folder)
            defer { broker.kill() }
            let home = try await HomeAssistant.start(broker, in: folder)
            defer { home.kill() }
            let bridge = try await maker.start(["bridge", broker.address, "--json"])
            defer { bridge.kill() }
            try await bridge.output(containing: "\"event\":\"ready\"")

            try await home.entity("light.nodelamp_lamp", becomes: "off")
            try await home.entity("climate.nodeheat_thermostat", becomes: "off")
            try await home.entity("sensor.nodesense_sensor_temperature", becomes: "20.0")
            let wanted = [
                "light.nodelamp_lamp", "light.nodelamp_light", "switch.nodeswitch_switch", "fan.nodefan_fan",
                "climate.nodeheat_thermostat", "sensor.nodesense_sensor_temperature",
                "sensor.nodesense_sensor_humidity", "sensor.nodesense_sensor_energy",
                "binary_sensor.nodesense_sensor_open", "sensor.nodesense_sensor_state",
                "sensor.nodesense_sensor_battery", "button.nodelamp_reboot", "update.nodelamp_firmware",
                "binary_sensor.nodelamp_connection",
            ]
            let complete = ContinuousClock.now + .waitLimit
            var states = try await home.states()
            while wanted.contains(where: { states[$0] == nil })
                || states.values.contains(where: { $0["state"] == "unavailable" })
            {
                try #require(ContinuousClock.now < complete, "\(states)")
                states = try await home.states()
            }

            // From Home Assistant to the boards.
            func value(_ path: String, _ node: String, becomes wanted: String) async throws {
                let end = ContinuousClock.now + .waitLimit
                while try await maker.rainctl(["node", "params", "get", node, path]).standardOutput != wanted + "\n" {
                    try #require(ContinuousClock.now < end, "\(path) of \(node) does not become \(wanted)")
                }
            }
            try await home.service(
                "light/turn_on", "light.nodelamp_lamp",
                [.init("brightness", 128), .init("hs_color", [200, 80])])
            try await value("Lamp.Brightness", "nodelamp", becomes: "50")
            try await value("Lamp.Hue", "nodelamp", becomes: "200")
            try await home.entity("light.nodelamp_lamp", becomes: "on")
            try await home.entity("light.nodelamp_lamp", "color_mode", becomes: "hs")
            try await home.service("light/turn_on", "light.nodelamp_lamp", [.init("color_temp", 250)])
            try await value("Lamp.CCT", "nodelamp", becomes: "4000")
            try await home.entity("light.nodelamp_lamp", "color_mode", becomes: "color_temp")
            try await home.service("switch/turn_on", "switch.nodeswitch_switch")
            try await value("Switch.Power", "nodeswitch", becomes: "true")
            try await home.service("fan/turn_on", "fan.nodefan_fan", [.init("percentage", 60)])
            try await value("Fan.Speed", "nodefan", becomes: "3")
            try await home.entity("fan.nodefan_fan", "percentage", becomes: 60)
            try await home.service("fan/set_direction", "fan.nodefan_fan", [.init("direction", "reverse")])
            try await value("Fan.Direction", "nodefan", becomes: "1")
            try await home.service("climate/set_hvac_mode", "climate.nodeheat_thermostat", [.init("hvac_mode", "heat")])
            try await value("Thermostat.Mode", "nodeheat", becomes: "Heat")
            try await home.entity("climate.nodeheat_thermostat", becomes: "heat")
            try await home.service(
                "climate/set_temperature", "climate.nodeheat_thermostat", [.init("temperature", 22.5)])
            try await value("Thermostat.Setpoint", "nodeheat", becomes: "22.5")

            // From the boards to Home Assistant.
            for (path, node, id, attribute, wanted) in [
                ("Lamp.Power=off", "nodelamp", "light.nodelamp_lamp", nil, "off"),
                ("Switch.Power=off", "nodeswitch", "switch.nodeswitch_switch", nil, "off"),
                ("Fan.Speed=5", "nodefan", "fan.nodefan_fan", "percentage", 100),
                ("Thermostat.Setpoint=19.5", "nodeheat", "climate.nodeheat_thermostat", "temperature", 19.5),
            ] as [(String, String, String, String?, JSONValue)] {
                #expect(try await maker.rainctl(["node", "params", "set", node, path]).status == 0)
                let taken = try await home.entity(id, attribute, becomes: wanted)
                #expect(taken < Timings.limit(.seconds(1)), "\(id): \(taken)")
            }
            // New names appear on the dashboard.
            let names = [
                ("nodelamp", "Desk lamp"), ("nodeswitch", "Kettle"), ("nodefan", "Ceiling fan"),
                ("nodeheat", "Heating"), ("nodesense", "Greenhouse"),
            ]
            for (node, name) in names { #expect(try await maker.rainctl(["node", "rename", node, name]).status == 0) }
            #expect(try await maker.rainctl(["node", "params", "set", "nodelamp", "Lamp.Power=on"]).status == 0)
            try await home.entity("light.nodelamp_lamp", becomes: "on")
            try await HeadlessBrowser.withFreshPage { browser in
                for (_, name) in names { try await home.dashboard(in: browser, containing: name) }
                if currentEnvironment()["RAINKIT_RECORD"] == "1" {
                    try await browser.save("docs/pictures/home-assistant.png")
                }
            }

            try await running[1].process.terminate()
            try await home.entity("switch.nodeswitch_switch", becomes: "unavailable")
            try await home.entity("binary_sensor.nodeswitch_connection", becomes: "off")
            #expect(try await maker.rainctl(["node", "remove", "nodeswitch", "--yes"]).status == 0)
            try await bridge.output(containing: "\"event\":\"removed\"")
            let end = ContinuousClock.now + .waitLimit
            while try await home.states()["switch.nodeswitch_switch"] != nil { try #require(ContinuousClock.now < end) }
            #expect(try await bridge.terminate() == .exited(0))
            try await home.entity("light.nodelamp_lamp", becomes: "unavailable")
            #expect(home.complaints == [])
            withExtendedLifetime(cloud) {}
        }
    }
}
