// SPDX-License-Identifier: Apache-2.0
import RainCore
import RainJSON
import RainMaker

/// A board as a device of Home Assistant: its description, and its entities.
///
/// A value without input and output, made of what the board says of itself.
public struct HomeAssistantBoard: Sendable {
    /// The node.
    public let node: NodeID
    /// The entities, in the board's order.
    public let entities: [HomeAssistantEntity]

    /// The maximum number of entities. No firmware has as many.
    static let maximumEntities = 200

    /// - Parameter isReadOnly: whether nothing can be set. Everything is a sensor then.
    public init(_ node: RainKitNode, isReadOnly: Bool = false) {
        self.node = node.id
        let configuration = NodeConfiguration(node.configuration)
        let secrets = SecretParameters(of: configuration)
        var builder = EntityBuilder(secrets: secrets, isReadOnly: isReadOnly)
        let components = configuration?.components ?? []
        let devices = components.filter { !$0.isService }
        for device in devices { builder.add(device: device, isOnly: devices.count == 1) }
        for service in components where service.isService { builder.add(service: service) }
        let own = [
            HomeAssistantEntity(
                .binarySensor, key: "_connected", name: "Connection", category: .diagnostic, ConnectivityMapping())
        ]
        let update = builder.update ?? (node.firmwareVersion == nil ? nil : UpdateMapping())
        let firmware = update.map {
            HomeAssistantEntity(.update, key: "_firmware", name: "Firmware", category: .diagnostic, $0)
        }
        entities = Array((own + [firmware].compactMap(\.self) + builder.entities).prefix(Self.maximumEntities))
    }

    /// Returns the device of the discovery messages.
    ///
    /// - Parameter area: the room that Home Assistant suggests; nil for none.
    public static func device(_ node: RainKitNode, area: String? = nil) -> JSONValue {
        let id = node.id.rawValue
        var members: [JSONValue.Member] = [
            .init("identifiers", [.string("rainkit_" + HomeAssistantTopics.level(id))]),
            .init("name", .string((node.displayName ?? id).shownName ?? id.onOneLine)),
            .init("manufacturer", "ESP RainMaker"), .init("serial_number", .string(id.onOneLine)),
        ]
        if let model = (node.model ?? node.type)?.shownName { members.append(.init("model", .string(model))) }
        if let version = node.firmwareVersion?.shownName { members.append(.init("sw_version", .string(version))) }
        if let address = node.macAddress { members.append(.init("connections", [["mac", .string(address)]])) }
        if let area = area?.shownName { members.append(.init("suggested_area", .string(area))) }
        return .object(members)
    }
}

extension Node {
    /// The address that the node's id is made of, as firmware without the account's own ids does it; nil for other ids.
    fileprivate var macAddress: String? {
        let digits = id.rawValue.lowercased()
        guard digits.utf8.count == 12, let bytes = Hex.decoded(digits.utf8) else { return nil }
        return bytes.map { Hex.text([$0]) }.joined(separator: ":")
    }
}

extension String {
    /// On one line and of a bounded length; nil if nothing is left.
    fileprivate var shownName: String? {
        let name = onOneLine.withoutOuterBlanks
        return name.isEmpty ? nil : name
    }
}

/// Makes the entities of the devices and services of a board.
private struct EntityBuilder {
    let secrets: SecretParameters
    let isReadOnly: Bool
    private(set) var entities: [HomeAssistantEntity] = []
    /// The firmware's updates with a user's approval.
    private(set) var update: UpdateMapping?
    private var keys: Set<String> = []

    init(secrets: SecretParameters, isReadOnly: Bool) { (self.secrets, self.isReadOnly) = (secrets, isReadOnly) }

    /// Names that are used twice in a board mean the first one, as in paths.
    private mutating func add(_ entity: HomeAssistantEntity) {
        if keys.insert(entity.key).inserted { entities.append(entity) }
    }

    // MARK: Devices

    mutating func add(device: NodeConfiguration.Component, isOnly: Bool) {
        var rest = DeviceParameters(device, secrets: secrets, isReadOnly: isReadOnly)
        let key = HomeAssistantTopics.level(device.name)
        let shown = device.name.shownName ?? key
        if let (component, mapping) = main(device.type, &rest) {
            add(HomeAssistantEntity(component, key: key, name: isOnly ? nil : shown, mapping))
        }
        for parameter in rest.left {
            guard let (component, mapping) = Self.generic(parameter) else { continue }
            let name = parameter.path.parameter.shownName ?? HomeAssistantTopics.level(parameter.path.parameter)
            add(
                HomeAssistantEntity(
                    component, key: "\(key)_-\(HomeAssistantTopics.level(parameter.path.parameter))",
                    name: isOnly ? name : "\(shown) \(name)", mapping))
        }
    }

