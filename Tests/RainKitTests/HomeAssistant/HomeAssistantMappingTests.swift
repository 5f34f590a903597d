// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import Testing

@testable import RainKit
@testable import RainMaker

/// A node of one device, for tests of Home Assistant's entities.
enum HomeNode {
    /// A parameter of a configuration.
    static func parameter(
        _ name: String, _ type: String?, _ dataType: String?, _ properties: [String]? = ["read", "write"],
        bounds: JSONValue? = nil, texts: [String]? = nil, ui: String? = nil
    ) -> JSONValue {
        var members: [JSONValue.Member] = [.init("name", .string(name))]
        if let type { members.append(.init("type", .string(type))) }
        if let dataType { members.append(.init("data_type", .string(dataType))) }
        if let properties { members.append(.init("properties", .array(properties.map { .string($0) }))) }
        if let bounds { members.append(.init("bounds", bounds)) }
        if let texts { members.append(.init("valid_strs", .array(texts.map { .string($0) }))) }
        if let ui { members.append(.init("ui_type", .string(ui))) }
        return .object(members)
    }

    static func component(_ name: String, _ type: String?, _ parameters: [JSONValue]) -> JSONValue {
        .object(
            [.init("name", .string(name))] + (type.map { [.init("type", .string($0))] } ?? [])
                + [.init("params", .array(parameters))])
    }

    static func node(
        _ id: String = "node-1", devices: [JSONValue], services: [JSONValue] = [], values: JSONValue = [:],
        isOnline: Bool = true
    ) -> Node {
        Node(
            [
                "id": .string(id), "status": ["connectivity": ["connected": .bool(isOnline), "timestamp": 1]],
                "config": [
                    "info": ["name": "Firmware", "fw_version": "1.2", "model": "led_light", "type": "Lightbulb"],
                    "devices": .array(devices), "services": .array(services),
                ], "params": values,
            ])!
    }

    /// The entities of one device, without the board's own two.
    static func entities(_ node: Node, isReadOnly: Bool = false) -> [HomeAssistantEntity] {
        HomeAssistantBoard(node, isReadOnly: isReadOnly).entities.filter { !$0.key.hasPrefix("_") }
    }

    static let topics = try! HomeAssistantTopics()
}

@Suite("Home Assistant's entities of a board")
struct HomeAssistantMappingTests {
    private typealias P = HomeNode

