// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import Testing

@testable import RainKit
@testable import RainMaker

@Suite("What a bridge to Home Assistant decides")
struct HomeAssistantStateTests {
    private static func lamp(_ id: String = "node-1", isOn: Bool = false, isOnline: Bool = true) -> Node {
        HomeNode.node(
            id,
            devices: [
                HomeNode.component(
                    "Light", "esp.device.lightbulb",
                    [
                        HomeNode.parameter("Name", "esp.param.name", "string"),
                        HomeNode.parameter("Power", "esp.param.power", "bool"),
                    ])
            ],
            services: [
                HomeNode.component(
                    "System", "esp.service.system", [HomeNode.parameter("Reboot", "esp.param.reboot", "bool")])
            ], values: ["Light": ["Name": .string("Lamp \(id)"), "Power": .bool(isOn)]], isOnline: isOnline)
    }

    private static func ready(
        _ nodes: [Node] = [lamp()], boards: [String]? = nil, isReadOnly: Bool = false
    ) -> HomeAssistantState {
        var state = HomeAssistantState(HomeNode.topics, boards: boards, isReadOnly: isReadOnly, identity: "me")
        _ = state.connected()
        for node in nodes { _ = state.take(node, of: 0) }
        _ = state.take(areas: [:], of: 0)
        _ = state.listed(0)
        return state
    }

    /// The messages as `topic payload`.
    private func messages(_ actions: [HomeAssistantAction]) -> [String] {
        actions.compactMap {
            guard case .publish(let topic, let payload, _) = $0 else { return nil }
            return "\(topic) \(String(decoding: payload, as: UTF8.self))"
        }
    }

    private func commands(_ actions: [HomeAssistantAction]) -> [HomeAssistantCommand] {
        actions.compactMap { if case .run(let command) = $0 { command } else { nil } }
    }

    private func set(
        _ state: inout HomeAssistantState, _ text: String, _ topic: String = "rainkit/node-1/Light/set",
        isRetained: Bool = false
    ) -> [HomeAssistantAction] { state.take(topic: topic, Array(text.utf8), isRetained: isRetained) }

    private static let on = #"{"state":"ON"}"#
    private static let off = #"{"state":"OFF"}"#

    @Test("publishes nothing before the list and the rooms are complete, and then everything once")
    func begin() {
        var state = HomeAssistantState(HomeNode.topics, identity: "me")
        #expect(messages(state.connected()) == ["rainkit/bridge/availability online", "rainkit/bridge/marker me"])
        #expect(state.take(Self.lamp(), of: 0).isEmpty)
        #expect(state.listed(0).isEmpty)
        let first = state.take(areas: [NodeID("node-1"): "Kitchen"], of: 0)
        let topics = messages(first).map { $0.prefix { $0 != " " } }
        #expect(topics.contains("homeassistant/light/rainkit-node-1/Light/config"))
        #expect(topics.contains("rainkit/node-1/Light/state"))
        #expect(topics.last == "rainkit/node-1/availability")
        #expect(messages(first).contains { $0.contains(#""suggested_area":"Kitchen""#) })
        // Nothing is different.
        #expect(state.take(Self.lamp(), of: 0).isEmpty)
    }

    @Test("is ready only when there is a broker")
    func noBroker() {
        var state = HomeAssistantState(HomeNode.topics, identity: "me")
        _ = state.take(Self.lamp(), of: 0)
        #expect(state.take(areas: [:], of: 0).isEmpty && state.listed(0).isEmpty)
        let first = state.connected()
        #expect(first.contains(.report(.ready(boards: 1))))
        #expect(messages(first).contains { $0.hasPrefix("rainkit/node-1/Light/state") })
    }