    /// Returns the entity that stands for the whole device.
    private func main(
        _ type: String?, _ rest: inout DeviceParameters
    ) -> (HomeAssistantEntity.Component, any HomeAssistantMapping)? {
        switch type {
        case "esp.device.lightbulb", "esp.device.light":
            guard rest.canSet("esp.param.power") || rest.canSet("esp.param.brightness") else { return nil }
            let power = rest.takeSet("esp.param.power")
            let brightness = rest.takeSet("esp.param.brightness") ?? rest.takeSet("esp.param.intensity")
            let hasColor = rest.canSet("esp.param.hue") && rest.canSet("esp.param.saturation")
            let hue = hasColor ? rest.takeSet("esp.param.hue") : nil
            let saturation = hasColor ? rest.takeSet("esp.param.saturation") : nil
            let white = rest.takeSet("esp.param.cct")
            let mode = hasColor && white != nil ? rest.takeSet("esp.param.light-mode", dataType: "int") : nil
            return (
                .light,
                LightMapping(
                    power: power, brightness: brightness, hue: hue, saturation: saturation, temperature: white,
                    mode: mode)
            )
        case "esp.device.fan":
            guard rest.canSet("esp.param.power") || rest.canSet("esp.param.speed") else { return nil }
            return (
                .fan,
                FanMapping(
                    power: rest.takeSet("esp.param.power"), speed: rest.takeSet("esp.param.speed"),
                    direction: rest.takeSet("esp.param.direction", dataType: "int"))
            )
        case "esp.device.lock", "esp.device.garage-door-lock":
            return rest.takeSet("esp.param.lockstate").map { (.lock, LockMapping(lock: $0)) }
        case "esp.device.blinds-internal", "esp.device.blinds-external":
            let deviceClass = type == "esp.device.blinds-internal" ? "blind" : "shutter"
            return rest.takeSet("esp.param.blinds-position").map {
                (.cover, CoverMapping(position: $0, deviceClass: deviceClass))
            }
        case "esp.device.garage-door":
            return rest.takeSet("esp.param.garage-position").map {
                (.cover, CoverMapping(position: $0, deviceClass: "garage"))
            }
        case "esp.device.thermostat", "esp.device.air-conditioner", "esp.device.water-heater":
            return climate(type, &rest)
        default:
            guard let type, type.hasPrefix("esp.device."), let power = rest.takeSet("esp.param.power") else {
                return nil
            }
            let outlets = ["esp.device.outlet", "esp.device.plug", "esp.device.socket"]
            return (
                .switch,
                OnOffMapping(
                    parameter: power, deviceClass: outlets.contains(type) ? "outlet" : "switch", isSwitch: true)
            )
        }
    }

    private func climate(
        _ type: String?, _ rest: inout DeviceParameters
    ) -> (HomeAssistantEntity.Component, any HomeAssistantMapping)? {
        let targets = ["esp.param.setpoint-temperature", "esp.param.setpoint_temperature"]
        guard rest.canSet("esp.param.power") || targets.contains(where: { rest.canSet($0) }) else { return nil }
        let usual = type == "esp.device.air-conditioner" ? "cool" : "heat"
        var mapping = ClimateMapping(usualMode: usual)
        mapping.power = rest.takeSet("esp.param.power")
        for target in targets where mapping.target == nil { mapping.target = rest.takeSet(target) }
        mapping.current = rest.takeShown("esp.param.temperature")
        mapping.humidity = rest.takeShown("esp.param.humidity")
        for mode in ["esp.param.ac-mode", "esp.param.mode"] where mapping.mode == nil {
            // A list with other words stays a list of its own.
            mapping.mode = rest.takeSet(mode) { parameter in
                let texts = parameter.validTexts ?? []
                return !texts.isEmpty && texts.allSatisfy { ClimateMapping.mode($0) != nil }
            }
        }
        mapping.fan = rest.takeSet("esp.param.speed", dataType: "int") { ($0.maximum ?? 5) - ($0.minimum ?? 0) <= 20 }
        return (.climate, mapping)
    }

    // MARK: Services

    mutating func add(service: NodeConfiguration.Component) {
        var rest = DeviceParameters(service, secrets: secrets, isReadOnly: isReadOnly)
        switch service.type {
        case "esp.service.ota":
            let operation = rest.takeSet("esp.param.ota_operation", dataType: "string")
            update = UpdateMapping(operation: operation, info: rest.takeShown("esp.param.ota_info"))
        case "esp.service.system":
            for parameter in rest.left where parameter.parameter.isWritable {
                let name = parameter.path.parameter.shownName ?? "Restart"
                let isRestart = parameter.parameter.type == "esp.param.reboot"
                add(
                    HomeAssistantEntity(
                        .button,
                        key: HomeAssistantTopics.level(service.name) + "_-"
                            + HomeAssistantTopics.level(parameter.path.parameter),
                        name: name, category: .config, isEnabled: isRestart,
                        ButtonMapping(parameter: parameter, deviceClass: isRestart ? "restart" : nil)))
            }
        // The services of RainMaker have commands and pages of their own: schedules, scenes, the time zone, local control.
        case let type? where type.hasPrefix("esp.service."): return
        default:
            for parameter in rest.left {
                guard let (component, mapping) = Self.generic(parameter) else { continue }
                add(
                    HomeAssistantEntity(
                        component,
                        key: HomeAssistantTopics.level(service.name) + "_-"
                            + HomeAssistantTopics.level(parameter.path.parameter),
                        name: "\(service.name) \(parameter.path.parameter)".shownName,
                        category: mapping.commands.isEmpty ? .diagnostic : .config, mapping))
            }
        }
    }