    /// All device types of esp_rmaker_standard_types.h, each with the parameters that its examples have, and its entities.
    static let devices: [(type: String, parameters: [JSONValue], entities: [String])] = [
        ("esp.device.switch", [HomeNode.parameter("Power", "esp.param.power", "bool")], ["switch"]),
        (
            "esp.device.lightbulb",
            [
                HomeNode.parameter("Power", "esp.param.power", "bool"),
                HomeNode.parameter("Brightness", "esp.param.brightness", "int", bounds: ["min": 0, "max": 100]),
                HomeNode.parameter("Hue", "esp.param.hue", "int", bounds: ["min": 0, "max": 360]),
                HomeNode.parameter("Saturation", "esp.param.saturation", "int", bounds: ["min": 0, "max": 100]),
                HomeNode.parameter("CCT", "esp.param.cct", "int", bounds: ["min": 2700, "max": 6500]),
                HomeNode.parameter("Mode", "esp.param.light-mode", "int", bounds: ["min": 0, "max": 2]),
            ], ["light"]
        ),
        (
            "esp.device.light",
            [
                HomeNode.parameter("Power", "esp.param.power", "bool"),
                HomeNode.parameter("Intensity", "esp.param.intensity", "int", bounds: ["min": 0, "max": 100]),
            ], ["light"]
        ),
        (
            "esp.device.fan",
            [
                HomeNode.parameter("Power", "esp.param.power", "bool"),
                HomeNode.parameter("Speed", "esp.param.speed", "int", bounds: ["min": 0, "max": 5]),
                HomeNode.parameter("Direction", "esp.param.direction", "int", bounds: ["min": 0, "max": 1]),
            ], ["fan"]
        ),
        (
            "esp.device.temperature-sensor",
            [HomeNode.parameter("Temperature", "esp.param.temperature", "float", ["read"])], ["sensor"]
        ),
        (
            "esp.device.humidity-sensor",
            [HomeNode.parameter("Humidity", "esp.param.humidity", "float", ["read"])], ["sensor"]
        ),
        ("esp.device.outlet", [HomeNode.parameter("Power", "esp.param.power", "bool")], ["switch"]),
        ("esp.device.plug", [HomeNode.parameter("Power", "esp.param.power", "bool")], ["switch"]),
        ("esp.device.socket", [HomeNode.parameter("Power", "esp.param.power", "bool")], ["switch"]),
        ("esp.device.lock", [HomeNode.parameter("Lock", "esp.param.lockstate", "int")], ["lock"]),
        (
            "esp.device.blinds-internal",
            [HomeNode.parameter("Position", "esp.param.blinds-position", "int", bounds: ["min": 0, "max": 100])],
            ["cover"]
        ),
        (
            "esp.device.blinds-external",
            [HomeNode.parameter("Position", "esp.param.blinds-position", "int", bounds: ["min": 0, "max": 100])],
            ["cover"]
        ),
        (
            "esp.device.garage-door",
            [HomeNode.parameter("Position", "esp.param.garage-position", "int", bounds: ["min": 0, "max": 100])],
            ["cover"]
        ),
        ("esp.device.garage-door-lock", [HomeNode.parameter("Lock", "esp.param.lockstate", "int")], ["lock"]),
        (
            "esp.device.speaker",
            [
                HomeNode.parameter("Power", "esp.param.power", "bool"),
                HomeNode.parameter("Volume", "esp.param.volume", "int", bounds: ["min": 0, "max": 100]),
            ], ["switch", "number"]
        ),
        (
            "esp.device.air-conditioner",
            [
                HomeNode.parameter("Power", "esp.param.power", "bool"),
                HomeNode.parameter(
                    "Setpoint", "esp.param.setpoint-temperature", "int", bounds: ["min": 16, "max": 30]),
                HomeNode.parameter("Temperature", "esp.param.temperature", "float", ["read"]),
                HomeNode.parameter("Mode", "esp.param.ac-mode", "string", texts: ["Auto", "Cool", "Dry", "Fan"]),
                HomeNode.parameter("Speed", "esp.param.speed", "int", bounds: ["min": 0, "max": 3]),
            ], ["climate"]
        ),
        (
            "esp.device.thermostat",
            [
                HomeNode.parameter("Power", "esp.param.power", "bool"),
                HomeNode.parameter(
                    "Setpoint", "esp.param.setpoint-temperature", "float", bounds: ["min": 7, "max": 35]),
                HomeNode.parameter("Temperature", "esp.param.temperature", "float", ["read"]),
                HomeNode.parameter("Humidity", "esp.param.humidity", "float", ["read"]),
            ], ["climate"]
        ),
        (
            "esp.device.tv",
            [
                HomeNode.parameter("Power", "esp.param.power", "bool"),
                HomeNode.parameter("Input", "esp.param.input-selector", "string", texts: ["HDMI", "USB"]),
            ], ["switch", "select"]
        ),
        (
            "esp.device.washer",
            [
                HomeNode.parameter("Power", "esp.param.power", "bool"),
                HomeNode.parameter("Program", "esp.param.mode", "string", texts: ["Cotton", "Wool"]),
            ], ["switch", "select"]
        ),
        (
            "esp.device.other",
            [
                HomeNode.parameter("Toggle", "esp.param.toggle", "bool"),
                HomeNode.parameter("Range", "esp.param.range", "int", bounds: ["min": 1, "max": 9, "step": 2]),
                HomeNode.parameter("Note", nil, "string"),
            ], ["switch", "number", "text"]
        ),
        (
            "esp.device.contact-sensor",
            [HomeNode.parameter("Open", "esp.param.contact-detection-state", "bool", ["read"])], ["binary_sensor"]
        ),
        (
            "esp.device.motion-sensor",
            [HomeNode.parameter("Motion", "esp.param.motion-detection-state", "bool", ["read"])], ["binary_sensor"]
        ),
        (
            "com.example.anything",
            [
                HomeNode.parameter("Level", "com.example.level", "int"),
                HomeNode.parameter("Count", "com.example.count", "int", ["read"]),
                HomeNode.parameter("Words", "com.example.words", "string", ["read"]),
                HomeNode.parameter("Tree", "com.example.tree", "object"),
                HomeNode.parameter("List", "com.example.list", "array"),
            ], ["number", "sensor", "sensor"]
        ),
    ]