    @Test("a change publishes only the state that is different; a rename publishes the descriptions")
    func changes() {
        var state = Self.ready()
        let power = ParameterPath(component: "Light", parameter: "Power")
        func change(_ path: ParameterPath, _ value: JSONValue) -> NodeChange {
            NodeChange(node: NodeID("node-1"), name: nil, kind: .value(path, value, previous: nil))
        }
        #expect(
            messages(state.take(change(power, true), of: 0)) == [
                #"rainkit/node-1/Light/state {"state":"ON","color_mode":"onoff","refused":null}"#
            ])
        #expect(messages(state.take(change(power, true), of: 0)) == [])
        let renamed = messages(
            state.take(change(ParameterPath(component: "Light", parameter: "Name"), "Desk"), of: 0))
        #expect(!renamed.isEmpty && renamed.allSatisfy { $0.contains("/config ") && $0.contains(#""name":"Desk""#) })
        let gone = NodeChange(node: NodeID("node-1"), name: nil, kind: .connected(false))
        let left = state.take(gone, of: 0)
        #expect(
            messages(left) == [
                #"rainkit/node-1/_connected/state {"state":"OFF"}"#, "rainkit/node-1/availability offline",
            ])
        #expect(left.contains(.report(.connectivity(NodeID("node-1"), name: "Desk", isOnline: false))))
        #expect(messages(state.setReachable(false, 0)) == [])
    }

    @Test("a command runs, then the next one; a slider's places between are left out, presses are not")
    func commandQueue() {
        var state = Self.ready()
        let first = commands(set(&state, Self.on))
        #expect(first.map(\.changes.json) == [["Light": ["Power": true]]])
        #expect(commands(set(&state, Self.off)).isEmpty)
        #expect(commands(set(&state, Self.on)).isEmpty)
        let reboot = "rainkit/node-1/System_-Reboot/set"
        #expect(commands(set(&state, "PRESS", reboot)).isEmpty)
        #expect(commands(set(&state, "PRESS", reboot)).isEmpty)
        var done: [JSONValue] = []
        var running = first
        while let command = running.first {
            done.append(command.changes.json)
            let actions = state.finished(command, refusal: nil)
            // An outcome that comes twice has no effect.
            #expect(state.finished(command, refusal: "again").isEmpty)
            running = commands(actions)
        }
        #expect(
            done == [
                ["Light": ["Power": true]], ["Light": ["Power": true]], ["System": ["Reboot": true]],
                ["System": ["Reboot": true]],
            ])
    }

    @Test("a refusal is in the entity's state until a command works")
    func refusals() throws {
        var state = Self.ready()
        let command = try #require(commands(set(&state, Self.on)).first)
        let refused = state.finished(command, refusal: "The board is offline.")
        #expect(messages(refused).contains { $0.contains(#""refused":"The board is offline.""#) })
        // A text that is not a command of the entity is refused at once, and nothing runs.
        let wrong = set(&state, "nonsense")
        #expect(commands(wrong).isEmpty && messages(wrong).contains { $0.contains(#""refused":"The command must"#) })
        let next = try #require(commands(set(&state, Self.on)).first)
        #expect(messages(state.finished(next, refusal: nil)).contains { $0.hasSuffix(#""refused":null}"#) })
    }

    @Test("retained commands, unknown entities and floods do nothing")
    func ignored() {
        var state = Self.ready()
        #expect(
            set(&state, Self.on, isRetained: true) == [
                .report(.ignored(topic: "rainkit/node-1/Light/set", .retained))
            ])
        #expect(set(&state, "", isRetained: true).isEmpty)
        for topic in ["rainkit/node-2/Light/set", "rainkit/node-1/Dark/set", "rainkit/node-1//set"] {
            #expect(set(&state, Self.on, topic) == [.report(.ignored(topic: topic, .unknownEntity))])
        }
        for topic in ["other/node-1/Light/set", "rainkit", "rainkit/set", "rainkit/node-1/Light/state"] {
            #expect(set(&state, Self.on, topic).isEmpty)
        }
        let reboot = "rainkit/node-1/System_-Reboot/set"
        let actions = (0..<500).flatMap { _ in set(&state, "PRESS", reboot) }
        #expect(commands(actions).count == 1)
        #expect(messages(actions).contains { $0.contains("Too many commands") })

        var readOnly = Self.ready(isReadOnly: true)
        #expect(set(&readOnly, Self.on).isEmpty)
        #expect(!readOnly.subscriptions.contains { $0.filter.hasSuffix("/set") })
    }

    @Test("a command that the broker has kept waits for the list of boards")
    func early() {
        var state = HomeAssistantState(HomeNode.topics, identity: "me")
        _ = state.connected()
        #expect(set(&state, Self.on).isEmpty)
        _ = state.take(Self.lamp(), of: 0)
        _ = state.take(areas: [:], of: 0)
        let first = commands(state.listed(0))
        #expect(first.map(\.changes.json) == [["Light": ["Power": true]]])
        #expect(first.flatMap { commands(state.finished($0, refusal: nil)) }.isEmpty)
    }

    @Test("boards that are removed disappear, also those that went while no bridge ran")
    func removal() {
        var state = Self.ready([Self.lamp("a"), Self.lamp("b")])
        let removed = messages(state.remove(NodeID("b"), of: 0))
        #expect(removed.first?.hasPrefix("homeassistant/") == true)
        #expect(removed.allSatisfy { $0.hasSuffix("/config ") && $0.contains("b/") })
        // The states follow later, when Home Assistant has forgotten the entities.
        #expect(messages(state.tidy()).isEmpty)
        let rest = messages(state.tidy())
        #expect(rest.contains("rainkit/b/Light/state ") && rest.contains("rainkit/b/availability "))
        #expect(rest.last == "rainkit/b/entities " && messages(state.tidy()).isEmpty)

        var later = HomeAssistantState(HomeNode.topics, identity: "me")
        _ = later.connected()
        let index = Array(#"["light/Light","sensor/Gone","evil/../x","light/a b",7]"#.utf8)
        _ = later.take(topic: "rainkit/old/entities", index, isRetained: true)
        _ = later.take(topic: "rainkit/a/entities", index, isRetained: true)
        _ = later.take(topic: "rainkit/other/entities", index, isRetained: false)
        _ = later.take(Self.lamp("a"), of: 0)
        _ = later.take(areas: [:], of: 0)
        #expect(messages(later.take(topic: "rainkit/bridge/marker", Array("me".utf8), isRetained: false)).isEmpty)
        let cleaned = messages(later.listed(0)).filter { $0.hasSuffix(" ") }.map { String($0.dropLast()) }
        #expect(
            cleaned == [
                "homeassistant/sensor/rainkit-a/Gone/config", "homeassistant/light/rainkit-old/Light/config",
                "homeassistant/sensor/rainkit-old/Gone/config",
            ])
        #expect(messages(later.tidy()).isEmpty)
        #expect(
            messages(later.tidy()) == [
                "rainkit/a/Gone/state ", "rainkit/old/Light/state ", "rainkit/old/Gone/state ",
                "rainkit/old/availability ", "rainkit/old/entities ",
            ])
    }

    @Test("everything is published again after a reconnect")
    func reconnect() {
        var state = Self.ready()
        let first = Set(messages(Self.fresh()))
        state.disconnected()
        let change = NodeChange(
            node: NodeID("node-1"), name: nil,
            kind: .value(ParameterPath(component: "Light", parameter: "Power"), true, previous: nil))
        #expect(state.take(change, of: 0).isEmpty)
        let again = messages(state.connected())
        #expect(again.contains(#"rainkit/node-1/Light/state {"state":"ON","color_mode":"onoff","refused":null}"#))
        #expect(again.first == "rainkit/bridge/availability online" && again.last == "rainkit/bridge/marker me")
        #expect(again.filter { $0.contains("/config ") }.count == first.filter { $0.contains("/config ") }.count)
    }

    private static func fresh() -> [HomeAssistantAction] {
        var state = HomeAssistantState(HomeNode.topics, identity: "me")
        _ = state.take(lamp(), of: 0)
        _ = state.take(areas: [:], of: 0)
        _ = state.listed(0)
        return state.connected()
    }

    @Test("two accounts show a board that both have once, and keep it while one has it")
    func accounts() {
        var state = HomeAssistantState(HomeNode.topics, accounts: 2, identity: "me")
        _ = state.connected()
        for account in 0...1 {
            _ = state.take(Self.lamp(), of: account)
            _ = state.take(areas: [:], of: account)
            _ = state.listed(account)
        }
        #expect(state.count == 1)
        #expect(messages(state.remove(NodeID("node-1"), of: 0)).isEmpty)
        #expect(state.count == 1 && state.node(NodeID("node-1"))?.account == 1)
        #expect(!messages(state.remove(NodeID("node-1"), of: 1)).isEmpty)
        #expect(state.count == 0)
    }

    @Test("only the wanted boards are shown, by id or name")
    func wanted() {
        let state = Self.ready([Self.lamp("a"), Self.lamp("b"), Self.lamp("c")], boards: ["A", "lamp c"])
        #expect(state.count == 2)
        #expect(state.node(NodeID("b")) == nil)
    }

    @Test("each name without a board is reported once, before the bridge is ready, and the board is shown later")
    func unknownNames() {
        var state = HomeAssistantState(
            HomeNode.topics, boards: ["LAMP A", "Fan", "Fan", "b", "Desk"], identity: "me")
        _ = state.connected()
        _ = state.take(Self.lamp("a"), of: 0)
        _ = state.take(Self.lamp("b"), of: 0)
        _ = state.take(areas: [:], of: 0)
        let reports = state.listed(0).compactMap { if case .report(let event) = $0 { event } else { nil } }
        #expect(
            reports.suffix(3).map(\.description) == [
                "No board is named Fan; the bridge shows it as soon as it is in the account.",
                "No board is named Desk; the bridge shows it as soon as it is in the account.", "ready: 2 boards",
            ])
        #expect(!state.take(Self.lamp("fan"), of: 0).isEmpty && state.count == 3)
        var fresh = Self.ready()
        #expect(!fresh.connected().contains { if case .report(.warning) = $0 { true } else { false } })
    }

    @Test("a command that is too long is refused with that reason, also before the list of boards")
    func longCommand() {
        let text = String(repeating: "x", count: 5000)
        var state = HomeAssistantState(HomeNode.topics, identity: "me")
        _ = state.connected()
        #expect(set(&state, text).isEmpty)
        _ = state.take(Self.lamp(), of: 0)
        _ = state.take(areas: [:], of: 0)
        let refused = HomeAssistantAction.report(
            .refused(
                NodeID("node-1"), name: "Lamp node-1", entity: "Light", "The command is longer than 4096 bytes."))
        #expect(state.listed(0).contains(refused))
        #expect(set(&state, text).contains(refused))
    }

    @Test("another bridge that asks gets an answer; its own questions do not")
    func hello() {
        var state = Self.ready()
        #expect(
            messages(state.take(topic: "rainkit/bridge/hello", Array("other".utf8), isRetained: false)) == [
                "rainkit/bridge/here me"
            ])
        #expect(state.take(topic: "rainkit/bridge/hello", Array("me".utf8), isRetained: false).isEmpty)
    }
}
