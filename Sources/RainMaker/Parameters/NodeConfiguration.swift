// SPDX-License-Identifier: Apache-2.0
import RainJSON

/// What a node has said that it consists of: its devices and services, and their parameters (`config`; esp-rainmaker's `esp_rmaker_node_config.c`).
public struct NodeConfiguration: Sendable, Equatable {
    /// A device or a service: something with parameters.
    public struct Component: Sendable, Equatable {
        /// What paths call it, such as `Light`.
        public var name: String
        /// Such as `esp.device.lightbulb` or `esp.service.schedule`.
        public var type: String?
        /// Whether it is a service, which people seldom set by hand.
        public var isService: Bool
        /// In the node's order.
        public var parameters: [Parameter]

        /// The parameter of that name.
        public func parameter(_ name: String) -> Parameter? { parameters.first { $0.name == name } }
    }

    /// One parameter, and what it takes.
    public struct Parameter: Sendable, Equatable {
        /// What paths call it, such as `Power`.
        public var name: String
        /// Such as `esp.param.power`.
        public var type: String?
        /// `bool`, `int`, `float`, `string`, `object` or `array`; nil where the node does not say, and then any value is taken.
        public var dataType: String?
        /// Whether the cloud may set it (`properties` has `write`; a node that names none is taken at its best).
        public var isWritable: Bool
        /// Whether the node reports its value (`properties` has `read`; a node that names none is taken at its best).
        public var isReadable: Bool
        /// The least number that is taken.
        public var minimum: Double?
        /// The greatest.
        public var maximum: Double?
        /// The distance between those that are taken, from the least on.
        public var step: Double?
        /// The only texts that are taken, where the node lists them (`valid_strs`).
        public var validTexts: [String]?

        /// Whether the node reports the value that it was set to. A trigger of the system service does not: it has the node act, and stays
        /// `false` (`esp_rmaker_system_service_enable`: `esp.param.reboot`, `esp.param.wifi-reset`, `esp.param.factory-reset`).
        public var reportsWhatIsSet: Bool {
            guard isReadable, let type else { return isReadable }
            return type != "esp.param.reboot" && !(type.hasPrefix("esp.param.") && type.hasSuffix("-reset"))
        }
    }

    /// Devices first, then services; each in the node's order.
    public var components: [Component]

    /// - Parameter json: a node's `config`; nil where it is not an object.
    public init?(_ json: JSONValue?) {
        guard let json, json.members != nil else { return nil }
        components = [("devices", false), ("services", true)].flatMap { member, isService in
            (json[member]?.array ?? []).prefix(Self.maximumComponents).compactMap {
                Component($0, isService: isService)
            }
        }
    }

    /// More than any firmware has.
    static let maximumComponents = 256

    /// The device or service of that name.
    public func component(_ name: String) -> Component? { components.first { $0.name == name } }

    /// The parameter by which the user names the node: the first of type `esp.param.name`, in the first device that has one.
    public var nameParameter: ParameterPath? {
        for device in components where !device.isService {
            if let parameter = device.parameters.first(where: { $0.type == "esp.param.name" }) {
                return ParameterPath(component: device.name, parameter: parameter.name)
            }
        }
        return nil
    }
}

extension NodeConfiguration.Component {
    init?(_ json: JSONValue, isService: Bool) {
        guard let name = json["name"]?.string, !name.isEmpty else { return nil }
        self.name = name
        type = json["type"]?.string
        self.isService = isService
        parameters = (json["params"]?.array ?? []).prefix(NodeConfiguration.maximumComponents)
            .compactMap(NodeConfiguration.Parameter.init)
    }
}

extension NodeConfiguration.Parameter {
    init?(_ json: JSONValue) {
        guard let name = json["name"]?.string, !name.isEmpty else { return nil }
        self.name = name
        type = json["type"]?.string
        dataType = json["data_type"]?.string
        let properties = json["properties"]?.array
        isWritable = properties.map { $0.contains("write") } ?? true
        isReadable = properties.map { $0.contains("read") } ?? true
        minimum = json["bounds"]?["min"]?.double
        maximum = json["bounds"]?["max"]?.double
        step = json["bounds"]?["step"]?.double
        validTexts = json["valid_strs"]?.array?.compactMap(\.string)
    }
}

extension Node {
    /// What the user calls the board: the value of its name parameter, or else what the firmware calls itself.
    public var displayName: String? {
        guard let path = NodeConfiguration(configuration)?.nameParameter,
            let given = parameters?[path.component]?[path.parameter]?.string, !given.isEmpty
        else { return name }
        return given
    }
}