    @Test("each standard device type has its entities", arguments: devices)
    func standard(type: String, parameters: [JSONValue], expected: [String]) {
        let name = HomeNode.parameter("Name", "esp.param.name", "string")
        let node = HomeNode.node(devices: [HomeNode.component("Device", type, [name] + parameters)])
        let entities = HomeNode.entities(node)
        #expect(entities.map(\.component.rawValue) == expected)
        for entity in entities {
            let discovery = entity.discovery(
                of: node.id, device: HomeAssistantBoard.device(node), HomeNode.topics)
            #expect(discovery["unique_id"]?.string?.hasPrefix("rainkit-node-1_") == true)
            #expect(discovery["device"]?["sw_version"] == "1.2")
            // A command topic belongs to each command.
            let text = String(decoding: discovery.serialized(), as: UTF8.self)
            for command in entity.commands {
                #expect(text.contains(HomeNode.topics.command(of: node.id, entity.key, command) + "\""))
            }
        }
        // Nothing can be set in a read-only bridge.
        #expect(HomeNode.entities(node, isReadOnly: true).allSatisfy { $0.commands.isEmpty })
    }

    @Test("an untyped configuration has entities by the access and the type of its values")
    func untyped() {
        let node = HomeNode.node(
            devices: [
                HomeNode.component(
                    "A", nil,
                    [
                        HomeNode.parameter("Everything", nil, nil, nil), HomeNode.parameter("On", nil, "bool", nil),
                        HomeNode.parameter("Trigger", nil, "bool", ui: "esp.ui.trigger"),
                        HomeNode.parameter("Push", nil, "bool", ["write"]),
                        HomeNode.parameter("Blind", nil, "int", ["write"]),
                        HomeNode.parameter("Hidden", nil, "int", ui: "esp.ui.hidden"),
                        HomeNode.parameter("Slider", nil, "float", ui: "esp.ui.slider"),
                    ])
            ], values: ["A": ["Everything": 7.5, "On": true]])
        let entities = HomeNode.entities(node)
        #expect(
            entities.map { "\($0.component.rawValue) \($0.key)" } == [
                "sensor A_-Everything", "switch A_-On", "button A_-Trigger", "button A_-Push", "number A_-Slider",
            ])
        #expect(entities[0].state(of: node) == ["value": "7.5"])
        #expect(entities[1].state(of: node) == ["state": "ON", "refused": nil])
        #expect(HomeNode.entities(HomeNode.node(devices: [])).isEmpty)
    }

    @Test("services: a restart is a button, resets are hidden, an update waits for approval, secrets are nowhere")
    func services() throws {
        let node = HomeNode.node(
            devices: [],
            services: [
                HomeNode.component(
                    "System", "esp.service.system",
                    [
                        HomeNode.parameter("Reboot", "esp.param.reboot", "bool"),
                        HomeNode.parameter("Factory-Reset", "esp.param.factory-reset", "bool"),
                        HomeNode.parameter("Wi-Fi-Reset", "esp.param.wifi-reset", "bool"),
                    ]),
                HomeNode.component(
                    "OTA", "esp.service.ota",
                    [
                        HomeNode.parameter("Operation", "esp.param.ota_operation", "string", ["write", "read"]),
                        HomeNode.parameter("Info", "esp.param.ota_info", "object", ["read"]),
                        HomeNode.parameter("Status", "esp.param.ota_status", "string", ["read"]),
                        HomeNode.parameter("URL", "esp.param.ota_url", "string", ["write"]),
                    ]),
                HomeNode.component(
                    "Time", "esp.service.time",
                    [
                        HomeNode.parameter("TZ", "esp.param.tz", "string"),
                        HomeNode.parameter("TZ-POSIX", "esp.param.tz_posix", "string"),
                    ]),
                HomeNode.component(
                    "Schedule", "esp.service.schedule",
                    [HomeNode.parameter("Schedules", "esp.param.schedules", "array")]),
                HomeNode.component(
                    "Scenes", "esp.service.scenes", [HomeNode.parameter("Scenes", "esp.param.scenes", "array")]),
                HomeNode.component(
                    "Local Control", "esp.service.local_control",
                    [
                        HomeNode.parameter("POP", "esp.param.local_control_pop", "string", ["read"]),
                        HomeNode.parameter("Type", "esp.param.local_control_type", "int", ["read"]),
                    ]),
            ], values: ["OTA": ["Info": ["fw_version": "1.3"]], "Local Control": ["POP": "secret"]])
        let entities = HomeAssistantBoard(node).entities
        #expect(
            entities.map { "\($0.component.rawValue) \($0.key)" } == [
                "binary_sensor _connected", "update _firmware", "button System_-Reboot",
                "button System_-Factory-Reset", "button System_-Wi-Fi-Reset",
            ])
        let device = HomeAssistantBoard.device(node)
        let hidden = entities.map { $0.discovery(of: node.id, device: device, HomeNode.topics)["enabled_by_default"] }
        #expect(hidden == [nil, nil, nil, false, false])
        #expect(
            entities[1].state(of: node) == ["installed_version": "1.2", "latest_version": "1.3", "refused": nil])
        #expect(
            try entities[1].changes(for: "set", Array("INSTALL".utf8), at: node) == [
                ParameterChange(ParameterPath(component: "OTA", parameter: "Operation"), "start")
            ])
        #expect(
            try entities[2].changes(for: "set", Array("PRESS".utf8), at: node) == [
                ParameterChange(ParameterPath(component: "System", parameter: "Reboot"), true)
            ])
        for entity in entities {
            #expect(!"\(String(describing: entity.state(of: node)))".contains("secret"))
        }
    }

    @Test("numbers of the standard types have their units and classes")
    func units() {
        let node = HomeNode.node(
            devices: [
                HomeNode.component(
                    "S", "esp.device.other",
                    [
                        HomeNode.parameter("T", "esp.param.temperature", "float", ["read"]),
                        HomeNode.parameter("H", "esp.param.humidity", "float", ["read"]),
                        HomeNode.parameter("R", "esp.param.range", "int", bounds: ["min": 1, "max": 9, "step": 2]),
                    ])
            ], values: ["S": ["T": 20.5, "H": "broken", "R": 77]])
        let entities = HomeNode.entities(node)
        let messages = entities.map {
            $0.discovery(of: node.id, device: HomeAssistantBoard.device(node), HomeNode.topics)
        }
        #expect(messages[0]["unit_of_measurement"] == "°C" && messages[0]["device_class"] == "temperature")
        #expect(messages[1]["unit_of_measurement"] == "%" && messages[1]["device_class"] == "humidity")
        #expect(messages[2]["min"]?.double == 1 && messages[2]["max"]?.double == 9 && messages[2]["step"]?.double == 2)
        #expect(entities[0].state(of: node) == ["value": 20.5])
        // A value of another type, and one outside the bounds, are unknown.
        #expect(entities[1].state(of: node) == ["value": nil])
        #expect(entities[2].state(of: node) == ["value": nil, "reported": 77, "refused": nil])
        #expect(throws: ParameterError.self) { try entities[2].changes(for: "set", Array("10".utf8), at: node) }
    }

    // MARK: Scales

    private func mapped(
        _ type: String, _ low: Int64, _ high: Int64, step: Int64 = 1, dataType: String = "int"
    ) -> MappedParameter {
        let json = HomeNode.parameter(
            "P", type, dataType, bounds: ["min": .integer(low), "max": .integer(high), "step": .integer(step)])
        let configuration = NodeConfiguration(["devices": [HomeNode.component("D", nil, [json])]])!
        return MappedParameter(
            path: ParameterPath(component: "D", parameter: "P"),
            parameter: configuration.components[0].parameters[0])
    }

    @Test(
        "a brightness survives both directions, and never becomes dark",
        arguments: [(0, 100, 1), (0, 255, 1), (10, 50, 1), (1, 100, 1), (0, 100, 5), (0, 10, 1), (-5, 5, 1)]
            as [(Int64, Int64, Int64)])
    func brightness(low: Int64, high: Int64, step: Int64) {
        let scale = NumberScale(mapped("esp.param.brightness", low, high, step: step), usual: 0...100, top: 255)
        for value in stride(from: low, through: high, by: Int(step)) {
            #expect(scale.set(scale.shown(Double(value))) == Double(value), "\(value)")
        }
        for shown in 1...255 {
            let value = scale.set(Double(shown), isLight: true)
            #expect(value >= Double(low) && value <= Double(high))
            if low == 0 { #expect(value > 0, "\(shown)") }
        }
        #expect(scale.set(255) == Double(high) && scale.shown(Double(high)) == 255)
        #expect(scale.shown(Double(high) + 7) == 255 && scale.shown(Double(low) - 7) == 0)
    }

    @Test("kelvin and percent survive as mireds to the precision of a mired")
    func white() {
        let kelvin = WhiteScale(mapped("esp.param.cct", 2700, 6500))
        #expect(kelvin.mireds.lowerBound.rounded() == 154 && kelvin.mireds.upperBound.rounded() == 370)
        for value in stride(from: 2700.0, through: 6500, by: 50) {
            let back = kelvin.value(of: kelvin.mireds(of: value).rounded())
            #expect(abs(1e6 / back - 1e6 / value) <= 0.6, "\(value) became \(back)")
        }
        let percent = WhiteScale(mapped("esp.param.cct", 0, 100))
        #expect(percent.value(of: 370) == 0 && percent.value(of: 154) == 100)
        for value in stride(from: 0.0, through: 100, by: 1) {
            #expect(abs(percent.value(of: percent.mireds(of: value)) - value) < 0.001)
        }
        #expect(kelvin.value(of: 1) == 6500 && kelvin.value(of: 10_000) == 2700)
    }

    // MARK: Commands

    private static let lamp = HomeNode.node(
        devices: [
            HomeNode.component(
                "Lamp", "esp.device.lightbulb", devices[1].parameters)
        ],
        values: [
            "Lamp": ["Power": true, "Brightness": 50, "Hue": 120, "Saturation": 40, "CCT": 3000, "Mode": 1]
        ])

    private func changes(_ node: Node, _ payload: String, _ command: String = "set") throws -> String {
        let entity = try #require(HomeNode.entities(node).first)
        let changes = try entity.changes(for: command, Array(payload.utf8), at: node)
        return changes.map { "\($0.path.parameter)=\(String(decoding: $0.value.serialized(), as: UTF8.self))" }
            .joined(separator: " ")
    }

    @Test("a lamp takes power, brightness, colour and white in one command")
    func lampCommands() throws {
        let lamp = Self.lamp
        #expect(try changes(lamp, #"{"state":"ON"}"#) == "Power=true")
        #expect(try changes(lamp, #"{"state":"OFF","brightness":3}"#) == "Power=false")
        #expect(try changes(lamp, #"{"state":"ON","brightness":128}"#) == "Power=true Brightness=50")
        #expect(
            try changes(lamp, #"{"state":"ON","color":{"h":359.6,"s":12.4}}"#)
                == "Power=true Hue=360 Saturation=12 Mode=1")
        #expect(try changes(lamp, #"{"state":"ON","color_temp":250}"#) == "Power=true CCT=4000 Mode=2")
        for wrong in ["ON", "{}", #"{"state":"on"}"#, "", "\u{0}", "[1]"] {
            #expect(throws: ParameterError.self, "\(wrong)") { try changes(lamp, wrong) }
        }
        #expect(throws: ParameterError.self) { try changes(lamp, #"{"state":"ON"}"#, "other") }
        #expect(
            HomeNode.entities(lamp)[0].state(of: lamp) == [
                "state": "ON", "brightness": 128, "color_mode": "hs", "color": ["h": 120.0, "s": 40.0], "refused": nil,
            ])
    }

    @Test(
        "bounds beyond whole numbers, which a board may have, are not used",
        arguments: [
            ["min": 0, "max": 1e300], ["min": -1.7e308, "max": 1.7e308], ["min": 5, "max": 5], ["min": 9, "max": 1],
        ] as [JSONValue])
    func hugeBounds(bounds: JSONValue) throws {
        for (type, parameter) in [
            ("esp.device.light", "esp.param.brightness"), ("esp.device.fan", "esp.param.speed"),
            ("esp.device.blinds-internal", "esp.param.blinds-position"), (nil, nil),
        ] as [(String?, String?)] {
            for dataType in ["int", "float"] {
                let node = HomeNode.node(
                    devices: [
                        HomeNode.component(
                            "D", type,
                            [
                                HomeNode.parameter("Power", "esp.param.power", "bool"),
                                HomeNode.parameter("P", parameter, dataType, bounds: bounds),
                            ])
                    ], values: ["D": ["Power": true, "P": 1.7e308]])
                for entity in HomeNode.entities(node) {
                    _ = entity.discovery(of: node.id, device: [:], HomeNode.topics)
                    _ = entity.state(of: node)
                    _ = try? changes(node, #"{"state":"ON","brightness":255}"#)
                }
            }
        }
    }

    @Test("fans, locks, covers and thermostats take the commands of Home Assistant")
    func applianceCommands() throws {
        func node(_ type: String) -> Node {
            let device = Self.devices.first { $0.type == type }!
            return HomeNode.node(devices: [HomeNode.component("D", type, device.parameters)])
        }
        let fan = node("esp.device.fan")
        #expect(try changes(fan, "ON") == "Power=true")
        #expect(try changes(fan, "3", "percentage") == "Speed=3")
        #expect(try changes(fan, "0", "percentage") == "Power=false")
        #expect(try changes(fan, "reverse", "direction") == "Direction=1")
        #expect(throws: ParameterError.self) { try changes(fan, "6", "percentage") }
        #expect(throws: ParameterError.self) { try changes(fan, "nan", "percentage") }
        let lock = node("esp.device.lock")
        #expect(try changes(lock, "LOCK") == "Lock=1")
        #expect(try changes(lock, "UNLOCK") == "Lock=0")
        #expect(throws: ParameterError.self) { try changes(lock, "OPEN") }
        let blind = node("esp.device.blinds-external")
        #expect(try changes(blind, "OPEN") == "Position=100")
        #expect(try changes(blind, "CLOSE") == "Position=0")
        #expect(try changes(blind, "33", "position") == "Position=33")
        let cooler = node("esp.device.air-conditioner")
        #expect(try changes(cooler, "off", "mode") == "Power=false")
        #expect(try changes(cooler, "fan_only", "mode") == "Power=true Mode=\"Fan\"")
        #expect(try changes(cooler, "21", "temperature") == "Setpoint=21")
        #expect(try changes(cooler, "21.0", "temperature") == "Setpoint=21")
        #expect(try changes(cooler, "2", "fan") == "Speed=2")
        #expect(throws: ParameterError.self) { try changes(cooler, "31", "temperature") }
        #expect(throws: ParameterError.self) { try changes(cooler, "heat", "mode") }
    }

    // MARK: Names

    @Test(
        "no name forms a topic of its own",
        arguments: [
            "a/b", "+", "#", "a\u{0}b", "$SYS", "", "..", "a_b", "a b", "ä", String(repeating: "x/", count: 900),
        ])
    func names(name: String) throws {
        // A node without an id does not exist.
        let node = HomeNode.node(
            name.isEmpty ? "x" : name,
            devices: [
                HomeNode.component(
                    name.isEmpty ? "x" : name, "esp.device.lightbulb",
                    [HomeNode.parameter(name.isEmpty ? "x" : name, "esp.param.power", "bool")])
            ])
        let topics = HomeNode.topics
        for entity in HomeAssistantBoard(node).entities {
            for topic in [
                topics.discovery(of: node.id, entity), topics.state(of: node.id, entity.key),
                topics.availability(of: node.id), topics.command(of: node.id, entity.key, "set"),
            ] {
                #expect(topic.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x2B && $0 != 0x23 }, "\(topic)")
                #expect(topic.utf8.count < 400)
                #expect([3, 4, 5].contains(topic.split(separator: "/").count), "\(topic)")
            }
        }
    }

    @Test("different names have different levels")
    func distinct() {
        let names =
            ["a", "A", "a/b", "a_2fb", "a_b", "a b", "ä", "", "_", "a\u{0}", String(repeating: "é", count: 99)]
            + (0..<50).map { String(repeating: "long", count: 60) + "\($0)" }
        #expect(Set(names.map(HomeAssistantTopics.level)).count == names.count)
        #expect(names.allSatisfy { HomeAssistantTopics.isLevel(HomeAssistantTopics.level($0)[...]) })
    }

    @Test(
        "base topics with wildcards or empty levels are refused",
        arguments: ["", "a//b", "/a", "a/", "a+", "#", "$a", "a\n"])
    func base(topic: String) {
        #expect(throws: RainKitError.self) { try HomeAssistantTopics(base: topic) }
        #expect(throws: RainKitError.self) { try HomeAssistantTopics(prefix: topic) }
    }

    @Test("a node id of twelve hex digits is the board's address")
    func address() {
        let node = HomeNode.node("7CDFA1000042", devices: [])
        #expect(HomeAssistantBoard.device(node, area: "Kitchen")["connections"] == [["mac", "7c:df:a1:00:00:42"]])
        #expect(HomeAssistantBoard.device(node, area: "Kitchen")["suggested_area"] == "Kitchen")
        #expect(HomeAssistantBoard.device(HomeNode.node(devices: []))["connections"] == nil)
    }

    @Test("addresses of brokers")
    func brokers() throws {
        let plain = try MQTTBroker("mqtt://broker")
        #expect(plain.port == 1883 && !plain.isSecure && plain.user == nil)
        let secure = try MQTTBroker("mqtts://me@[::1]:18883")
        #expect(secure.host == "::1" && secure.port == 18_883 && secure.isSecure && secure.user == "me")
        for wrong in [
            "broker", "http://b", "mqtt://", "mqtt://b:0", "mqtt://b:99999", "mqtt://b/x", "mqtt://u:secretword@b",
            "mqtt://@b", "mqtt://a b",
        ] {
            let error = #expect(throws: RainKitError.self) { try MQTTBroker(wrong) }
            #expect(error?.code == .usage && error?.message.contains("secretword") == false)
        }
    }

    @Test("each kind of command that is not one has its own sentence")
    func wrongCommands() throws {
        let node = P.node(devices: [
            P.component(
                "Fan", "esp.device.fan",
                [
                    P.parameter("Power", "esp.param.power", "bool"),
                    P.parameter("Speed", "esp.param.speed", "int", bounds: ["min": 0, "max": 5]),
                    P.parameter("Level", nil, "int", ["read"]),
                ])
        ])
        let entities = P.entities(node)
        let fan = try #require(entities.first { $0.component == .fan })
        let sensor = try #require(entities.first { $0.component == .sensor })
        func refusal(_ entity: HomeAssistantEntity, _ command: String, _ payload: [UInt8]) -> ParameterError? {
            do {
                _ = try entity.changes(for: command, payload, at: node)
                return nil
            } catch {
                return error
            }
        }
        let on = Array("ON".utf8)
        #expect(refusal(fan, "set", on) == nil)
        #expect(refusal(fan, "set", Array("DIM".utf8))?.message == "The command must be ON or OFF.")
        #expect(
            refusal(fan, "set", Array(repeating: 0x20, count: 4097))?.message
                == "The command is longer than 4096 bytes.")
        #expect(refusal(fan, "set", [0xFF, 0xFE])?.message == "The command is not UTF-8 text.")
        #expect(
            refusal(fan, "speed", on)?.message
                == "The topic ends with set/speed, but commands for this entity need set or set/percentage.")
        let readOnly = refusal(sensor, "set", on)
        #expect(readOnly?.message == "This entity can only be read, so it takes no commands.")
        #expect(readOnly?.code == .readOnly)
    }
}