    // MARK: Parameters

    /// Returns the entity for a parameter that belongs to no larger one; nil for one that Home Assistant cannot show.
    private static func generic(
        _ mapped: MappedParameter
    ) -> (HomeAssistantEntity.Component, any HomeAssistantMapping)? {
        let parameter = mapped.parameter
        let isTrigger =
            parameter.uiType == "esp.ui.trigger" || parameter.uiType == "esp.ui.push-btn-big"
            || !parameter.reportsWhatIsSet && parameter.isReadable
        switch parameter.dataType {
        case "bool":
            if parameter.isWritable, isTrigger || !parameter.isReadable {
                return (.button, ButtonMapping(parameter: mapped))
            }
            guard parameter.isReadable else { return nil }
            let isSwitch = parameter.isWritable
            return (
                isSwitch ? .switch : .binarySensor,
                OnOffMapping(
                    parameter: mapped, deviceClass: isSwitch ? nil : Self.binaryClass(parameter.type),
                    isSwitch: isSwitch)
            )
        // A number or a text that cannot be read would be unknown for ever.
        case _ where !parameter.isReadable: return nil
        case "int", "float":
            let kind = parameter.type.flatMap { Self.quantities[$0] }
            return (
                parameter.isWritable ? .number : .sensor,
                NumberMapping(
                    parameter: mapped, deviceClass: kind?.deviceClass, unit: kind?.unit, isSet: parameter.isWritable,
                    isSlider: ["esp.ui.slider", "esp.ui.hue-slider", "esp.ui.hue-circle"].contains(parameter.uiType))
            )
        case "string":
            let options = (parameter.validTexts ?? []).filter { !$0.isEmpty && $0.count <= 255 }
            if parameter.isWritable, !options.isEmpty {
                var unique: [String] = []
                for option in options where !unique.contains(option) { unique.append(option) }
                return (.select, TextMapping(parameter: mapped, options: unique, isSet: true))
            }
            return (
                parameter.isWritable ? .text : .sensor, TextMapping(parameter: mapped, isSet: parameter.isWritable)
            )
        case nil: return (.sensor, TextMapping(parameter: mapped, isSet: false))
        default: return nil
        }
    }

    private static let quantities: [String: (deviceClass: String?, unit: String?)] = [
        "esp.param.temperature": ("temperature", "°C"),
        "esp.param.setpoint-temperature": ("temperature", "°C"),
        "esp.param.humidity": ("humidity", "%"),
        "esp.param.brightness": (nil, "%"), "esp.param.intensity": (nil, "%"), "esp.param.saturation": (nil, "%"),
        "esp.param.hue": (nil, "°"), "esp.param.cct": (nil, "K"), "esp.param.blinds-position": (nil, "%"),
        "esp.param.garage-position": (nil, "%"),
    ]

    private static func binaryClass(_ type: String?) -> String? {
        switch type {
        case "esp.param.contact-detection-state": "opening"
        case "esp.param.motion-detection-state": "motion"
        default: nil
        }
    }
}

/// The parameters of one device that no entity has yet.
private struct DeviceParameters {
    private(set) var left: [MappedParameter]

    init(_ component: NodeConfiguration.Component, secrets: SecretParameters, isReadOnly: Bool) {
        var names: Set<String> = []
        left = component.parameters.compactMap { given in
            var parameter = given
            if isReadOnly { parameter.isWritable = false }
            let path = ParameterPath(component: component.name, parameter: parameter.name)
            // The name is the board's name. Hidden parameters are for programs.
            guard parameter.type != "esp.param.name", parameter.uiType != "esp.ui.hidden", !secrets.contains(path),
                parameter.isReadable || parameter.isWritable, names.insert(parameter.name).inserted
            else { return nil }
            return MappedParameter(path: path, parameter: parameter)
        }
    }

    private func index(
        _ type: String, _ isUsable: (NodeConfiguration.Parameter) -> Bool
    ) -> Int? { left.firstIndex { $0.parameter.type == type && isUsable($0.parameter) } }

    private static func isSet(_ parameter: NodeConfiguration.Parameter) -> Bool {
        parameter.isWritable && parameter.isReadable
    }

    /// Whether there is a parameter of this type that can be set and read.
    func canSet(_ type: String) -> Bool { index(type, Self.isSet) != nil }

    /// Takes the first parameter of a type that can be set and read.
    mutating func takeSet(
        _ type: String, dataType: String? = nil, _ isUsable: (NodeConfiguration.Parameter) -> Bool = { _ in true }
    ) -> MappedParameter? {
        index(type) { Self.isSet($0) && (dataType == nil || $0.dataType == dataType) && isUsable($0) }
            .map { left.remove(at: $0) }
    }

    /// Takes the first parameter of a type that can be read.
    mutating func takeShown(_ type: String) -> MappedParameter? {
        index(type, \.isReadable).map { left.remove(at: $0) }
    }
}
